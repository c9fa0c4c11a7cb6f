"""Gaps that could not be timed: how far they could move a percentile, and that it is not told where they could."""

from dataclasses import replace
from math import log
from typing import Any

import pytest

from specbench.analysis.arrays.cell_arrays import CellArrays, arrays_of
from specbench.analysis.comparison.censoring import bins_with_certain_percentiles, open_bounds, with_certain_percentiles
from specbench.analysis.comparison.compare import bin_results, cell_comparisons
from specbench.model.records import RequestRecord
from specbench.model.result import Comparison, PerArm
from tests.support.goldens import same_text
from tests.support.records import a_block, a_record, one_block


def _even(count: int, merged: tuple[int, ...] = (), tokens: int = 1, every_ms: float = 10.0, **fields: Any) -> RequestRecord:
    """Steps every 10 ms from 100 ms on; each merged event has the stamp of the one after it."""
    moments = [100.0 + every_ms * (place + (place in merged)) for place in range(count)]
    return a_record(moments, [tokens] * count, censored=merged, **fields)


def _blocks(*records: RequestRecord) -> CellArrays:
    """One block, and pair, for each record."""
    blocks = [a_block(pair) for pair in range(len(records))]
    return arrays_of(blocks, [replace(record, block=f"baseline-{pair}") for pair, record in enumerate(records)])


def _comparison(baseline: CellArrays, speculative: CellArrays, metric: str) -> Comparison:
    found = with_certain_percentiles(cell_comparisons(baseline, speculative), baseline, speculative)
    return next(each for each in found if each.metric == metric)


def test_where_every_gap_is_timed_nothing_is_open() -> None:
    """The comparisons are those that came in."""
    columns = one_block(_even(200))
    comparisons = cell_comparisons(columns, columns)

    assert open_bounds(columns, "chunk_gap_p99") is None
    assert with_certain_percentiles(comparisons, columns, columns) == comparisons


def test_two_untimed_gaps_of_twenty_milliseconds_are_between_ten_and_twenty() -> None:
    """Their sum is known: the longer is 10 to 20 ms, the other at most 10; alone among them, p99 is open from 10 to 20."""
    columns = one_block(_even(3, merged=(1,)))

    assert open_bounds(columns, "chunk_gap_p99") == pytest.approx((0.99 * 10, 0.99 * 20 + 0.01 * 10))


def test_a_few_untimed_gaps_leave_the_percentiles_as_they_are() -> None:
    """4 of 1,000 gaps: at most two of them can be longer than the 996 of 10 ms, and p99 lets ten be."""
    columns = one_block(_even(1001, merged=(300, 700)))

    assert open_bounds(columns, "chunk_gap_p99") is None
    assert _comparison(columns, columns, "chunk_gap_p99").value == PerArm(10.0, 10.0)


def test_as_many_as_lie_beyond_a_percentile_take_it_away_and_leave_the_lower_ones() -> None:
    """24 of 1,000: twelve can be as long as 20 ms, two more than p99 lets be; p50 and p95 stay."""
    whole, merged = one_block(_even(1001)), one_block(_even(1001, merged=tuple(range(40, 1000, 80))))
    p99 = _comparison(whole, merged, "chunk_gap_p99")

    assert open_bounds(merged, "chunk_gap_p99") == (10.0, 20.0)
    assert (p99.value, p99.ratio, p99.ci_low, p99.bound.speculative) == (PerArm(10.0, None), None, None, None)
    same_text("an open percentile", p99.reason or "")
    assert (p99.alone.value, p99.alone.bound, p99.alone.blocks) == (None, None, 0)
    for metric in ("chunk_gap_p50", "chunk_gap_p95", "itl_p50", "itl_p95"):
        assert _comparison(whole, merged, metric).value == PerArm(10.0, 10.0)


def test_itl_counts_the_tokens_of_the_untimed_steps() -> None:
    """Two of four steps of 5 tokens, 20 ms together: the mean of their ten tokens is 2 ms, one of them could be all of it."""
    columns = one_block(_even(5, merged=(2,), tokens=5))

    assert open_bounds(columns, "itl_p95") is not None
    assert open_bounds(columns, "itl_p50") is None


def test_an_untimed_first_token_may_have_come_any_time_since_the_request() -> None:
    """Read at 110 ms with the second: the gap between them is anything up to the 110 ms since the request was sent."""
    columns = one_block(_even(3, merged=(0,)))
    bounds = open_bounds(columns, "chunk_gap_p99")

    assert bounds == pytest.approx((0.99 * 10, 0.99 * 110 + 0.01 * 10))


def test_an_untimed_event_at_the_windows_edge_may_have_come_any_time_since_the_last_timed_one() -> None:
    """110 ms, then 130 for two events: the window opens at 125, and the gap of 0 inside it may have been 20."""
    columns = one_block(_even(6, merged=(2,)), window_ms=(125.0, 60_000.0))

    assert open_bounds(columns, "chunk_gap_p99") == pytest.approx((10.0, 0.98 * 20 + 0.02 * 10))
    assert open_bounds(columns, "itl_p95") == pytest.approx((10.0, 0.9 * 20 + 0.1 * 10))


def test_several_untimed_events_before_the_window_reach_back_to_the_last_timed_one() -> None:
    """Timed at 100 ms, then three in one read at 130: two of them may have come at 100 already."""
    record = a_record([100, 130, 130, 130, 140], censored=(1, 2))
    columns = one_block(record, window_ms=(125.0, 60_000.0))

    assert open_bounds(columns, "chunk_gap_p99") == pytest.approx((0.98 * 10, 0.98 * 30 + 0.02 * 15))


def test_percentiles_are_taken_block_by_block() -> None:
    """One of two blocks is open from 10 to 20 ms: together they are from 10 to sqrt(10 · 20), whatever their sizes."""
    merged = _even(1001, merged=tuple(range(40, 1000, 80)))
    columns = _blocks(merged, _even(1001))

    assert open_bounds(columns, "chunk_gap_p99") == pytest.approx((10.0, 200**0.5))


def test_one_open_block_among_many_makes_the_interval_wider() -> None:
    """One of eighty open by log 2, their mean by 0.9 %: p99 keeps its value, its error grows by log 2 ÷ sqrt(80 · 79)."""
    merged = _even(1001, merged=tuple(range(40, 1000, 80)))
    others = [_even(1001, every_ms=10.0 + 0.01 * (place % 3)) for place in range(79)]
    whole, hit = _blocks(_even(1001), *[_even(1001)] * 79), _blocks(merged, *others)
    plain = next(each for each in cell_comparisons(whole, hit) if each.metric == "chunk_gap_p99")
    wider = _comparison(whole, hit, "chunk_gap_p99")
    assert plain.se_log is not None
    assert wider.se_log is not None
    assert plain.bound.speculative is not None
    assert wider.bound.speculative is not None

    assert (wider.value, wider.ratio) == (plain.value, plain.ratio)
    assert wider.se_log - plain.se_log == pytest.approx(log(2) / (80 * 79) ** 0.5)
    assert wider.ci_low is not None
    assert wider.ci_high is not None
    assert wider.ci_low < (plain.ci_low or 0) < (plain.ci_high or 0) < wider.ci_high
    assert wider.bound.speculative > plain.bound.speculative
    assert wider.alone.bound == wider.bound.speculative
    same_text("a wider interval", wider.method)


def test_what_lies_outside_the_window_opens_nothing() -> None:
    """Merged while the load was still rising."""
    columns = one_block(_even(100, merged=(1,)), window_ms=(300.0, 60_000.0))

    assert open_bounds(columns, "chunk_gap_p99") is None


def test_a_bin_has_its_own_gaps() -> None:
    """Twelve merged reads in one of two bins: its p99 is open, the other's is not."""
    merged = _even(1001, merged=tuple(range(40, 1000, 80)), bin="merged")
    columns = PerArm(one_block(merged, _even(1001, bin="whole")), one_block(merged, _even(1001, bin="whole")))
    bins = bins_with_certain_percentiles(bin_results(columns.baseline, columns.speculative), columns)

    told = {each.bin: next(m.value.baseline for m in each.metrics if m.metric == "chunk_gap_p99") for each in bins}
    assert told == {"merged": None, "whole": 10.0}
