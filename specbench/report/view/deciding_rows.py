"""The few rows on which a verdict rests, for comments and build logs; and each finding's row. Choices, nothing else."""

from collections.abc import Sequence

from specbench.explain.brief.row_line import open_line, row_line
from specbench.model import queries
from specbench.model.result import Finding, Result
from specbench.report.view.comparison_rows import ComparisonRow, run_rows
from specbench.report.view.first_screen import row_texts
from specbench.report.view.load_tables import LoadTable, load_tables

MOST = 6
OF_A_LOAD = 3  # failed or open rows of one load


def deciding_rows(result: Result, tables: Sequence[LoadTable]) -> tuple[tuple[LoadTable, ComparisonRow], ...]:
    """The gain and the ITL where the gain must show, then what failed or else is open, load by load, six in all."""
    first = queries.primary(result)
    chosen: list[tuple[LoadTable, ComparisonRow]] = []
    for table in tables:
        own = first is not None and table.id == first.id
        bad = [row for row in table.rows if row.decides and row.state == "FAIL" and row.role != "success"]
        waiting = [row for row in table.rows if row.decides and row.state not in ("PASS", "FAIL") and row.role != "success"]
        core = [row for row in table.rows if own and (row.role == "success" or row.metric == "itl_p95")]
        rest = sorted(bad or waiting, key=lambda row: not row.core)[:OF_A_LOAD]
        chosen += [(table, row) for row in table.rows if row in core or row in rest]
    return tuple(chosen[:MOST])


def rows_by_finding(result: Result) -> dict[int, ComparisonRow]:
    """The row of each finding, by the finding's `id`."""
    found = [row for table in load_tables(result) for row in table.rows] + list(run_rows(result))
    return {id(row.finding): row for row in found if row.finding is not None}


def line_of(finding: Finding, row: ComparisonRow | None) -> str:
    """The finding in one short line: its row, or its reason where it has none."""
    if row is None:
        return finding.reason
    line = row_line(row_texts(row), finding.reason, finding.role)
    return open_line(line, row.pairs_needed) if finding.state == "INCONCLUSIVE" and line != finding.reason else line
