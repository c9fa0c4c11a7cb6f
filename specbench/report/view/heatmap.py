"""The matrix of cells against guardrails: which columns, which tile where, and what the states mean. No layout lives here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specbench.explain import labels
from specbench.report.view.cells import CellView
from specbench.report.view.rows import FindingRow


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


def heat_map(cells: Sequence[CellView]) -> HeatMap:
    """Cells down, guardrails across by role; an advisory one that no cell could measure is left to the cells' own tables.

    Two guardrails on one metric have a column each, the second with its number.
    """
    order = tuple(labels.ROLES)
    found = sorted((one for cell in cells for one in cell.findings), key=lambda one: order.index(one.kind))
    told = {_column(one) for one in found if one.required or one.state != "NODATA"}
    columns = {_column(one): one for one in found if _column(one) in told}
    seen = {cell.state for cell in cells} | {one.state for one in found}
    return HeatMap(
        columns=tuple(
            HeatColumn(one.label + (f" ({one.number})" if one.number > 1 else ""), labels.ROLES[one.kind])
            for one in columns.values()
        ),
        rows=tuple(HeatRow(cell, _tiles(cell, columns)) for cell in cells),
        legend=tuple(
            LegendRow(state, labels.GLYPHS[state], meaning) for state, meaning in labels.STATES.items() if state in seen
        ),
    )


def _column(found: FindingRow) -> tuple[str, str, int]:
    return found.metric, found.kind, found.number


def _tiles(cell: CellView, columns: Iterable[tuple[str, str, int]]) -> tuple[FindingRow | None, ...]:
    found = {_column(one): one for one in cell.findings}
    return tuple(map(found.get, columns))
