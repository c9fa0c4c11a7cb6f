"""The rows of each load as a table, and which of them a short table keeps. Pure."""

from collections.abc import Set
from dataclasses import dataclass

from specbench.explain import numbers
from specbench.explain.brief import table_words
from specbench.model import queries
from specbench.model.result import CellResult, CellState, Result
from specbench.report.view.comparison_rows import IN_A_PART, ComparisonRow, cell_rows

MOST_ROWS = 9  # of one load that a short table shows
ALWAYS = ("tpot_p50", "itl_p50", "itl_p95")  # of a whole load: no failed row takes their place


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTable:
    """One load as a table: its name, how it came out, and its rows; `acceptance` is a line of its own in short tables.

    `state` is the cell's, `outcome` its word for people; `must_show`: the gain is asked of this load.
    """

    id: str
    load: str
    slice: str
    state: CellState
    outcome: str
    required: bool
    must_show: bool
    rows: tuple[ComparisonRow, ...]
    acceptance: str

    @property
    def title(self) -> str:
        """The load with its slice: '4 streams', '4 streams · edit, greedy'."""
        return f"{self.load} · {self.slice}" if self.slice else self.load

    def shown(self, most: int = MOST_ROWS) -> tuple[ComparisonRow, ...]:
        """The rows of a short table in their order: those always shown, the gravest first where they are more than `most`."""
        told = {row.metric for row in self.rows if row.state == "FAIL" and not _of_a_part(row)}
        chosen = sorted(self._wanted, key=lambda row: _gravity(row, told))[:most]
        return tuple(row for row in self.rows if row in chosen)

    def passed(self, most: int = MOST_ROWS) -> tuple[ComparisonRow, ...]:
        """The deciding rows that passed and are not shown: 'also passed'."""
        kept = self.shown(most)
        return tuple(row for row in self.rows if row.decides and row.state == "PASS" and row not in kept)

    def left_out(self, most: int = MOST_ROWS) -> tuple[ComparisonRow, ...]:
        """The rows that belong in a short table and did not fit."""
        kept = self.shown(most)
        return tuple(row for row in self._wanted if row not in kept)

    @property
    def _wanted(self) -> tuple[ComparisonRow, ...]:
        return tuple(row for row in self.rows if row.always_shown and row.metric != "acceptance_length")


def load_tables(result: Result) -> tuple[LoadTable, ...]:
    """A table for each load of the result, in its order."""
    return tuple(_table(result, cell) for cell in result.cells)


def _table(result: Result, cell: CellResult) -> LoadTable:
    found = cell.acceptance
    return LoadTable(
        id=cell.id,
        load=numbers.load(cell.axes),
        slice=numbers.slice_name(cell.axes),
        state=cell.state,
        outcome=table_words.cell_state(cell),
        required=cell.required,
        must_show=queries.must_show(cell),
        rows=cell_rows(cell, result.config.success_metric, result.config.alpha),
        acceptance=table_words.acceptance(found.length, found.alpha, cell.factors.step_ratio),
    )


def _of_a_part(row: ComparisonRow) -> bool:
    return row.finding is not None and IN_A_PART in row.finding.notes


def _gravity(row: ComparisonRow, told: Set[str]) -> int:
    """What a short table keeps first: the gain, TPOT, ITL, what decides and failed, the always shown, the open, the rest.

    A part of the traffic comes after what its whole load failed, and adds little where that is the same metric, one of `told`.
    """
    part = _of_a_part(row)
    if row.role == "success" or (row.metric in ALWAYS and not part):
        return 0
    if part and row.metric in told:
        return 4
    if not part and row.decides and row.state == "FAIL":
        return 1
    return 2 if row.core else 3 if row.decides else 4
