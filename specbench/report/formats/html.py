"""The report as one page that needs nothing else. What it shows comes from `view`, how it looks and acts from `page/`.

Its script adds tabs, sorting, copying and values on hover; without it everything is there.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from specbench.explain import labels, numbers
from specbench.explain.brief.first_sentences import better_when, panel_title
from specbench.model.result import Result
from specbench.model.shown import Distribution
from specbench.report.formats import plots
from specbench.report.formats.change_chart import change_chart
from specbench.report.formats.markdown import numbers_table
from specbench.report.view.cells import CellView
from specbench.report.view.load_groups import LoadGroup
from specbench.report.view.load_tables import load_tables
from specbench.report.view.report_view import view_of
from specbench.report.view.rows import BIN_METRICS

PAGE = Path(__file__).parents[1] / "page"
OPTION = re.compile(r" (?=--)")
CODE = re.compile(r"`([^`]+)`")
FIGURE = re.compile(r"(?<!limit )(?<!goal )(?<![\w.,+−])((?:∞|\d[\d,.]*\d|\d) (?:ms|tok/s|requests/s|GiB)|[−+]\d[\d,.]* %)")
COUNTED = re.compile(r"(?<=\d) (?=streams?\b|requests/s\b|ms\b|pairs?\b)")
DRAWN_DISTRIBUTIONS = ("ttft", "itl", "pace")
DISTRIBUTION_NAMES = {"ttft": "Time to first token", "itl": "Time between tokens", "pace": "Pace over 8 tokens"}


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing with what stands above it."""

    title: str
    hint: str
    drawing: Markup


def html(result: Result) -> str:
    """The whole report as one HTML document in UTF-8."""
    view = view_of(result)
    return rendered(
        "page.html",
        view=view,
        level=numbers.percent(1 - result.config.alpha),
        bin_metrics=[labels.metric(name) for name in BIN_METRICS],
        markdown=numbers_table(load_tables(result), result.config.alpha),
        pictures=[_picture(group, index) for index, group in enumerate(view.groups)],
        theory_charts=[
            Chart(curve.label, curve.slice, Markup(plots.theory_chart(curve, f"theory-{index}")))
            for index, curve in enumerate(view.theory)
        ],
        distribution_charts={cell.anchor: _distribution_charts(cell) for cell in view.cells},
        timeline_charts={cell.anchor: _timeline_charts(cell) for cell in view.cells},
        course_charts={cell.anchor: _course_charts(cell) for cell in view.cells},
        ramp_charts=[
            Chart(title, "", Markup(plots.ramp_chart(result.ramp, quantity, f"ramp-{quantity}")))
            for quantity, title in plots.RAMP_TITLES.items()
            if result.ramp
        ],
    )


def rendered(template: str, **values: object) -> str:
    """The template with these values, and with the style and the script that every page has."""
    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(sentence=sentence, figures=figures, whole=whole, shell=shell)
    script = (PAGE / "page.js").read_text(encoding="utf-8")
    return environment.get_template(template).render(
        style=Markup((PAGE / "page.css").read_text(encoding="utf-8")),  # our own files, no data in them
        script=Markup(script),
        script_sha256=b64encode(sha256(script.encode()).digest()).decode(),
        **values,
    )


def sentence(text: str) -> Markup:
    """The sentence for the page: what stands in backquotes as code, and no percent sign alone at the head of a line."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))).replace(" %", "\u00a0%"))


def figures(text: str) -> Markup:
    """The sentence with its figures in bold, each whole on one line."""
    said = str(sentence(text)).replace("\u00a0", " ")
    bold = FIGURE.sub(lambda found: Markup("<b>{}</b>").format(found[1].replace(" ", "\u00a0")), said)
    return Markup(bold.replace(" %", "\u00a0%"))


def whole(text: str) -> str:
    """The heading with each number and its noun on one line."""
    return COUNTED.sub("\u00a0", text)


def shell(command: str) -> Markup:
    """The command for the page, each option whole on one line."""
    return Markup(" ").join(Markup("<i>{}</i>").format(part) for part in OPTION.split(command))


def _picture(group: LoadGroup, index: int) -> list[Chart]:
    """The changes of a group of loads. `svg` escapes what it is given."""
    return [
        Chart(
            panel_title(panel.metric, panel.label),
            f"{panel.label} · {better_when(panel.metric)}",
            Markup(change_chart(panel.points, group.cap, f"change-{index}-{number}")),
        )
        for number, panel in enumerate(group.panels)
    ]


def _distribution_charts(cell: CellView) -> list[Chart]:
    by_metric: dict[str, list[Distribution]] = {}
    for one in cell.distributions:
        by_metric.setdefault(one.metric, []).append(one)
    shown = [by_metric[name] for name in DRAWN_DISTRIBUTIONS if any(one.values for one in by_metric.get(name, ()))]
    return [
        Chart(
            DISTRIBUTION_NAMES[found[0].metric],
            f"{labels.metric(found[0].metric)}, {found[0].unit} · share of values up to",
            Markup(plots.ecdf_chart(found, f"{cell.anchor}-{number}")),
        )
        for number, found in enumerate(shown)
    ]


def _timeline_charts(cell: CellView) -> list[Chart]:
    if not cell.timelines:
        return []
    return [
        Chart(title, "", Markup(plots.timeline_chart(cell.timelines, quantity, f"{cell.anchor}-{quantity}")))
        for quantity, title in plots.TIMELINE_TITLES.items()
        if all(getattr(one, quantity) for one in cell.timelines)
    ]


def _course_charts(cell: CellView) -> list[Chart]:
    """What was told of the blocks alone: acceptance and the generator's lag; nothing where there is none to draw."""
    known = [quantity for quantity in plots.COURSE_TITLES if any(getattr(one, quantity) is not None for one in cell.block_series)]
    return [
        Chart(plots.COURSE_TITLES[one], "", Markup(plots.course_chart(cell.block_series, one, f"{cell.anchor}-{one}")))
        for one in known
    ]
