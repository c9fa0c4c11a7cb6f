"""What a search for capacity found, as one HTML file: the answer, both arms, the share in time against the rate, other limits."""

from math import exp, log

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from specbench.explain import numbers
from specbench.explain.capacity_sentences import OTHERS, limit_words, share_title
from specbench.model.capacity.capacity_values import BlockShare, CapacityResult
from specbench.model.scenario import ARMS
from specbench.report.capacity.capacity_rows import capacity_rows, limit_rows, other_limit_rows
from specbench.report.formats.html import rendered
from specbench.report.formats.plots import ARMS as ARM_STYLES
from specbench.report.formats.svg import LIMIT, Mark, drawing, svg

PAGE = "capacity.html"
SIZE, FRAME = (5.4, 2.9), (0.11, 0.17, 0.86, 0.78)
TICKS = 6
LEAST_SHARE = 0.5  # the axis goes down to it at most, and what lies lower is drawn on it


def capacity_page(result: CapacityResult) -> str:
    """The whole page."""
    answer, *rest = result.sentences
    return rendered(
        "capacity.html",
        title=result.name,
        started=result.started[:16].replace("T", " "),
        answer=answer,
        sentences=rest,
        rows=capacity_rows(result),
        limits=limit_rows(result),
        others=other_limit_rows(result),
        others_note=OTHERS,
        charts=[
            {"title": limit_words(limit), "hint": "", "drawing": Markup(_chart(result, place))}
            for place, limit in enumerate(result.plan.limits)
            if any(result.shares.of(arm)[place] for arm in ARMS)
        ],
    )


def _chart(result: CapacityResult, place: int) -> str:
    """The share in time of every block against its rate, and the share that is asked."""
    limit, name = result.plan.limits[place], f"share-{place}"
    with drawing(name):
        figure = Figure(figsize=SIZE)
        axes = figure.add_axes(FRAME)
        axes.set_xlabel("requests/s")
        axes.set_xscale("log")
        axes.axhline(limit.share, color=LIMIT, linewidth=1)
        marks: dict[str, Mark] = {}
        rates: list[float] = []
        for arm, colour, marker, _ in ARM_STYLES:
            for index, block in enumerate(result.shares.of("baseline" if arm == "baseline" else "speculative")[place]):
                key = f"{name}-{arm}-{index}"
                marks[key] = Mark(_said(arm, block), focus=False)
                rates.append(block.rate)
                at = max(block.share, LEAST_SHARE)
                axes.plot([block.rate], [at], color=colour, marker=marker, markersize=5, linestyle="none", gid=f"mark:{key}")
        axes.set_ylim(LEAST_SHARE - 0.02, 1.02)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: numbers.percent(value)))
        ticks = _ticks(min(rates), max(rates))
        axes.set_xticks(ticks, [numbers.short(tick) for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        return svg(figure, share_title(limit, len(rates)), marks)


def _said(arm: str, block: BlockShare) -> str:
    return f"{arm}, {numbers.short(block.rate)} requests/s: {numbers.percent(block.share)} of {numbers.count(block.requests)}"


def _ticks(low: float, high: float) -> list[float]:
    """Rates at even distances on the logarithmic axis."""
    if not low < high:
        return [low]
    step = (log(high) - log(low)) / (TICKS - 1)
    return [float(f"{low * exp(step * place):.2g}") for place in range(TICKS)]
