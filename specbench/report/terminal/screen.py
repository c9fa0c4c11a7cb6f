"""What a screen can show: its width, whether it takes colours, which characters it has; and lines made for it.

No result is known here. Whatever others said is made fit for a terminal before a colour is put around it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.cells import cell_len, set_cell_size

from specbench.credentials import printable, printable_line
from specbench.explain.numbers import plain

WIDTH = 80
_WIDE = "\ue000"  # a private character, which stands in no text
NARROWEST = 20
COMMAND_HEAD = re.compile(r"(?<!\S)::")  # at the head of a line GitHub would take it for a command
STYLES = {"good": "32", "bad": "31", "mixed": "33", "wait": "33", "void": "35", "dim": "2", "bold": "1"}
BEYOND_ASCII = "✓✗≤≥−×→∞·–…±"  # what a screen must have, or gets the plain characters
_CHARACTERS = {"✓": "ok", "✗": "FAIL", "≤": "<=", "≥": ">=", "−": "-", "×": "x", "→": "->", "∞": "inf", "·": "|"}
_PLAIN = str.maketrans(_CHARACTERS | {"–": "-", "…": "...", "±": "+-"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Where a text is shown: so many columns wide, with colour or without, with all characters or plain ones (`ascii`)."""

    width: int = WIDTH
    color: bool = False
    ascii: bool = False

    @property
    def columns(self) -> int:
        """The width of a line: 80 at most, as a report is read in columns, and never so narrow that no word fits."""
        return max(min(self.width, WIDTH), NARROWEST)

    def fit(self, text: str) -> str:
        """The text on one line as this screen can show it."""
        kept = COMMAND_HEAD.sub(": :", plain(printable_line(text)))
        return kept.translate(_PLAIN) if self.ascii else kept

    def paint(self, text: str, *styles: str) -> str:
        """The text in these styles, where the screen takes colours; unknown ones change nothing."""
        codes = [STYLES[style] for style in styles if style in STYLES]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.color and codes and text.strip() else text

    def paragraph(self, text: str, indent: str = "", first: str | None = None) -> list[str]:
        """The text as lines of this screen's width; no percent sign stands alone at the head of one."""
        whole = self.fit(text).replace(" %", "\u00a0%")
        # A wide character takes two columns: it is followed by a mark while lines are broken, which leaves again with its line.
        spread = "".join(f"{one}{_WIDE}" if cell_len(one) > 1 else one for one in whole)
        lines = wrap(spread, self.columns, initial_indent=indent if first is None else first, subsequent_indent=indent)
        return [printable(line.replace(_WIDE, "").replace("\u00a0", " ")) for line in lines]

    def clipped(self, text: str, width: int) -> str:
        """The text on one line of at most this width, with an ellipsis where it was longer."""
        kept = self.fit(text)
        end = "..." if self.ascii else "…"
        return kept if cell_len(kept) <= width else f"{set_cell_size(kept, max(width - len(end), 0)).rstrip()}{end}"

    def command(self, command: str, indent: int) -> list[str]:
        """A command as a shell takes it, continued where an option would pass the margin; the first line without indent."""
        first, *options = plain(command).split(" --")
        room = self.columns - indent - 2
        lines = [first]
        for option in options:
            if len(lines[-1]) + len(option) + 3 > room:
                lines[-1] += " \\"
                lines.append(f"{' ' * (indent + 2)}--{option}")
            else:
                lines[-1] += f" --{option}"
        return [printable(line) for line in lines]


def padded(text: str, width: int) -> str:
    """The text in a column so many cells wide, at its right end where the width is negative."""
    room = " " * max(abs(width) - cell_len(text), 0)
    return room + text if width < 0 else text + room


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column of these rows must be."""
    return [max(map(cell_len, column)) for column in zip(*rows, strict=True)] if rows else []
