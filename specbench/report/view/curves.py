"""Metrics against load, one curve per slice of the matrix, as numbers to draw. No drawing lives here."""

from dataclasses import dataclass
from typing import NamedTuple

from specbench.analysis.theory import crossing
from specbench.explain import labels, numbers
from specbench.model import queries
from specbench.model.result import CellResult, Comparison, Result

DRAWN = ("tpot_p50", "output_tps")


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
    """Per slice and kind of load, the curves of the success metric, of `DRAWN` and of the TTFT that is judged."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for cell in result.cells:
        by = "rate" if cell.axes.rate is not None else "concurrency"
        groups.setdefault((by, numbers.slice_name(cell.axes)), []).append(cell)
    metrics = tuple(dict.fromkeys((result.config.success_metric, *DRAWN, queries.first_token_metric(result))))
    found = tuple(tuple(_curves(cells, by, part, metrics)) for (by, part), cells in groups.items())
    return tuple(group for group in found if group)


def _curves(cells: list[CellResult], by: str, part: str, metrics: tuple[str, ...]) -> list[Curve]:
    made = []
    for metric in metrics:
        placed = [(queries.place(cell, by), queries.comparison(cell, metric), cell) for cell in cells]
        known = [_Place(at, found, _theory(cell, metric)) for at, found, cell in placed if at is not None and found is not None]
        if known:
            made.append(_curve(sorted(known, key=lambda one: one.load), by, part))
    return made


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


def load_rows(curve: Curve) -> tuple[LoadRow, ...]:
    """The curve as rows of a table."""
    return tuple(
        LoadRow(
            load=f"{point.load:g}{f' · {curve.slice}' if curve.slice else ''}",
            label=curve.label,
            baseline=numbers.quantity(point.baseline, curve.unit),
            speculative=numbers.quantity(point.speculative, curve.unit),
            ratio=numbers.ratio(point.ratio),
            interval=numbers.interval(point.low, point.high),
        )
        for point in curve.points
    )
