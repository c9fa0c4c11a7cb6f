"""A matplotlib figure as an inline SVG that follows the page: its colours, its font, its width. It decides nothing that is drawn.

Figures are drawn in placeholder colours, which become CSS variables, so that one drawing reads on light and on dark.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.figure import Figure

# Placeholder colours: no figure uses them by chance, and each stands for a variable of the page.
INK, MUTED, LINE = "#010203", "#010204", "#010205"
BASELINE, SPECULATIVE, LIMIT, PANEL = "#010206", "#010207", "#010208", "#010209"
GOOD, FLAT, WAIT = "#01020a", "#01020b", "#01020c"
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    LINE: "--line",
    BASELINE: "--baseline",
    SPECULATIVE: "--speculative",
    LIMIT: "--bad",
    PANEL: "--panel",
    GOOD: "--good",
    FLAT: "--flat",
    WAIT: "--wait",
}
STYLE: Any = {  # matplotlib types each key by a literal of its own
    "svg.fonttype": "none",  # text stays text: it scales, can be searched, and takes the page's font
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.formatter.useoffset": False,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
# What matplotlib writes around and inside, and what a page does with it.
_BEFORE = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", re.DOTALL)
_ROOT = re.compile(r"<svg [^>]*?viewBox=\"([^\"]+)\"[^>]*>")
_DROPPED = re.compile(r"font-family: [^;\"]*;? ?| transform=\"rotate\(-0 [^\"]*\"|(?<=<g) id=\"[^\"]*\"")
_TAG = re.compile(r"<[^>]*>")
_DECIMALS = re.compile(r"(?<!opacity: )(-?\d+\.\d)\d+")
_EMPTY = re.compile(r"<g/>|<g>\s*</g>")
_MARK = re.compile(r'<g id="mark:([^"]+)"')


@dataclass(frozen=True, slots=True)
class Mark:
    """What an artist of the figure shows, in words: on hover, by keyboard where `focus`, and for those who hear the page.

    Artists are tied to it by their gid, `mark:` and the key under which it is handed to `svg`.
    """

    title: str
    focus: bool = True


@contextmanager
def drawing(name: str) -> Iterator[None]:
    """Draws in the page's style, whatever the user's own settings are; `name` keeps the figure's ids apart from others'."""
    with rc_context():
        rcdefaults()
        rcParams.update({**STYLE, "svg.hashsalt": name})
        yield


def svg(figure: Figure, label: str, marks: Mapping[str, Mark]) -> str:
    """The figure as an SVG element without a size of its own; `label` is its text alternative. To be called inside `drawing`."""
    with StringIO() as file:
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        text = _BEFORE.sub("", file.getvalue())
    held = {f"{index}": mark for index, mark in enumerate(marks.values())}
    keys = {key: f"{index}" for index, key in enumerate(marks)}
    text = text.replace('<g id="halo"', '<g class="halo"')
    text = _MARK.sub(lambda found: f'<g class="mark {keys[found[1]]}"', text)
    text = _EMPTY.sub("", _DROPPED.sub("", text))
    text = _TAG.sub(lambda tag: _DECIMALS.sub(r"\1", tag[0]), text)  # coordinates only: what people read keeps its digits
    text = re.sub(r'<g class="mark (\d+)"([^>]*)>', lambda found: _opened(held[found[1]], found[2]), text)
    for placeholder, variable in VARIABLES.items():
        text = text.replace(placeholder, f"var({variable})")
    role = "group" if any(mark.focus for mark in held.values()) else "img"  # what is inside an image cannot be reached
    text = _ROOT.sub(rf'<svg role="{role}" aria-label="{_literal(label)}" viewBox="\1">', text, count=1)
    return " ".join(text.split())


def _opened(mark: Mark, attributes: str) -> str:
    """The tag of a mark with its title inside."""
    said = escape(mark.title, quote=True)
    reach = f' tabindex="0" role="img" aria-label="{said}"' if mark.focus else ""
    return f'<g class="mark"{reach}{attributes}><title>{said}</title>'


def _literal(label: str) -> str:
    """The label as an attribute's value that no regular expression template reads anything into."""
    return escape(label, quote=True).replace("\\", "\\\\")
