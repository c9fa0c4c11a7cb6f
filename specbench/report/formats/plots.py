"""The charts of the page: a metric against load, the ratio against load, distributions of both arms. Nothing is computed here."""

from collections.abc import Sequence
from math import log10
from statistics import fmean
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from specbench.explain import labels, numbers
from specbench.model.shown import BlockSample, Distribution, Timeline
from specbench.report.formats.svg import BASELINE, INK, LIMIT, MUTED, PANEL, SPECULATIVE, drawing, svg
from specbench.report.view.curves import Curve, Point
from specbench.report.view.rows import by_probability

SIZE = (5.0, 3.1)  # inches of 72 points: readable on a phone at full width, and three abreast on a desk
FRAME = (0.125, 0.165, 0.845, 0.735)
DRAWN_SHARES = (0.005, 0.999)  # a single odd value beyond these would squeeze the rest of a curve
TIMELINE_TITLES = {"tokens_per_s": "Tokens per second", "in_flight": "Requests in flight"}
Course = Literal["acceptance_length", "read_lag_ms_p99"]
COURSE_TITLES: dict[Course, str] = {
    "acceptance_length": "Acceptance length, block by block",
    "read_lag_ms_p99": "Lag of the load generator's reads (p99), ms",
}
HEADROOM = 1.05
TICKS_APART = 0.09  # of the axis: closer labels would overlap
# Ticks within a decade, by how many decades a logarithmic axis spans at least.
TICKS = ((3.0, (1.0,)), (1.6, (1.0, 3.0)), (0.7, (1.0, 2.0, 5.0)), (0.0, (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)))
ARMS = (("baseline", BASELINE, "o", (0, (5, 2))), ("speculative", SPECULATIVE, "s", "-"))


def load_chart(curve: Curve, name: str) -> str:
    """Both arms' values against load; the bars carry the ratio's interval on the speculative arm."""
    with drawing(name):
        figure, axes = _frame(curve.axis)
        _loads(axes, [point.load for point in curve.points])
        for arm, colour, marker, dashes in ARMS:
            known = [(point.load, value) for point in curve.points if (value := getattr(point, arm)) is not None]
            axes.plot(*_columns(known), color=colour, marker=marker, linestyle=dashes, markersize=5)
        for point in curve.points:
            if point.baseline is not None and point.low is not None and point.high is not None:
                ends = [point.baseline * point.low, point.baseline * point.high]
                axes.plot([point.load, point.load], ends, color=SPECULATIVE, linewidth=1.2)
        axes.set_ylim(bottom=0)
        axes.set_title(f"{curve.label}, {curve.unit}", loc="left", fontsize=10.5, color=INK)
        return svg(figure, _load_words(curve))


def ratio_chart(curve: Curve, name: str) -> str:
    """The ratio with its interval against load, and the line of no change."""
    with drawing(name):
        figure, axes = _frame(curve.axis)
        known = [(point, point.ratio) for point in curve.points if point.ratio is not None]
        _loads(axes, [point.load for point in curve.points])
        axes.axhline(1, color=MUTED, linewidth=1)
        theory = [(point.load, point.theory) for point in curve.points if point.theory is not None]
        if theory:
            axes.plot(*_columns(theory), color=MUTED, linestyle=(0, (1, 2)), marker="x", markersize=4.5, linewidth=1.2)
        for point, ratio in known:
            if point.low is not None and point.high is not None:
                axes.plot([point.load, point.load], [point.low, point.high], color=SPECULATIVE, linewidth=5, alpha=0.3)
            axes.annotate(numbers.ratio(ratio), (point.load, ratio), xytext=(9, -11), textcoords="offset points", fontsize=9.5)
        axes.plot(*_columns([(point.load, ratio) for point, ratio in known]), color=SPECULATIVE, marker="s", markersize=5)
        if curve.crossing is not None:
            axes.plot([curve.crossing], [1], color=LIMIT, marker="D", markersize=6, markerfacecolor=PANEL)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.9, low - 0.05), max(high + 0.05, 1.1))
        axes.set_title(f"{curve.label}, speculative ÷ baseline", loc="left", fontsize=10.5, color=INK)
        return svg(figure, _ratio_words(curve))


def ecdf_chart(found: Sequence[Distribution], name: str) -> str:
    """The share of values at or below each value, both arms, on a logarithmic axis; marks at p50 and p95."""
    with drawing(name):
        metric, unit = labels.metric(found[0].metric), found[0].unit
        figure, axes = _frame(unit)
        axes.set_xscale("log")
        bounds: list[float] = []
        for arm, colour, marker, dashes in ARMS:
            for one in (one for one in found if one.arm == arm):
                shown = [(value, share) for value, share in zip(one.values, one.probabilities, strict=True) if value > 0]
                axes.plot(*_columns(shown), color=colour, linestyle=dashes)
                bounds += [value for value, share in shown if DRAWN_SHARES[0] <= share <= DRAWN_SHARES[1]]
                marks = [(value, share) for value, share in shown if round(share, 6) in (0.5, 0.95)]
                axes.plot(*_columns(marks), color=colour, marker=marker, markersize=4.5, linestyle="none")
        axes.set_ylim(0, 1.02)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 0.95], ["0", "25%", "50%", "75%", "95%"])
        if bounds:
            axes.set_xlim(min(bounds) / 1.05, max(bounds) * 1.05)
        _plain_logarithmic(axes)
        axes.set_title(f"{metric}: share at or below, by {unit}", loc="left", fontsize=10.5, color=INK)
        return svg(figure, _ecdf_words(found))


def timeline_chart(found: Sequence[Timeline], quantity: Literal["tokens_per_s", "in_flight"], name: str) -> str:
    """One block per arm over time, a tick where its steady window opens."""
    with drawing(name):
        figure, axes = _frame("seconds since the block's first request")
        for arm, colour, _, dashes in ARMS:
            for one in (one for one in found if one.arm == arm):
                values = getattr(one, quantity)
                middles = [(index + 0.5) * one.slot_s for index in range(len(values))]
                axes.plot(middles, values, color=colour, linestyle=dashes, linewidth=1.4)
                axes.plot([one.window_open_s], [0], color=colour, marker="^", markersize=8, linestyle="none", clip_on=False)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.set_title(TIMELINE_TITLES[quantity], loc="left", fontsize=10.5, color=INK)
        return svg(figure, _timeline_words(found, quantity))


def course_chart(found: Sequence[BlockSample], quantity: Course, name: str) -> str:
    """The blocks of a cell in the order of their pairs, one line per arm that has the quantity."""
    with drawing(name):
        figure, axes = _frame("pair of blocks, in the order of the run")
        for arm, colour, marker, dashes in ARMS:
            axes.plot(*_columns(_course(found, arm, quantity)), color=colour, marker=marker, linestyle=dashes, markersize=5)
        axes.set_ylim(0, axes.get_ylim()[1] * HEADROOM)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
        axes.set_title(COURSE_TITLES[quantity], loc="left", fontsize=10.5, color=INK)
        return svg(figure, _course_words(found, quantity))


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


def _load_words(curve: Curve) -> str:
    said = "; ".join(
        f"at {point.load:g}: baseline {numbers.number(point.baseline)}, speculative {numbers.number(point.speculative)}"
        for point in curve.points
    )
    return f"Line chart of {curve.label} in {curve.unit} against {curve.axis}. {said}."


def _ratio_words(curve: Curve) -> str:
    said = "; ".join(_point_words(point) for point in curve.points)
    return f"Line chart of the {curve.label} ratio, speculative over baseline, against {curve.axis}. {said}."


def _point_words(point: Point) -> str:
    span = numbers.interval(point.low, point.high)
    theory = f", theory {numbers.ratio(point.theory)}" if point.theory is not None else ""
    return f"at {point.load:g}: {numbers.ratio(point.ratio)}" + (f" ({span})" if span else "") + theory


def _ecdf_words(found: Sequence[Distribution]) -> str:
    said = []
    for one in found:
        at = by_probability(one)
        quantiles = " and ".join(f"p{share * 100:g} {numbers.quantity(at.get(share), one.unit)}" for share in (0.5, 0.95))
        said.append(f"{one.arm}: {quantiles}")
    return f"Cumulative distribution of {labels.metric(found[0].metric)}. {'; '.join(said)}."


def _timeline_words(found: Sequence[Timeline], quantity: str) -> str:
    said = []
    for one in found:
        values = getattr(one, quantity)
        said.append(f"{one.arm}: {numbers.number(fmean(values))} on average, {numbers.number(max(values))} at most")
    return f"Line chart over time of one block per arm: {TIMELINE_TITLES[quantity].lower()}. {'; '.join(said)}."


def _course_words(found: Sequence[BlockSample], quantity: Course) -> str:
    said = []
    for arm, *_ in ARMS:
        values = [value for _, value in _course(found, arm, quantity)]
        if values:
            said.append(f"{arm}: {numbers.number(min(values))} to {numbers.number(max(values))} over {len(values)} blocks")
    return f"Line chart over the blocks of the run: {COURSE_TITLES[quantity]}. {'; '.join(said)}."
