"""The success metric against load, beside what theory predicts, as numbers to draw. No drawing lives here."""

from dataclasses import dataclass
from typing import NamedTuple

from specbench.analysis.theory import crossing
from specbench.explain import labels, numbers
from specbench.model import queries
from specbench.model.result import CellResult, Comparison, Result


@dataclass(frozen=True, slots=True)
class Point:
    """One metric at one load; what could not be had is None. `theory` is the ratio that the model predicts, for TPOT only."""

    load: float
    baseline: float | None
    speculative: float | None
    ratio: float | None
    low: float | None
    high: float | None
    theory: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One metric over the loads of one slice, loads ascending; `crossing` is the load at which the ratio passes 1."""

    metric: str
    label: str
    unit: str
    slice: str
    axis: str
    points: tuple[Point, ...]
    crossing: float | None


def curves(result: Result) -> tuple[Curve, ...]:
    """The success metric against load, a curve for each slice and kind of load."""
    groups: dict[tuple[str, str], list[_Place]] = {}
    for cell in result.cells:
        by = "rate" if cell.axes.rate is not None else "concurrency"
        at, found = queries.place(cell, by), queries.comparison(cell, result.config.success_metric)
        if at is not None and found is not None:
            groups.setdefault((by, numbers.slice_name(cell.axes)), []).append(_Place(at, found, _theory(cell, found.metric)))
    return tuple(_curve(sorted(known, key=lambda one: one.load), by, part) for (by, part), known in groups.items())


class _Place(NamedTuple):
    load: float
    found: Comparison
    theory: float | None


def _theory(cell: CellResult, metric: str) -> float | None:
    """The predicted TPOT ratio: 1 ÷ the expected speed-up."""
    expected = cell.theory.get("expected_speed_up")
    return 1 / expected if expected and metric.startswith("tpot") else None


def _curve(known: list[_Place], by: str, part: str) -> Curve:
    first = known[0].found
    points = tuple(
        Point(at, one.value.baseline, one.value.speculative, one.ratio, one.ci_low, one.ci_high, theory)
        for at, one, theory in known
    )
    return Curve(
        metric=first.metric,
        label=labels.metric(first.metric),
        unit=first.unit,
        slice=part,
        axis="requests/s offered" if by == "rate" else "concurrent streams",
        points=points,
        crossing=crossing([(point.load, point.ratio) for point in points if point.ratio]),
    )
