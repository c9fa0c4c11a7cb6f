"""Loads of one slice side by side: which rows their table shows, and where bars lie."""

from dataclasses import replace

import pytest

from specbench.report.view.load_groups import interval_bar, load_groups
from specbench.report.view.load_tables import load_tables
from tests.support.results import capped, hold, sliced, twice_judged


def test_a_mixed_matrix_is_one_group_and_each_slice_one_of_its_own() -> None:
    """Loads ascend in each, whatever the order of the result; the group of the primary cell comes first."""
    backwards = replace(capped(), cells=tuple(reversed(capped().cells)))
    (group,) = load_groups(backwards, load_tables(backwards))
    slices = load_groups(sliced(), load_tables(sliced()))

    assert [table.load for table in group.tables] == ["1 stream", "4 streams", "16 streams"]
    assert [one.slice for one in slices] == ["complete, greedy", "creative, greedy"]


def test_the_common_table_has_what_decides_somewhere() -> None:
    """In the order of every table; what nobody judges and nobody needs is left to the loads' own tables."""
    (group,) = load_groups(capped(), load_tables(capped()))
    titles = [row.title for row in group.numbers]

    assert titles[:3] == ["TPOT p50, ms", "TPOT p95, ms", "ITL p50, ms"]
    assert {"pace p95, ms", "E2E p95, ms", "output tok/s"} <= set(titles)
    assert "requests/s" not in titles
    assert all(len(row.cells) == 3 for row in group.numbers)


def test_two_limits_on_one_metric_are_two_rows() -> None:
    """So that none hides the other."""
    (group,) = load_groups(twice_judged(), load_tables(twice_judged()))
    (marks,) = [[cell.mark for row in group.numbers for cell in row.cells if cell and cell.metric == "tpot_p50"]]

    assert marks == ["✓", "✗"]


def test_nothing_is_capped_where_nothing_or_everything_is_enabled() -> None:
    """A HOLD has no range."""
    (group,) = load_groups(hold(), load_tables(hold()))

    assert group.cap == ""


@pytest.mark.parametrize(
    ("change", "low", "high", "limit", "places"),
    [
        (0.0, 0.0, 0.0, 0.1, (50.0, 50.0, 50.0)),
        (1.0, 0.0, 3.0, 0.1, (50.0, 100.0, 75.0)),
        (-0.5, -0.75, None, 0.1, (0.0, 100.0, 25.0)),
        (9.0, None, 20.0, 0.1, (0.0, 100.0, 100.0)),
        (-1.0, -1.0, -1.0, 0.1, (0.0, 0.0, 0.0)),
    ],
)
def test_a_bar_reaches_from_a_quarter_to_four_times(
    change: float, low: float | None, high: float | None, limit: float, places: tuple[float, float, float]
) -> None:
    """No change in the middle; what has no end, or lies beyond, is at the edge; past the limit is what fails."""
    row = next(row for row in load_tables(capped())[0].rows if row.metric == "tpot_p95")
    bar = interval_bar(replace(row, change=change, low=low, high=high, limit=limit, bounds="shown"))

    assert bar is not None
    assert (bar.low, bar.high, bar.at) == places
    assert (bar.limit_from, bar.limit_to) == (53.4, 100.0)
    assert interval_bar(replace(row, change=None)) is None
