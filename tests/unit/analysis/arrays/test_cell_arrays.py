"""Records become arrays in the order of pair, block and index, and nothing is lost or invented on the way."""

import numpy as np
import pytest

from specbench.analysis.arrays.cell_arrays import (
    FAILED,
    NOT_REPORTED,
    OUTCOMES,
    PER_REQUEST,
    SET_ASIDE,
    WITHOUT_LATENCY,
    arrays_of,
    select_bin,
)
from specbench.errors import InternalError
from specbench.model.records import SpeculationCounts
from tests.support.records import a_block, a_record, one_block


def test_blocks_and_records_are_sorted_whatever_order_they_come_in() -> None:
    """Pairs ascend, so do indices inside a block, and units hold their own requests."""
    blocks = [a_block(pair) for pair in (7, 3)]
    records = [
        a_record([30.0], block="baseline-7", index=1),
        a_record([20.0], block="baseline-7", index=0),
        a_record([10.0], block="baseline-3", index=0),
    ]

    columns = arrays_of(blocks, records)

    assert columns.pairs == (3, 7)
    assert columns.events.time_ns.tolist() == [10_000_000, 20_000_000, 30_000_000]
    assert columns.first_request.tolist() == [0, 1, 3]
    assert columns.unit_of_requests().tolist() == [0, 1, 1]


def test_event_times_are_absolute_and_latency_counts_from_the_schedule() -> None:
    """Events add the moment of sending; an open-loop request starts when it was scheduled, not when it was sent."""
    record = a_record([10.0], sent_ms=100.0, scheduled_ns=40_000_000)

    columns = one_block(record)

    assert columns.events.time_ns.tolist() == [110_000_000]
    assert columns.start_ns.tolist() == [40_000_000]


def test_untold_counts_are_marked_not_zero() -> None:
    """A count that nobody told is NOT_REPORTED, and a told 0 stays 0."""
    silent = a_record([1.0], output_tokens=None, prompt_tokens=None)
    zero = a_record([1.0], acceptance=SpeculationCounts(rounds=3, drafted=12, accepted=0, per_position=(0, 0, 0, 0)))

    columns = one_block(silent, zero)

    assert columns.output_tokens.tolist() == [NOT_REPORTED, 1]
    assert columns.accepted.tolist() == [NOT_REPORTED, 0]
    assert columns.per_position.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0]]


def test_a_window_that_never_opened_holds_nothing() -> None:
    """No request and no event is inside a steady window that never opened."""
    columns = one_block(a_record([10.0, 20.0]), window_ms=None)

    assert not columns.started_inside().any()
    assert not columns.events.inside.any()


def test_the_window_is_closed_below_and_open_above() -> None:
    """What arrives at the moment of opening is inside, what arrives at the moment of closing is not."""
    columns = one_block(a_record([10.0, 20.0]), window_ms=(10.0, 20.0))

    assert columns.events.inside.tolist() == [True, False]


def test_selecting_a_bin_keeps_its_requests_and_their_events() -> None:
    """A bin's columns are what the columns of its records alone would be, except that the engine's counts are not its own."""
    records = [a_record([1.0, 2.0], bin="short"), a_record([3.0, 5.0, 9.0], bin="long"), a_record([4.0], bin="short")]
    columns = one_block(*records)

    long = select_bin(columns, "long", "greedy")

    assert long.events.time_ns.tolist() == [3_000_000, 5_000_000, 9_000_000]
    assert long.events.request.tolist() == [0, 0, 0]
    assert long.steps.gap_ns.tolist() == [2_000_000, 4_000_000]
    assert long.first_event.tolist() == [0, 3]
    assert (columns.whole, long.whole) == (True, False)
    assert len(select_bin(columns, "no such bin", "greedy").block) == 0


def test_every_outcome_has_exactly_one_meaning() -> None:
    """Success, failure at +inf, ended without a latency, set aside: the four kinds share no outcome and leave none out."""
    kinds: list[frozenset[str]] = [frozenset({"ok"}), frozenset(FAILED), frozenset(WITHOUT_LATENCY), frozenset(SET_ASIDE)]

    assert sum(len(kind) for kind in kinds) == len(OUTCOMES)
    assert frozenset().union(*kinds) == set(OUTCOMES)


def test_records_of_another_block_are_refused() -> None:
    """A record whose block is not given is a broken promise, not a record to drop in silence."""
    with pytest.raises(InternalError, match="baseline-9"):
        arrays_of([a_block(0)], [a_record([1.0], block="baseline-9")])


def test_no_records_make_empty_columns() -> None:
    """Blocks without a single request are laid out too."""
    columns = arrays_of([a_block(0), a_block(1)], [])

    assert columns.first_request.tolist() == [0, 0, 0]
    assert columns.first_event.tolist() == [0]
    assert columns.events.time_ns.dtype == np.int64


def test_every_column_of_requests_is_cut_when_a_bin_is_selected() -> None:
    """A column that selecting forgot would keep the length of the whole cell."""
    columns = one_block(*[a_record([1.0, 2.0], bin=name) for name in ("short", "long", "long")])

    long = select_bin(columns, "long", "greedy")

    per_request = {
        name for name in columns.__slots__ if isinstance(getattr(columns, name), np.ndarray) and len(getattr(columns, name)) == 3
    }
    assert per_request == set(PER_REQUEST)
    assert {len(getattr(long, name)) for name in PER_REQUEST} == {2}
