"""Metrics against load, one curve per slice of the matrix, as numbers to draw. No drawing lives here."""

from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from specbench.model.judged import CellResult, Comparison, Result
from specbench.report import names, parts, wording

DRAWN = ("tpot_p50", "output_tps", "ttft_p95")


@dataclass(frozen=True, slots=True)
class Point:
    """One metric at one load; what could not be had is None."""

    load: float
    baseline: float | None
    speculative: float | None
    ratio: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One metric over the loads of one slice, loads ascending; `crossing` is the load at which the ratio passes 1."""

    metric: str
    label: str
    unit: str
    lower_is_better: bool
    slice: str
    axis: str
    points: tuple[Point, ...]
    crossing: float | None


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One metric at one load as text."""

    load: str
    label: str
    baseline: str
    speculative: str
    ratio: str
    interval: str


def curves(result: Result) -> tuple[tuple[Curve, ...], ...]:
    """Per slice and kind of load, the curves of the success metric and of `DRAWN`."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for cell in result.cells:
        by = "rate" if cell.axes.rate is not None else "concurrency"
        groups.setdefault((by, wording.slice_name(cell.axes)), []).append(cell)
    metrics = tuple(dict.fromkeys((result.config.success_metric, *DRAWN)))
    found = tuple(tuple(_curves(cells, by, part, metrics)) for (by, part), cells in groups.items())
    return tuple(group for group in found if group)


def _curves(cells: list[CellResult], by: str, part: str, metrics: tuple[str, ...]) -> list[Curve]:
    made = []
    for metric in metrics:
        placed = [(parts.place(cell, by), parts.comparison(cell, metric)) for cell in cells]
        known = sorted(((at, found) for at, found in placed if at is not None and found is not None), key=lambda pair: pair[0])
        if known:
            made.append(_curve(known, by, part))
    return made


def _curve(known: list[tuple[float, Comparison]], by: str, part: str) -> Curve:
    first = known[0][1]
    points = tuple(
        Point(at, found.value.baseline, found.value.speculative, found.ratio, found.ci_low, found.ci_high) for at, found in known
    )
    return Curve(
        metric=first.metric,
        label=names.metric(first.metric),
        unit=first.unit,
        lower_is_better=first.direction == "lower",
        slice=part,
        axis="requests/s offered" if by == "rate" else "concurrent streams",
        points=points,
        crossing=crossing(points),
    )


def crossing(points: tuple[Point, ...]) -> float | None:
    """The first load between two neighbours at which the ratio passes 1, both axes logarithmic; None where it never does."""
    known = [(point.load, point.ratio) for point in points if point.ratio]
    for (left, before), (right, after) in pairwise(known):
        if (before - 1) * (after - 1) < 0:
            share = log(before) / (log(before) - log(after))
            return exp(log(left) + share * (log(right) - log(left)))
    return None


def load_rows(curve: Curve) -> tuple[LoadRow, ...]:
    """The curve as rows of a table."""
    return tuple(
        LoadRow(
            load=f"{point.load:g}{f' · {curve.slice}' if curve.slice else ''}",
            label=curve.label,
            baseline=wording.quantity(point.baseline, curve.unit),
            speculative=wording.quantity(point.speculative, curve.unit),
            ratio=wording.ratio(point.ratio),
            interval=wording.interval(point.low, point.high),
        )
        for point in curve.points
    )
