"""The report as one page, without network or script. What it shows comes from `view`, how it looks from `page/`."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from specbench.explain.labels import metric
from specbench.model.result import Result
from specbench.model.shown import Distribution
from specbench.report.formats import plots
from specbench.report.view.cells import CellView
from specbench.report.view.curves import Curve
from specbench.report.view.report_view import view_of
from specbench.report.view.rows import BIN_METRICS

PAGE = Path(__file__).parents[1] / "page"
OPTION = re.compile(r" (?=--)")
CODE = re.compile(r"`([^`]+)`")
DRAWN_DISTRIBUTIONS = ("ttft", "itl", "pace")


def html(result: Result) -> str:
    """The whole report as one HTML document in UTF-8."""
    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(sentence=sentence, shell=shell)
    view = view_of(result)
    return environment.get_template("page.html").render(
        view=view,
        bin_metrics=[metric(name) for name in BIN_METRICS],
        style=Markup((PAGE / "page.css").read_text(encoding="utf-8")),  # our own file, no data in it
        load_charts=[_load_charts(group, index) for index, group in enumerate(view.curves)],
        distribution_charts={cell.anchor: _distribution_charts(cell) for cell in view.cells},
        timeline_charts={cell.anchor: _timeline_charts(cell) for cell in view.cells},
        course_charts={cell.anchor: _course_charts(cell) for cell in view.cells},
    )


def sentence(text: str) -> Markup:
    """The sentence for the page: what stands in backquotes as code, and no percent sign alone at the head of a line."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))).replace(" %", "\u00a0%"))


def shell(command: str) -> Markup:
    """The command for the page, each option whole on one line."""
    return Markup(" ").join(Markup("<i>{}</i>").format(part) for part in OPTION.split(command))


def _load_charts(group: tuple[Curve, ...], index: int) -> list[Markup]:
    """The ratio of the first metric, then each metric of both arms. `svg` escapes what it is given."""
    drawn = [plots.ratio_chart(group[0], f"ratio-{index}")]
    drawn += [plots.load_chart(curve, f"load-{index}-{number}") for number, curve in enumerate(group)]
    return [Markup(one) for one in drawn]


def _distribution_charts(cell: CellView) -> list[Markup]:
    by_metric: dict[str, list[Distribution]] = {}
    for one in cell.distributions:
        by_metric.setdefault(one.metric, []).append(one)
    shown = [by_metric[metric] for metric in DRAWN_DISTRIBUTIONS if any(one.values for one in by_metric.get(metric, ()))]
    return [Markup(plots.ecdf_chart(found, f"{cell.anchor}-{number}")) for number, found in enumerate(shown)]


def _timeline_charts(cell: CellView) -> list[Markup]:
    if not cell.timelines:
        return []
    return [
        Markup(plots.timeline_chart(cell.timelines, "tokens_per_s", f"{cell.anchor}-tokens")),
        Markup(plots.timeline_chart(cell.timelines, "in_flight", f"{cell.anchor}-flight")),
    ]


def _course_charts(cell: CellView) -> list[Markup]:
    """What was told of the blocks alone: acceptance and the generator's lag; nothing where there is none to draw."""
    drawn: list[plots.Course] = ["acceptance_length", "read_lag_ms_p99"]
    told = [quantity for quantity in drawn if any(getattr(one, quantity) is not None for one in cell.block_series)]
    return [Markup(plots.course_chart(cell.block_series, one, f"{cell.anchor}-{one}")) for one in told]
