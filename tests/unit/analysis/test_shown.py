"""A block over time: nothing is lost between slots, and both arms show the same pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.shown import course_of, timeline_of, timelines_of
from specbench.model.records import Block
from specbench.model.result import PerArm
from specbench.model.shown import BlockSample
from tests.support.records import a_block, a_record

BLOCK = a_block(window_ms=(1000.0, 4000.0))


def test_tokens_and_requests_fall_into_their_slots() -> None:
    """Four slots of a second: a request of two seconds is in flight in two of them, its tokens where they arrived."""
    records = [
        a_record([500, 1500], [2, 3], sent_ms=0.0),
        a_record([250], [4], sent_ms=3000.0, index=1),
    ]
    found = timeline_of(BLOCK, records, slots=4)
    assert (found.slot_s, found.window_open_s, found.arm) == (1.0, 1.0, "baseline")
    assert found.tokens_per_s == (2.0, 3.0, 0.0, 4.0)
    assert found.in_flight == pytest.approx((1.0, 0.5, 0.0, 0.25))


@given(st.lists(st.tuples(st.integers(0, 3000), st.lists(st.integers(1, 900), min_size=1, max_size=5)), min_size=1, max_size=8))
def test_no_token_is_lost_and_none_comes_twice(asked: list[tuple[int, list[int]]]) -> None:
    """However requests overlap, slots times rates add up to the tokens stamped up to the window's end."""
    records = [a_record(sorted(events), sent_ms=float(sent), index=index) for index, (sent, events) in enumerate(asked)]
    found = timeline_of(BLOCK, records)
    inside = sum(1 for record in records for event in record.event_ns if record.sent_ns + event <= 4_000_000_000)
    assert sum(found.tokens_per_s) * found.slot_s == pytest.approx(inside)
    assert max(found.in_flight) <= len(records) + 1e-9


def test_both_arms_show_the_middle_pair_that_both_have() -> None:
    """A pair whose window never opened in one arm is passed over; without any pair there is nothing to show."""
    arms = PerArm(
        tuple(a_block(pair) for pair in range(4)),
        tuple(a_block(pair, arm="speculative", window_ms=None if pair == 2 else (0.0, 60_000.0)) for pair in range(4)),
    )
    records = PerArm(
        tuple(a_record([10], block=f"baseline-{pair}") for pair in range(4)),
        tuple(a_record([10], block=f"speculative-{pair}") for pair in range(4)),
    )
    assert [(one.arm, one.pair) for one in timelines_of(arms, records)] == [("baseline", 1), ("speculative", 1)]
    assert timelines_of(PerArm(arms.baseline, ()), records) == ()


def test_the_course_of_a_run_has_a_point_for_each_block() -> None:
    """Acceptance belongs to the speculative arm, the generator's lag to both; an unknown pair has none."""
    arms: PerArm[tuple[Block, ...]] = PerArm(
        (a_block(1), a_block(0)), (a_block(0, arm="speculative"), a_block(1, arm="speculative"))
    )

    found = course_of(arms, {0: 3.25})

    assert [(one.block, one.acceptance_length) for one in found] == [
        ("baseline-0", None),
        ("baseline-1", None),
        ("speculative-0", 3.25),
        ("speculative-1", None),
    ]
    assert found[0] == BlockSample(
        arm="baseline",
        block="baseline-0",
        pair=0,
        acceptance_length=None,
        read_lag_ms_p99=0.05,
        send_delay_ms_p95=0.2,
    )
