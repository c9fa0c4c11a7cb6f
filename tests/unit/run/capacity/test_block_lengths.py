"""How the minutes of a search become blocks."""

import pytest

from specbench.errors import ScenarioError
from specbench.run.capacity.block_lengths import lengths_for, of_length, seconds_for
from tests.support.evidence import a_scenario


def test_an_hour_gives_each_arm_eight_blocks_of_150_seconds() -> None:
    found = lengths_for(60.0)
    assert (found.blocks, found.block_s, found.probe_s) == (8, 150.0, 75.0)
    assert 3500 < 2 * (20 + 7 * (75 + 3) + 8 * (150 + 3)) < 3600


def test_more_minutes_give_more_blocks_and_no_longer_ones() -> None:
    found = lengths_for(120.0)
    assert found.block_s == 150
    assert found.blocks > 14


def test_few_minutes_give_short_blocks() -> None:
    assert lengths_for(5.0).block_s < 10


@pytest.mark.parametrize("minutes", [3.9, 0.0, -1.0, float("nan")])
def test_too_few_minutes_are_refused(minutes: float) -> None:
    with pytest.raises(ScenarioError, match="--minutes"):
        lengths_for(minutes)


def test_a_block_at_a_low_rate_lasts_until_some_requests_count() -> None:
    assert seconds_for(0.1, 60.0) == pytest.approx(150)
    assert seconds_for(10.0, 60.0) == 60.0


def test_a_block_has_a_fifth_of_ramp_and_ends_by_time_alone() -> None:
    block = of_length(a_scenario(), 150.0).matrix.block
    assert (block.ramp_s, block.min_s, block.max_s, block.min_requests) == (30.0, 120.0, 120.0, 0)


def test_a_request_may_take_as_long_as_the_block_and_never_less_than_ten_seconds() -> None:
    assert of_length(a_scenario(), 150.0).matrix.limits.total_s == 150.0
    short = of_length(a_scenario(), 5.0).matrix.limits
    assert (short.first_token_s, short.stall_s, short.total_s) == (10.0, 10.0, 10.0)
