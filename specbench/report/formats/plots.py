"""The charts of a load: distributions of both arms, one pair over time, the blocks of the run; and theory beside measurement.

Nothing is computed here.
"""

from collections.abc import Sequence
from math import log10
from statistics import fmean
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from specbench.explain import labels, numbers
from specbench.explain.brief import table_words
from specbench.model.shown import BlockSample, Distribution, RampCourse, Timeline
from specbench.report.formats.svg import BASELINE, LIMIT, MUTED, PANEL, SPECULATIVE, Mark, drawing, svg
from specbench.report.view.curves import Curve, Point
from specbench.report.view.rows import by_probability

SIZE = (5.0, 2.9)  # inches of 72 points: readable on a phone at full width, and three abreast on a desk
FRAME = (0.125, 0.17, 0.85, 0.8)
DRAWN_SHARES = (0.005, 0.999)  # a single odd value beyond these would squeeze the rest of a curve
Timed = Literal["tokens_per_s", "in_flight", "backlog"]
TIMELINE_TITLES: dict[Timed, str] = {
    "tokens_per_s": "Tokens per second",
    "in_flight": "Requests in flight",
    "backlog": "Requests due and not yet sent",
}
Risen = Literal["ttft_ms", "tpot_ms", "backlog", "in_flight"]
RAMP_TITLES: dict[Risen, str] = {
    "ttft_ms": "TTFT from the scheduled moment (p50), ms",
    "tpot_ms": "TPOT (p50), ms",
    "backlog": "Requests due and not yet sent",
    "in_flight": "Requests in flight",
}
Course = Literal["acceptance_length", "read_lag_ms_p99"]
COURSE_TITLES: dict[Course, str] = {
    "acceptance_length": "Acceptance length, block by block",
    "read_lag_ms_p99": "Lag of the load generator's reads (p99), ms",
}
HEADROOM = 1.05
READ_OUT = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)  # points of a distribution that tell their value
NAMED = (0.5, 0.95)  # and are marked
TICKS_APART = 0.09  # of the axis: closer labels would overlap
# Ticks within a decade, by how many decades a logarithmic axis spans at least.
TICKS = ((3.0, (1.0,)), (1.6, (1.0, 3.0)), (0.7, (1.0, 2.0, 5.0)), (0.0, (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)))
ARMS = (("baseline", BASELINE, "o", (0, (5, 2))), ("speculative", SPECULATIVE, "s", "-"))


def theory_chart(curve: Curve, name: str) -> str:
    """The measured change by load beside the one that the two factors predict, and where it passes 0."""
    with drawing(name):
        figure, axes = _frame(curve.axis)
        known = [(point.load, point.ratio - 1) for point in curve.points if point.ratio is not None]
        theory = [(point.load, point.theory - 1) for point in curve.points if point.theory is not None]
        marks: dict[str, Mark] = {}
        _loads(axes, [point.load for point in curve.points])
        axes.axhline(0, color=MUTED, linewidth=1)
        axes.plot(*_columns(theory), color=MUTED, linestyle=(0, (1, 2)), linewidth=1.2)
        axes.plot(*_columns(known), color=SPECULATIVE)
        for what, colour, marker, points in (("theory", MUTED, "x", theory), ("measured", SPECULATIVE, "s", known)):
            for load, change in points:
                key = f"{name}-{what}-{load:g}"
                marks[key] = Mark(f"{load:g} {curve.axis}, {what}: {table_words.change(change)}")
                axes.plot([load], [change], color=colour, marker=marker, markersize=5.5, gid=f"mark:{key}")
        if curve.crossing is not None:
            marks[f"{name}-even"] = Mark(f"no change near {curve.crossing:.3g} {curve.axis}")
            axes.plot(
                [curve.crossing], [0], color=LIMIT, marker="D", markersize=6, markerfacecolor=PANEL, gid=f"mark:{name}-even"
            )
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: table_words.change(value)))
        return svg(figure, _theory_words(curve), marks)


def ecdf_chart(found: Sequence[Distribution], name: str) -> str:
    """The share of values at or below each value, both arms, on a logarithmic axis; marks at p50 and p95."""
    with drawing(name):
        metric, unit = labels.metric(found[0].metric), found[0].unit
        figure, axes = _frame(unit)
        axes.set_xscale("log")
        bounds: list[float] = []
        marks: dict[str, Mark] = {}
        for arm, colour, marker, dashes in ARMS:
            for one in (one for one in found if one.arm == arm):
                shown = [(value, share) for value, share in zip(one.values, one.probabilities, strict=True) if value > 0]
                axes.plot(*_columns(shown), color=colour, linestyle=dashes)
                bounds += [value for value, share in shown if DRAWN_SHARES[0] <= share <= DRAWN_SHARES[1]]
                for value, share in shown:
                    if round(share, 6) in READ_OUT:
                        key, named = f"{name}-{arm}-{share:g}", round(share, 6) in NAMED
                        marks[key] = Mark(f"{arm}, {metric} p{100 * share:g}: {numbers.quantity(value, one.unit)}", focus=named)
                        axes.plot(
                            [value], [share], color=colour, marker=marker, gid=f"mark:{key}", markersize=5 if named else 9,
                            alpha=1 if named else 0,
                        )  # fmt: skip
        axes.set_ylim(0, 1.02)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 0.95], ["0", "25 %", "50 %", "75 %", "95 %"])
        if bounds:
            axes.set_xlim(min(bounds) / 1.05, max(bounds) * 1.05)
        _plain_logarithmic(axes)
        return svg(figure, _ecdf_words(found), marks)


def ramp_chart(found: Sequence[RampCourse], quantity: Risen, name: str) -> str:
    """What both arms did while the load rose, over the rate at which requests came."""
    with drawing(name):
        figure, axes = _frame("requests per second that came")
        marks: dict[str, Mark] = {}
        said = []
        for arm, colour, marker, dashes in ARMS:
            for one in (one for one in found if one.arm == arm):
                known = [(at, y) for at, y in zip(one.offered_rps, getattr(one, quantity), strict=True) if y is not None]
                if known:
                    words = f"{arm}: {numbers.number(known[0][1])} at first, {numbers.number(known[-1][1])} at the top"
                    said.append(words)
                    marks[f"{name}-{arm}"] = Mark(words)
                    axes.plot(
                        *_columns(known), color=colour, linestyle=dashes, marker=marker, markersize=3, gid=f"mark:{name}-{arm}"
                    )
        axes.set_ylim(bottom=0)
        return svg(figure, f"Line chart over the rising load: {RAMP_TITLES[quantity]}. {'; '.join(said)}.", marks)


def timeline_chart(found: Sequence[Timeline], quantity: Timed, name: str) -> str:
    """One block per arm over time, a tick where its steady window opens."""
    with drawing(name):
        figure, axes = _frame("seconds since the block's first request")
        marks: dict[str, Mark] = {}
        for arm, colour, _, dashes in ARMS:
            for one in (one for one in found if one.arm == arm):
                values = getattr(one, quantity)
                marks[f"{name}-{arm}"] = Mark(_timeline_said(one, quantity))
                marks[f"{name}-{arm}-open"] = Mark(f"{arm}: the steady window opens at {one.window_open_s:.1f} s", focus=False)
                middles = [(index + 0.5) * one.slot_s for index in range(len(values))]
                axes.plot(middles, values, color=colour, linestyle=dashes, linewidth=1.4, gid=f"mark:{name}-{arm}")
                axes.plot(
                    [one.window_open_s], [0], color=colour, marker="^", markersize=8, clip_on=False, gid=f"mark:{name}-{arm}-open"
                )
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        return svg(figure, _timeline_words(found, quantity), marks)


def course_chart(found: Sequence[BlockSample], quantity: Course, name: str) -> str:
    """The blocks of a cell in the order of their pairs, one line per arm that has the quantity."""
    with drawing(name):
        figure, axes = _frame("pair of blocks, in the order of the run")
        marks: dict[str, Mark] = {}
        for arm, colour, marker, dashes in ARMS:
            axes.plot(*_columns(_course(found, arm, quantity)), color=colour, linestyle=dashes)
            for pair, value in _course(found, arm, quantity):
                key = f"{name}-{arm}-{pair:g}"
                marks[key] = Mark(f"{arm}, pair {pair:g}: {numbers.number(value)}", focus=False)
                axes.plot([pair], [value], color=colour, marker=marker, markersize=5, gid=f"mark:{key}")
        axes.set_ylim(0, axes.get_ylim()[1] * HEADROOM)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
        return svg(figure, _course_words(found, quantity), marks)


def _course(found: Sequence[BlockSample], arm: str, quantity: Course) -> list[tuple[float, float]]:
    """Pairs count from 1, as people do."""
    return [(one.pair + 1, value) for one in found if one.arm == arm and (value := getattr(one, quantity)) is not None]


def _frame(axis: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=SIZE)
    axes = figure.add_axes(FRAME)
    axes.set_xlabel(axis)
    axes.grid(visible=False, axis="x")
    return figure, axes


def _loads(axes: Axes, loads: Sequence[float]) -> None:
    """A logarithmic axis with a tick at each tested load, unlabelled where labels would overlap."""
    axes.set_xscale("log")
    labels, last = [], None
    span = max(log10(max(loads)) - log10(min(loads)), 1e-9)
    for load in loads:
        apart = last is None or (log10(load) - log10(last)) / span >= TICKS_APART
        labels.append(f"{load:g}" if apart else "")
        last = load if apart else last
    axes.set_xticks(loads, labels)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(min(loads) / 1.25, max(loads) * (1.25 + 0.25 * (len(loads) > 1)))


def _plain_logarithmic(axes: Axes) -> None:
    """Plain numbers on a logarithmic axis, more of them where it spans little."""
    low, high = axes.get_xlim()
    decades = log10(high) - log10(low)
    steps = next(ticks for least, ticks in TICKS if decades >= least)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=30))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(low, high)


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _theory_words(curve: Curve) -> str:
    said = "; ".join(_point_words(point) for point in curve.points)
    return f"Change of {curve.label} against {curve.axis}, as measured and as theory predicts it. {said}."


def _point_words(point: Point) -> str:
    measured, theory = (None if ratio is None else ratio - 1 for ratio in (point.ratio, point.theory))
    return f"at {point.load:g}: measured {table_words.change(measured)}, theory {table_words.change(theory)}"


def _ecdf_words(found: Sequence[Distribution]) -> str:
    said = []
    for one in found:
        at = by_probability(one)
        quantiles = " and ".join(f"p{share * 100:g} {numbers.quantity(at.get(share), one.unit)}" for share in (0.5, 0.95))
        said.append(f"{one.arm}: {quantiles}")
    return f"Cumulative distribution of {labels.metric(found[0].metric)}. {'; '.join(said)}."


def _timeline_words(found: Sequence[Timeline], quantity: Timed) -> str:
    said = "; ".join(_timeline_said(one, quantity) for one in found)
    return f"Line chart over time of one block per arm: {TIMELINE_TITLES[quantity].lower()}. {said}."


def _timeline_said(one: Timeline, quantity: str) -> str:
    values = getattr(one, quantity)
    return f"{one.arm}: {numbers.number(fmean(values))} on average, {numbers.number(max(values))} at most"


def _course_words(found: Sequence[BlockSample], quantity: Course) -> str:
    said = []
    for arm, *_ in ARMS:
        values = [value for _, value in _course(found, arm, quantity)]
        if values:
            said.append(f"{arm}: {numbers.number(min(values))} to {numbers.number(max(values))} over {len(values)} blocks")
    return f"Line chart over the blocks of the run: {COURSE_TITLES[quantity]}. {'; '.join(said)}."
