"""Rows of the table: a share with its exact interval, and whether it meets its target."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.calibrate.targets import ErrorRate, at_least, at_most, percent


def test_intervals_are_exact() -> None:
    """Clopper and Pearson: no event in 60 leaves up to 6.0 %, 50 of 1,000 are 3.7 to 6.5 %, all of 20 at least 83.2 %."""
    assert ErrorRate(0, 60).high == pytest.approx(1 - 0.025 ** (1 / 60))
    assert (ErrorRate(50, 1000).low, ErrorRate(50, 1000).high) == pytest.approx((0.0373, 0.0654), abs=1e-4)
    assert (ErrorRate(20, 20).low, ErrorRate(20, 20).high) == pytest.approx((0.025 ** (1 / 20), 1.0))
    assert (ErrorRate(0, 60).low, percent(0.05), percent(0.0125)) == (0.0, "5 %", "1.2 %")


def test_a_row_is_met_by_the_share_and_where_asked_by_the_end_of_its_interval() -> None:
    """5 % of 100 runs meets 5 %, but not an upper end of 7 %; 5 % of 5,000 meets both; nothing run is not a pass."""
    assert at_most("", "", ErrorRate(5, 100), 0.05).state == "met"
    assert at_most("", "", ErrorRate(5, 100), 0.05, 0.07).state == "missed"
    assert at_most("", "", ErrorRate(250, 5000), 0.05, 0.07).state == "met"
    assert at_most("", "", ErrorRate(51, 1000), 0.05).state == "missed"
    assert at_least("", "", ErrorRate(9, 10), 0.9).state == "met"
    assert at_least("", "", ErrorRate(8, 10), 0.9).state == "missed"
    assert at_most("", "", None, 0.05).state == at_least("", "", None, 0.9).state == "not run"


@given(st.integers(1, 2000), st.floats(0.0, 1.0))
def test_an_interval_holds_its_share_and_mirrors_that_of_the_misses(runs: int, part: float) -> None:
    """The interval of what did not happen is 1 minus that of what did."""
    hits = round(part * runs)
    share, misses = ErrorRate(hits, runs), ErrorRate(runs - hits, runs)

    assert 0.0 <= share.low <= share.value <= share.high <= 1.0
    assert (misses.low, misses.high) == pytest.approx((1 - share.high, 1 - share.low), abs=1e-9)
