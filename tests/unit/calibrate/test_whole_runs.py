"""Campaigns of whole runs are fixed by their number, and known effects end as they should in a handful of them."""

import pytest

from specbench.calibrate import whole_runs
from specbench.calibrate.whole_runs import BINS, LEVELS, steps_of


def test_a_block_has_both_minima_of_the_standard_profile() -> None:
    """30 requests take longer than 200 steps at one stream, and 200 steps hold more than 30 requests at sixteen."""
    assert steps_of(1, (24, 40)) == 30 * (32 + 11)
    assert steps_of(16, (24, 40)) == 200


def test_the_default_matrix_has_twelve_cells() -> None:
    """3 bins x 4 concurrencies."""
    assert len(BINS) * len(LEVELS) == 12


def test_a_campaign_is_fixed_by_its_number() -> None:
    """The same number gives the same outcome, another one another run."""
    first, again, other = whole_runs.itl(0), whole_runs.itl(0), whole_runs.itl(1)

    assert first == again
    assert first["itl_p95_ratio"] != other["itl_p95_ratio"]


def test_a_win_that_ends_at_some_load_is_capped_there() -> None:
    """Steps 30 % longer at 16 streams after wins up to 8."""
    outcome = whole_runs.cap_clear(0)

    assert (outcome["verdict"], outcome["cap"]) == ("CAPPED", 8)
    assert outcome["states"]["output_tps"] == {"PASS": 3, "FAIL": 1}


def test_looking_stops_a_clear_harm_early_and_a_win_from_half_the_budget_on() -> None:
    """Steps twice as long end at the first look, after 4 pairs of 10; a clear win not before 6."""
    assert whole_runs.until_twice(0) == {"verdict": "ROLLBACK", "pairs": 4, "looks": 1}

    win = whole_runs.until_win(0)
    assert win["verdict"] == "PROMOTE"
    assert win["pairs"] >= 6


@pytest.mark.slow
def test_equal_arms_hold_and_a_true_win_is_promoted_over_twelve_cells() -> None:
    """One run of each of the two campaigns on the default matrix; the table has a thousand."""
    assert whole_runs.matrix_aa(0)["verdict"] == "HOLD"
    assert whole_runs.matrix_win(0)["verdict"] == "PROMOTE"


def test_the_order_of_facts_changes_nothing() -> None:
    """The same facts turned round give the same bytes."""
    assert whole_runs.determinism(0) == {"same_bytes": True}


def test_a_longer_step_after_a_rejection_is_no_reason_to_roll_back() -> None:
    """Alpha .5 to .7, steps 20 to 35 % longer, TPOT ratio at most .6: ITL p95 is up, and no verdict is ROLLBACK."""
    outcomes = [whole_runs.itl(index) for index in range(6)]

    assert [outcome["itl_blamed"] for outcome in outcomes] == [False] * 6
    assert "ROLLBACK" not in {outcome["verdict"] for outcome in outcomes}
    assert all(outcome["itl_p95_ratio"] > 1.05 for outcome in outcomes)
