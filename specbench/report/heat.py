"""The matrix of cells against guardrails: which columns, which tile where, and what the states mean. No layout lives here."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.model.judged import Result
from specbench.report import names
from specbench.report.cells import CellView
from specbench.report.rows import FindingRow


@dataclass(frozen=True, slots=True)
class HeatColumn:
    """One guardrail."""

    label: str
    role: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One cell against every guardrail; None where that guardrail does not apply."""

    cell: CellView
    tiles: tuple[FindingRow | None, ...]


@dataclass(frozen=True, slots=True)
class LegendRow:
    """One state that occurs, and what it means."""

    state: str
    glyph: str
    meaning: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The whole matrix; without rows where nothing was measured."""

    columns: tuple[HeatColumn, ...]
    rows: tuple[HeatRow, ...]
    legend: tuple[LegendRow, ...]


def heat_map(result: Result, cells: Sequence[CellView]) -> HeatMap:
    """Cells down, guardrails across by role; an advisory one that no cell could measure is left to the cells' own tables."""
    found = [one for cell in result.cells for one in cell.findings]
    told = {one.metric for one in found if one.required or one.state != "NODATA"}
    order = {role: position for position, role in enumerate(names.ROLES)}
    columns = {one.metric: names.ROLES[one.role] for one in sorted(found, key=lambda one: order[one.role]) if one.metric in told}
    seen = {cell.state for cell in result.cells} | {one.state for one in found}
    return HeatMap(
        columns=tuple(HeatColumn(names.metric(metric), role) for metric, role in columns.items()),
        rows=tuple(HeatRow(cell, tuple(_tile(cell, metric) for metric in columns)) for cell in cells),
        legend=tuple(LegendRow(state, names.GLYPHS[state], meaning) for state, meaning in names.STATES.items() if state in seen),
    )


def _tile(cell: CellView, metric: str) -> FindingRow | None:
    return next((found for found in cell.findings if found.metric == metric), None)
