"""Times of whole requests, on the streams where other tools go wrong."""

from collections.abc import Callable
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.samples import Samples
from specbench.analysis.metrics.latency import classic_tpot, e2e, stall, tpot, ttft
from specbench.model.records import RequestRecord
from tests.support.records import a_record, one_block

SOURCES = (ttft, tpot, classic_tpot, e2e, stall)


def _only(source: Callable[[CellArrays], Samples], *records: RequestRecord) -> list[float]:
    return [round(value, 6) for value in source(one_block(*records)).values.tolist()]


def test_a_speculative_stream_of_uneven_chunks() -> None:
    """C-03: 12 tokens in chunks of 1, 4, 3 and 4 take 90 ms after the first: 8.18 ms a token, not 30."""
    record = a_record([200, 230, 260, 290], [1, 4, 3, 4])

    assert _only(ttft, record) == [200.0]
    assert _only(tpot, record) == [8.181818]
    assert _only(classic_tpot, record) == [8.181818]
    assert _only(e2e, record) == [290.0]
    assert _only(stall, record) == [30.0]


def test_tokens_of_the_first_step_leave_the_denominator() -> None:
    """C-04: four tokens come with the first event; the other twelve take 120 ms. The classic figure divides by 15."""
    record = a_record([500, 540, 580, 620], [4, 4, 4, 4])

    assert _only(tpot, record) == [10.0]
    assert _only(classic_tpot, record) == [8.0]


def test_two_events_of_the_first_read_arrived_together() -> None:
    """S-02: A and B share a stamp, so only C and D took the 60 ms; each holds two tokens."""
    record = a_record([100, 100, 160, 160], [2, 2, 2, 2])

    assert _only(tpot, record) == [15.0]
    assert _only(classic_tpot, record) == [round(60 / 7, 6)]


def test_a_burst_that_is_one_step_counts_as_the_first_step() -> None:
    """llama.cpp sends a verified batch as several events; all of them belong to the first step."""
    record = a_record([100.0, 100.6, 101.2, 140.0], [1, 1, 1, 5], step_events=(3, 1))

    assert _only(tpot, record) == [8.0]


def test_everything_in_one_read_has_no_time_per_token() -> None:
    """S-10 behind a proxy: 40 tokens at 2260 ms give TTFT and E2E, and no TPOT that would look infinitely fast."""
    record = a_record([2260.0] * 40)

    assert (_only(ttft, record), _only(e2e, record), _only(tpot, record)) == ([2260.0], [2260.0], [])


def test_one_token_answers_do_not_dilute_the_time_per_token() -> None:
    """C-10: a one-token answer has TTFT and E2E; TPOT stays 20, from one request of two."""
    records = a_record([210.0]), a_record([100.0 + 20.0 * token for token in range(8)])

    assert _only(ttft, *records) == [210.0, 100.0]
    assert _only(tpot, *records) == [20.0]


def test_the_time_per_token_is_of_answers_of_eight_tokens_or_more() -> None:
    """Two tokens of one step each are a gap of two steps, which is what ITL says; the classic figure takes them as they come."""
    short, long = a_record([100.0, 120.0], [3, 4]), a_record([100.0, 120.0], [4, 4])

    assert _only(tpot, short, long) == [5.0]
    assert _only(classic_tpot, short, long) == [round(20 / 6, 6), round(20 / 7, 6)]
    assert _only(e2e, short, long) == [120.0, 120.0]


def test_an_empty_answer_has_no_latency() -> None:
    """C-11: TTFTs of 100 and 120 and an empty answer leave two values, none of them 0."""
    records = a_record([100.0]), a_record([120.0]), a_record(outcome="empty_output")

    assert _only(ttft, *records) == [100.0, 120.0]


@pytest.mark.parametrize("source", SOURCES)
def test_a_failed_request_lies_beyond_every_number(source: Callable[[CellArrays], Samples]) -> None:
    """However fast an error came back, and even after first tokens, the request's latency is +inf."""
    records = (
        a_record([3.0, 4.0], outcome="http_error"),
        a_record(outcome="timeout_first_token"),
        a_record([10.0, 30.0], [1, 7]),
    )

    assert sorted(_only(source, *records))[1:] == [inf, inf]


def test_what_is_still_open_at_the_end_has_the_first_token_that_it_got_and_no_end() -> None:
    """Endlessly late where no token came."""
    records = a_record([3.0, 4.0], outcome="unanswered"), a_record(outcome="unanswered"), a_record([*range(10, 171, 20)])

    assert sorted(_only(ttft, *records)) == [3.0, 10.0, inf]
    assert sorted(_only(e2e, *records)) == [170.0, inf, inf]
    assert sorted(_only(tpot, *records)) == [20.0, inf, inf]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("outcome", ["cut", "client_resource", "prompt_too_long"])
def test_a_request_set_aside_is_no_sample(source: Callable[[CellArrays], Samples], outcome: str) -> None:
    """What our own clock or limits ended, or the model's context refused, says nothing about latency."""
    assert _only(source, a_record([10.0, 30.0], outcome=outcome)) == []


@pytest.mark.parametrize("source", SOURCES)
def test_only_requests_that_began_in_the_window_count_and_are_followed_to_their_end(
    source: Callable[[CellArrays], Samples],
) -> None:
    """A request of the ramp is left out; one sent just before the window closes counts whole."""
    ramp = a_record([10.0, 11.0], [7, 1], sent_ms=0.0)
    late = a_record([500.0, 700.0], [7, 1], sent_ms=199.0)

    columns = one_block(ramp, late, window_ms=(100.0, 200.0))

    assert len(source(columns).values) == 1
    assert source(columns).values[0] > 25.0


def test_open_loop_latency_counts_from_the_schedule() -> None:
    """T-06: a request that had to wait 90 ms for its turn and then took 10 waited 100."""
    record = a_record([10.0, 12.0], [7, 1], sent_ms=190.0, scheduled_ns=100_000_000)

    assert _only(ttft, record) == [100.0]
    assert _only(e2e, record) == [102.0]
    assert _only(tpot, record) == [2.0]


def test_a_stall_next_to_a_censored_event_is_not_timed() -> None:
    """The stamp of a censored event is only an upper bound, so neither gap that touches it can be the longest."""
    record = a_record([10.0, 60.0, 60.0, 80.0], censored=(1,))

    assert _only(stall, record) == [20.0]


@given(
    gaps=st.lists(st.integers(1, 10_000_000), min_size=1, max_size=30),
    tokens=st.integers(1, 6),
    scale=st.integers(2, 1000),
)
def test_scaling_time_scales_every_latency(gaps: list[int], tokens: int, scale: int) -> None:
    """A stream that is c times slower has latencies exactly c times as long."""
    moments = [sum(gaps[: i + 1]) / 1e6 for i in range(len(gaps))]
    plain = a_record(moments, [tokens] * len(gaps))
    slow = a_record([moment * scale for moment in moments], [tokens] * len(gaps))
    window = (0.0, 1e9)

    for source in SOURCES:
        before, after = source(one_block(plain, window_ms=window)), source(one_block(slow, window_ms=window))
        assert after.values.tolist() == pytest.approx([value * scale for value in before.values])
