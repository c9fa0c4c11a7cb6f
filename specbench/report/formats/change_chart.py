"""The picture of the first screen: the change of one metric at each load, its interval as judged, and where its limit lies.

Drawn from the rows of the tables, so that a chart cannot disagree with them. Nothing is computed here but places on paper.
"""

from collections.abc import Sequence
from math import ceil, floor, log2

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from specbench.explain.brief import table_words
from specbench.report.formats.svg import FLAT, GOOD, INK, LIMIT, MUTED, PANEL, WAIT, Mark, drawing, svg
from specbench.report.view.comparison_rows import ComparisonRow
from specbench.report.view.load_groups import LoadPoint

SIZE = (4.5, 2.6)  # inches of 72 points, as wide as a phone shows it
FRAME = (0.125, 0.265, 0.865, 0.645)
MOST_VALUES = 4  # loads whose values have room below their point
MOST_CHANGES = 6  # loads whose changes have room beside it
REACH = 6.0  # doublings that are drawn at most, up or down
TONES = {"good": GOOD, "bad": LIMIT, "wait": WAIT, "": FLAT}
SMALL = 10.5  # points of what is written about limits and the cap
ROOM = 0.8  # half doublings beyond the last interval
CLEAR = 8.5  # points between the middle of a written change and any line
SHIFTS = (0.0, 9.0, -9.0, 13.0, -13.0, 17.0, -17.0)  # by which a change is moved to be clear of lines, the least first


def change_chart(points: Sequence[LoadPoint], cap: str, name: str) -> str:
    """The change at each load on a logarithmic scale; `cap` is what is written where the range ends, '' for nowhere."""
    with drawing(name):
        figure = Figure(figsize=SIZE)
        axes = figure.add_axes(FRAME)
        low, high = _span(points)
        axes.set_ylim(low, high)
        axes.set_xlim(-0.5, len(points) - (0.5 if len(points) < 3 else 0.25))
        _ticks(axes, low, high)
        axes.axhline(0, color=MUTED, linewidth=1)
        marks: dict[str, Mark] = {}
        known = [
            (index, log2(1 + point.row.change))
            for index, point in enumerate(points)
            if point.row.change is not None and point.row.change > -1
        ]
        for index, point in enumerate(points):
            before = points[index - 1].row.limit_text if index else ""
            _limit(axes, index, point.row, written=point.row.limit_text != before or len(points) < 3)
        for index, value in known:
            marks[f"{name}-{index}"] = Mark(_said(points[index]))
            _point(
                axes, (index, min(max(value, low), high)), points[index].row, f"mark:{name}-{index}", len(points) <= MOST_CHANGES
            )
        _loads(axes, points)
        _cap(axes, points, cap)
        return svg(figure, _words(points), marks)


def _span(points: Sequence[LoadPoint]) -> tuple[float, float]:
    """From and to how many doublings: they hold every interval and limit, with room for what is written at an edge."""
    rows = [point.row for point in points]
    ends = [value for row in rows for value in (row.change, row.low, row.high, row.limit) if value is not None and value > -1]
    logs = [max(-REACH, min(REACH, log2(1 + value))) for value in ends]
    least, most = min([*logs, -0.5]), max([*logs, 0.5])
    return max(floor(least * 2 - ROOM) / 2, -REACH), min(ceil(most * 2 + ROOM) / 2, REACH)


def _ticks(axes: Axes, low: float, high: float) -> None:
    """Changes on the axis: halves and doubles, or coarser where it spans many."""
    step = 1 if high - low <= 5 else 2
    at = [value for value in range(ceil(low), floor(high) + 1) if value % step == 0]
    axes.set_yticks(at, [table_words.change(2.0**value - 1) for value in at], fontsize=9)
    axes.grid(visible=False, axis="x")
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)


def _limit(axes: Axes, index: int, row: ComparisonRow, written: bool) -> None:
    """The side of the limit that fails, or for the gain the one that is asked for; pale where it is only reported."""
    if row.limit is None or row.limit <= -1 or row.comparison is None or row.comparison.direction == "equal":
        return
    low, high = axes.get_ylim()
    at = min(max(log2(1 + row.limit), low), high)
    gain = row.role == "success"
    upward = (row.comparison.direction == "lower") != gain
    bottom, top = (at, high) if upward else (low, at)
    colour = GOOD if gain else LIMIT
    shade = Rectangle((index - 0.5, bottom), 1, top - bottom, facecolor=colour, alpha=0.13 if row.decides else 0.07, linewidth=0)
    axes.add_patch(shade)
    axes.plot([index - 0.5, index + 0.5], [at, at], color=colour, linewidth=0.9, linestyle=(0, (3, 2)))
    if not written:
        return
    named = f"{'goal' if gain else 'limit'} {row.limit_text.removeprefix('≤ ').removeprefix('≥ ')}"
    place = high if upward else low
    axes.text(
        index - 0.47, place, named, color=colour, fontsize=SMALL, va="top" if upward else "bottom", ha="left", clip_on=False
    )


def _point(axes: Axes, at: tuple[float, float], row: ComparisonRow, gid: str, named: bool) -> None:
    index, value = at
    colour = TONES[row.tone]
    bottom, top = axes.get_ylim()
    if row.low is not None or row.high is not None:
        low = bottom if row.low is None or row.low <= -1 else max(log2(1 + row.low), bottom)
        high = top if row.high is None else min(log2(1 + row.high), top)
        axes.plot(
            [index, index], [low, high], color=colour, linewidth=2.4, marker="_", markersize=8, markeredgewidth=1.4, gid=gid
        )
    axes.plot([index], [value], color=colour, marker="o", markersize=6.5, markeredgecolor=PANEL, markeredgewidth=0.8, gid=gid)
    if not named:
        return
    text = axes.annotate(
        row.changed, (index, value), xytext=(8, _shift(value, row, bottom, top)), textcoords="offset points", color=colour,
        fontsize=11, fontweight="bold", va="center_baseline",
    )  # fmt: skip
    text.set_gid("halo")


def _shift(value: float, row: ComparisonRow, bottom: float, top: float) -> float:
    """How far the written change moves up or down from its point so that neither zero nor the limit strikes it through."""
    points = SIZE[1] * FRAME[3] * 72 / (top - bottom)
    lines = [0.0] + ([log2(1 + row.limit)] if row.limit is not None and row.limit > -1 else [])
    inside = [shift for shift in SHIFTS if CLEAR < (value - bottom) * points + shift < (top - bottom) * points - CLEAR]
    clear = [shift for shift in inside if all(abs((value - line) * points + shift) >= CLEAR for line in lines)]
    return (clear or inside or [0.0])[0]


def _loads(axes: Axes, points: Sequence[LoadPoint]) -> None:
    """Below each point its load, and both arms' values where there is room."""
    axes.set_xticks([])
    roomy = len(points) <= MOST_VALUES
    each = max(1, -(-len(points) // 10))
    for index, point in enumerate(points):
        if index % each:
            continue
        load = f"{point.mark} {point.load}".strip() if roomy else f"{point.level:g}"
        axes.annotate(
            load, (index, 0), xycoords=("data", "axes fraction"), xytext=(0, -14), textcoords="offset points", ha="center",
            color=INK, fontsize=10 if len(points) < 4 else 9, fontweight="bold",
        )  # fmt: skip
        if roomy:
            axes.annotate(
                f"{point.row.before} → {point.row.after}", (index, 0), xycoords=("data", "axes fraction"), xytext=(0, -27),
                textcoords="offset points", ha="center", color=INK, fontsize=10 if len(points) < 4 else 8.5,
            )  # fmt: skip
    if not roomy:
        unit = points[0].load.partition(" ")[2] or points[0].load
        axes.annotate(
            unit if unit.endswith("s") else f"{unit}s", (0.5, 0), xycoords="axes fraction", xytext=(0, -28),
            textcoords="offset points", ha="center", color=MUTED, fontsize=9.5,
        )  # fmt: skip


def _cap(axes: Axes, points: Sequence[LoadPoint], cap: str) -> None:
    """Above the chart a bar over the loads inside the range, which ends at the cap's own load."""
    inside = [index for index, point in enumerate(points) if point.inside]
    if not cap or not inside or inside[-1] + 1 >= len(points):
        return
    above = 1 + 7 / (SIZE[1] * FRAME[3] * 72)
    where = axes.get_xaxis_transform()
    axes.plot([-0.5, inside[-1]], [above, above], color=INK, linewidth=3, transform=where, clip_on=False, solid_capstyle="butt")
    axes.plot([inside[-1]], [above], color=INK, marker="|", markersize=9, markeredgewidth=1.6, transform=where, clip_on=False)
    axes.annotate(
        cap, (inside[-1], above), xycoords=where, xytext=(6, 0), textcoords="offset points", ha="left", va="center_baseline",
        color=INK, fontsize=SMALL, fontweight="bold",
    )  # fmt: skip


def _said(point: LoadPoint) -> str:
    row = point.row
    span = f", interval {row.bounds}" if row.bounds else ""
    limit = f", {'goal' if row.role == 'success' else 'limit'} {row.limit_text}" if row.limit_text else ""
    state = f", {row.state}{'' if row.decides else ' (reported only)'}" if row.state else ""
    return f"{point.load}: {row.title}: {row.before} → {row.after}, {row.changed}{span}{limit}{state}"


def _words(points: Sequence[LoadPoint]) -> str:
    title = points[0].row.title
    said = "; ".join(_said(point).replace(f" {title}:", "") for point in points)
    return f"Change of {title} by load, baseline to speculative. {said}."
