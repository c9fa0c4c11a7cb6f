"""No case clearly misses what is asked of it; how often each verdict comes is the table's."""

import pytest

from specbench.calibrate.campaigns import WORLD_CASES
from specbench.calibrate.targets import ErrorRate
from specbench.calibrate.world_rows import rows_of
from specbench.calibrate.worlds.world_case import WorldCase, outcome_of

RUNS = 20


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("case", WORLD_CASES, ids=lambda case: case.name)
def test_a_case_misses_no_target_by_more_than_chance(case: WorldCase) -> None:
    """Of 20 runs at most four may end in a verdict that one in twenty may have, and at least twelve as four of five must."""
    rows = rows_of("", case, [outcome_of(case, index) for index in range(RUNS)])
    hits = {row.claim: ErrorRate(int(row.found.split()[0]), row.runs) for row in rows if row.state in ("met", "missed")}
    limits = {row.claim: float(row.asked.split()[2]) / 100 for row in rows if row.state in ("met", "missed")}
    high = {row.claim: row.asked.startswith("at least") for row in rows}

    assert [c for c, rate in hits.items() if (rate.high < limits[c] if high[c] else rate.low > limits[c])] == []
