"""Counts and rates of whole blocks, over the right window and the right requests."""

import numpy as np
import pytest

from specbench.analysis.arrays.cell_arrays import CellArrays, select_bin
from specbench.analysis.arrays.samples import Totals
from specbench.analysis.metrics.registry import SOURCES
from specbench.analysis.metrics.throughput import completed_rps, error_rate, output_length, output_tps
from specbench.model.records import Telemetry
from tests.support.goldens import same_text
from tests.support.records import a_record, blocks_of, one_block


def test_tokens_are_credited_when_they_arrive() -> None:
    """T-08 in small: a steady window of one second holds 10 of the 14 tokens, whenever their requests began or ended."""
    ramp = a_record([500.0, 1000.0, 1500.0], [1, 4, 4], sent_ms=0.0)
    drain = a_record([900.0, 1200.0], [2, 3], sent_ms=999.0)

    tps = output_tps(one_block(ramp, drain, window_ms=(1000.0, 2000.0)))

    assert tps.by_unit().tolist() == [10.0]


def test_what_a_failed_answer_brought_is_no_output() -> None:
    """C-09: partial tokens of a failed answer are not in the throughput; those of one that our clock cut are."""
    failed = a_record([100.0, 150.0], outcome="in_band_error")
    cut = a_record([100.0, 150.0, 200.0], outcome="cut")

    assert output_tps(one_block(failed, cut, window_ms=(0.0, 1000.0))).by_unit().tolist() == [3.0]


def test_a_request_counts_by_the_share_of_its_tokens_inside_the_window() -> None:
    """One whole request and one with 1 of 4 tokens inside are 1.25 requests in one second."""
    whole = a_record([100.0, 200.0])
    part = a_record([900.0, 1100.0], [1, 3])

    assert completed_rps(one_block(whole, part, window_ms=(0.0, 1000.0))).by_unit().tolist() == [1.25]


def test_only_successful_requests_are_completed() -> None:
    """A truncated stream completes nothing, and neither does an empty answer."""
    records = a_record([100.0], outcome="truncated_stream"), a_record(outcome="empty_output"), a_record([100.0], outcome="cut")

    assert completed_rps(one_block(*records, window_ms=(0.0, 1000.0))).by_unit().tolist() == [0.0]


def test_errors_are_a_share_of_the_requests_that_ended_by_themselves() -> None:
    """T-02: 5 of 30 failed is 16.7 %; what we cut or were not able to send is in neither number."""
    good = [a_record([1000.0])] * 25
    bad = [a_record(outcome="http_error")] * 3 + [a_record(outcome="truncated_stream"), a_record(outcome="empty_output")]
    aside = [a_record(outcome="cut"), a_record(outcome="client_resource"), a_record(outcome="prompt_too_long")]

    errors = error_rate(one_block(*good, *bad, *aside))

    assert (errors.numerator.tolist(), errors.denominator.tolist()) == ([5.0], [30.0])


def test_a_failure_counts_whenever_it_happens() -> None:
    """A request that failed in the ramp, before the window opened, is an error all the same."""
    errors = error_rate(one_block(a_record(outcome="disconnected", sent_ms=1.0), window_ms=None))

    assert errors.by_unit().tolist() == [1.0]


def test_answer_length_is_of_successful_answers_whose_length_was_told() -> None:
    """Failures and untold lengths do not shorten the mean."""
    records = (
        a_record([1.0], output_tokens=64),
        a_record([1.0], output_tokens=32),
        a_record([1.0], output_tokens=None),
        a_record([1.0], output_tokens=1, outcome="disconnected"),
    )

    assert output_length(one_block(*records)).by_unit().tolist() == [48.0]


def test_a_block_without_a_window_has_no_rate() -> None:
    """No window, no length to divide by: no value rather than 0."""
    columns = one_block(a_record([1.0]), window_ms=None)

    assert np.isnan(output_tps(columns).by_unit()).all()
    assert np.isnan(completed_rps(columns).by_unit()).all()


TOLD = Telemetry(preemptions=3, queue_time_s_mean=0.25, kv_usage_peak=0.8, memory_bytes_peak=1000, oom_events=1, restarts=0)


def told(source: str, columns: CellArrays) -> Totals:
    """What the metric's row makes of these blocks."""
    found = SOURCES[source](columns)
    assert isinstance(found, Totals)
    return found


@pytest.mark.parametrize(
    ("source", "value"),
    [("preemptions", 3.0), ("queue_time", 250.0), ("kv_peak", 0.8), ("memory", 1000.0), ("oom", 1.0), ("restarts", 0.0)],
)
def test_what_the_engine_tells_is_passed_on(source: str, value: float) -> None:
    """Gauges and counters of a block are its values, times in milliseconds; a told 0 is 0."""
    assert told(source, one_block(a_record([1.0]), telemetry=TOLD)).by_unit().tolist() == [value]


@pytest.mark.parametrize("source", ["preemptions", "queue_time", "kv_peak", "memory", "oom", "restarts"])
def test_what_the_engine_is_silent_about_is_absent_with_a_reason(source: str) -> None:
    """Silence is not 0, and the reason is the scraper's own where it gave one."""
    silent = told(source, one_block(a_record([1.0]), telemetry=Telemetry()))
    bins = told(source, select_bin(one_block(a_record([1.0]), telemetry=TOLD), "short", "greedy"))

    assert np.isnan(silent.by_unit()).all()
    assert silent.reason is not None
    assert bins.reason is not None
    same_text("silence", silent.reason)
    same_text("a bin", bins.reason)


def test_the_reason_of_absence_is_the_one_that_was_noted() -> None:
    """M-05: '501 without --metrics' reaches the reader, without the word for scripts."""
    telemetry = Telemetry(absent={"kv_usage_peak": "http_501: the metrics page is switched off"})

    assert told("kv_peak", blocks_of("baseline", [[], []], telemetry)).reason == "the metrics page is switched off"
