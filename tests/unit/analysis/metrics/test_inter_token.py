"""Times between tokens: four readings of one stream, each for its own question."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.samples import Samples
from specbench.analysis.metrics.inter_token import chunk_gap, itl, pace, step_time, tokens_per_step
from tests.support.goldens import same_text
from tests.support.records import a_record, blocks_of, one_block


def _values(source: Callable[[CellArrays], Samples], columns: CellArrays) -> list[float]:
    return [round(value, 6) for value in source(columns).values.tolist()]


def test_uneven_chunks_spread_their_gap_over_their_tokens() -> None:
    """C-03: chunk gaps are 30 ms each; the reader's tokens came at 7.5, 10 and 7.5 ms."""
    columns = blocks_of("speculative", [[a_record([200, 230, 260, 290], [1, 4, 3, 4])]], speculates=True)

    assert _values(chunk_gap, columns) == [30.0, 30.0, 30.0]
    assert _values(itl, columns) == [7.5] * 4 + [10.0] * 3 + [7.5] * 4
    assert float(np.quantile(itl(columns).values, 0.5)) == 7.5
    assert tokens_per_step(columns).by_unit().tolist() == [11 / 3]
    assert step_time(columns).by_unit().tolist() == [30.0]


def test_a_burst_is_one_step_for_itl_and_several_chunks_for_gaps() -> None:
    """Three events within a millisecond are one verification of three tokens: 20 ms ÷ 3 each, counted from burst to burst."""
    columns = one_block(a_record([100.0, 119.0, 119.5, 120.0], step_events=(1, 3)))

    assert _values(chunk_gap, columns) == [19.0, 0.5, 0.5]
    assert _values(itl, columns) == [6.666667] * 3


def test_pace_is_the_time_for_the_next_eight_tokens() -> None:
    """Ten single tokens 10 ms apart with one stall of 50: two windows, and the stall is shared by the eight tokens it delays."""
    moments = [10.0 * i + (40.0 if i >= 5 else 0.0) for i in range(10)]

    assert _values(pace, one_block(a_record(moments))) == [15.0, 15.0]


def test_pace_evens_out_steps_of_several_tokens() -> None:
    """Four tokens every 40 ms read like one every 10 ms; inside a step the window starts where its token arrived."""
    columns = one_block(a_record([0.0, 40.0, 80.0, 120.0], [4, 4, 4, 4]))

    assert _values(pace, columns) == [10.0] * 8


def test_an_answer_of_eight_tokens_has_no_pace() -> None:
    """A window needs a token to start from and eight to come."""
    assert _values(pace, one_block(a_record([float(i) for i in range(8)]))) == []


def test_windows_and_gaps_do_not_cross_requests() -> None:
    """The last token of one request and the first of the next have no gap between them."""
    columns = one_block(a_record([1.0, 2.0]), a_record([5.0, 6.0]))

    assert _values(chunk_gap, columns) == [1.0, 1.0]
    assert _values(itl, columns) == [1.0, 1.0]


@pytest.mark.parametrize("outcome", ["ok", "cut", "stalled"])
def test_a_token_interval_counts_whatever_became_of_its_request(outcome: str) -> None:
    """Intervals inside the window are what readers saw, also of a request that was cut or failed later."""
    assert _values(chunk_gap, one_block(a_record([1.0, 3.0], outcome=outcome))) == [2.0]


def test_an_interval_counts_only_with_both_ends_inside_the_window() -> None:
    """The gap across the opening and the gap across the closing are left out; the request may have begun earlier."""
    columns = one_block(a_record([5.0, 15.0, 25.0, 35.0]), window_ms=(10.0, 30.0))

    assert _values(chunk_gap, columns) == [10.0]
    assert _values(itl, columns) == [10.0]


def test_a_censored_event_spoils_gaps_but_not_totals() -> None:
    """Gaps that touch it stay out of gap and ITL percentiles; step time and pace use the stamps as they are."""
    moments = [10.0, 20.0, 40.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    columns = one_block(a_record(moments, censored=(2,)))

    assert _values(chunk_gap, columns) == [10.0] * 6
    assert _values(itl, columns) == [10.0] * 6
    assert step_time(columns).by_unit().tolist() == [10.0]
    assert _values(pace, columns) == [10.0]


def test_tokens_per_step_is_unknown_where_events_are_only_counted() -> None:
    """C-07: where nobody tells the tokens of an event, one per event is no measurement."""
    told = tokens_per_step(one_block(a_record([1.0, 2.0], token_source="events")))

    assert np.isnan(told.by_unit()).all()
    same_text("events only counted", told.reason or "")


def test_values_stay_with_their_unit() -> None:
    """Each pair's samples lie in its own slice, for every source, also where a pair has none."""
    columns = blocks_of("baseline", [[a_record([float(i) for i in range(10)])], [], [a_record([2.0 * i for i in range(10)])]])

    for source, first, last in ((chunk_gap, 9, 9), (itl, 9, 9), (pace, 2, 2)):
        samples = source(columns)
        assert samples.counts().tolist() == [first, 0, last]
        assert set(samples.of_unit(0).tolist()) == {1.0}
        assert set(samples.of_unit(2).tolist()) == {2.0}


STREAM = st.lists(st.tuples(st.integers(0, 5_000_000), st.integers(0, 5)), min_size=1, max_size=40)


@given(stream=STREAM)
def test_gaps_sum_to_last_minus_first(stream: list[tuple[int, int]]) -> None:
    """No time is lost between events, nor between the steps that brought tokens."""
    moments = [sum(gap for gap, _ in stream[: i + 1]) / 1e6 for i in range(len(stream))]
    tokens = [count for _, count in stream]
    columns = one_block(a_record(moments, tokens))
    bearing = [moment for moment, count in zip(moments, tokens, strict=True) if count]

    assert chunk_gap(columns).values.sum() == pytest.approx(moments[-1] - moments[0], abs=1e-9)
    assert itl(columns).values.sum() == pytest.approx(bearing[-1] - bearing[0] if bearing else 0.0, abs=1e-9)
    assert step_time(columns).numerator.sum() == pytest.approx(bearing[-1] - bearing[0] if bearing else 0.0, abs=1e-9)


@given(stream=STREAM)
def test_pace_agrees_with_its_definition(stream: list[tuple[int, int]]) -> None:
    """Token by token: the moment of token j + 8 minus the moment of token j, divided by 8."""
    moments = [sum(gap for gap, _ in stream[: i + 1]) / 1e6 for i in range(len(stream))]
    arrival = [moment for moment, (_, count) in zip(moments, stream, strict=True) for _ in range(count)]
    expected = [(arrival[j + 8] - arrival[j]) / 8 for j in range(len(arrival) - 8)]

    columns = one_block(a_record(moments, [count for _, count in stream]))

    assert pace(columns).values.tolist() == pytest.approx(expected, abs=1e-9)
