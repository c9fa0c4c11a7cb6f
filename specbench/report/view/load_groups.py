"""The loads of one slice together: the rows that their common table shows, and the points of the charts. No layout lives here.

Every figure is a row of `comparison_rows.py`; this module chooses and places them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from specbench.model import queries
from specbench.model.result import CellResult, Result
from specbench.report.view.comparison_rows import ComparisonRow
from specbench.report.view.load_tables import LoadTable

PANELS = ("tpot_p50", "itl_p95", "ttft", "output_tps")  # of the picture; the benefit's own metric takes the first place
MARKS = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "NODATA": "–", "INVALID": "!", "ADVISORY": "·"}
BAR_SPAN = 4.0  # a bar reaches from a quarter to four times


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One metric at every load of the group, None where a load has no such row; `limits` are what was asked at any of them."""

    title: str
    definition: str
    limits: tuple[str, ...]
    cells: tuple[ComparisonRow | None, ...]


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One metric at one load: the load in words ('4 streams') and as a number, its mark, the row, and whether it is enabled."""

    load: str
    level: float
    mark: str
    row: ComparisonRow
    inside: bool


@dataclass(frozen=True, slots=True)
class ChangePanel:
    """One chart of the picture: a metric at every load of the group."""

    metric: str
    label: str
    points: tuple[LoadPoint, ...]


@dataclass(frozen=True, slots=True)
class LoadGroup:
    """Loads on one axis of one slice, ascending; `cap` is where the range ends in words, '' where it does not."""

    slice: str
    by: str
    tables: tuple[LoadTable, ...]
    numbers: tuple[NumberRow, ...]
    panels: tuple[ChangePanel, ...]
    cap: str


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A row as a bar in its table, in per cent of its width: where no change is, the interval, the point, what fails."""

    low: float
    high: float
    at: float
    limit_from: float
    limit_to: float


def load_groups(result: Result, tables: Sequence[LoadTable]) -> tuple[LoadGroup, ...]:
    """The groups in the order of their first load; that of the primary cell first."""
    groups: dict[tuple[str, str], list[tuple[float, CellResult, LoadTable]]] = {}
    for cell, table in zip(result.cells, tables, strict=True):
        by = "rate" if cell.axes.rate is not None else "concurrency"
        groups.setdefault((table.slice, by), []).append((queries.place(cell, by) or 0.0, cell, table))
    first = queries.primary(result)
    made = [
        (any(cell is first for _, cell, _ in found), _group(result, part, by, sorted(found, key=lambda one: one[0])))
        for (part, by), found in groups.items()
    ]
    return tuple(group for _, group in sorted(made, key=lambda pair: not pair[0]))


def _group(result: Result, part: str, by: str, found: Sequence[tuple[float, CellResult, LoadTable]]) -> LoadGroup:
    tables = tuple(table for _, _, table in found)
    enabled = queries.enabled(result)
    inside = [cell in enabled for _, cell, _ in found]
    capped = any(inside) and not all(inside)
    return LoadGroup(
        slice=part,
        by=by,
        tables=tables,
        numbers=_numbers(tables),
        panels=tuple(_panels(result.config.success_metric, found, inside)),
        cap=f"cap {max(level for (level, _, _), here in zip(found, inside, strict=True) if here):g}" if capped else "",
    )


def _numbered(table: LoadTable) -> dict[tuple[str, int], ComparisonRow]:
    """The rows by metric and their number among those of the metric, as a metric may have more than one limit."""
    count: dict[str, int] = {}
    found = {}
    for row in table.rows:
        count[row.metric] = count.get(row.metric, 0) + 1
        found[row.metric, count[row.metric]] = row
    return found


def _numbers(tables: Sequence[LoadTable]) -> tuple[NumberRow, ...]:
    """The rows that the common table shows: those that are always shown somewhere, and whatever decides."""
    by_table = [_numbered(table) for table in tables]
    order = list(dict.fromkeys(key for rows in by_table for key in rows))
    ranks = {key: max(list(rows).index(key) if key in rows else -1 for rows in by_table) for key in order}
    shown = [key for key in order if any(key in rows and _is_common(rows[key]) for rows in by_table)]
    made = []
    for key in sorted(shown, key=lambda one: ranks[one]):
        cells = tuple(rows.get(key) for rows in by_table)
        first = next(row for row in cells if row is not None)
        limits = tuple(dict.fromkeys(row.limit_text for row in cells if row is not None and row.limit_text))
        made.append(NumberRow(first.title, definition_of(first), limits, cells))
    return tuple(made)


def _is_common(row: ComparisonRow) -> bool:
    return row.always_shown or row.decides or row.metric == "alpha"


def definition_of(row: ComparisonRow) -> str:
    """What the metric is."""
    return "" if row.comparison is None else row.comparison.definition


def _panels(success: str, found: Sequence[tuple[float, CellResult, LoadTable]], inside: Sequence[bool]) -> list[ChangePanel]:
    metrics = dict.fromkeys((success if not success.startswith(PANELS[1:]) else PANELS[0], *PANELS[1:]))
    made = []
    for metric in metrics:
        points = [
            LoadPoint(table.title if not table.slice else table.load, level, MARKS.get(table.state, ""), row, here)
            for (level, _, table), here in zip(found, inside, strict=True)
            if (row := _row_of(table, metric)) is not None
        ]
        if points:
            made.append(ChangePanel(points[0].row.metric, points[0].row.title, tuple(points)))
    return made


def _row_of(table: LoadTable, metric: str) -> ComparisonRow | None:
    """The row of the metric that the table always shows, the first of its name else."""
    found = [row for row in table.rows if row.metric == metric or (metric == "ttft" and row.metric.startswith("ttft_"))]
    return next((row for row in found if row.core), found[0] if found else None)


def interval_bar(row: ComparisonRow) -> IntervalBar | None:
    """The row's interval on a logarithmic scale of a quarter to four times; None where it has no change."""
    if row.change is None:
        return None
    at = _place(row.change)
    low = _place(row.low) if row.low is not None else 0.0
    high = _place(row.high) if row.high is not None else 100.0
    fails = (0.0, 0.0)
    if row.limit is not None and row.comparison is not None and row.comparison.direction != "equal" and row.role != "success":
        edge = _place(row.limit)
        fails = (edge, 100.0) if row.comparison.direction == "lower" else (0.0, edge)
    return IntervalBar(low if row.bounds else at, high if row.bounds else at, at, *fails)


def _place(change: float) -> float:
    """Where a change lies, in per cent of the bar; what lies beyond its ends is at them."""
    if change <= -1:
        return 0.0
    share = 0.5 + log(1 + change) / (2 * log(BAR_SPAN))
    return round(100 * min(max(share, 0.0), 1.0), 1)
