"""Three sources of what was drafted and kept, best first, and none that is made up."""

import pytest

from specbench.analysis.arrays.cell_arrays import select_bin
from specbench.analysis.metrics.acceptance import acceptance_of
from specbench.analysis.metrics.speculation_counts import COUNTERS, NOWHERE, PER_REQUEST, STREAM
from specbench.model.records import RequestRecord, SpeculationCounts, Telemetry
from tests.support.goldens import same_text
from tests.support.records import a_record, blocks_of


def _counted(rounds: int, drafted: int | None, accepted: int, positions: tuple[int, ...] | None = None) -> SpeculationCounts:
    return SpeculationCounts(rounds=rounds, drafted=drafted, accepted=accepted, per_position=positions)


def _request(acceptance: SpeculationCounts | None, bin_name: str = "short") -> RequestRecord:
    return a_record([10.0, 20.0, 30.0], [1, 3, 2], acceptance=acceptance, bin=bin_name)


def test_counter_differences_serve_where_requests_tell_nothing() -> None:
    """The engine's counters over each block are summed over blocks."""
    telemetry = Telemetry(acceptance=_counted(50, 200, 110))

    summary = acceptance_of(blocks_of("speculative", [[_request(None)], [_request(None)]], telemetry))

    assert (summary.source, summary.rounds) == (COUNTERS, 100)
    assert summary.length == pytest.approx(3.2)
    assert summary.alpha is None
    assert summary.reason is not None
    same_text("counters without positions", summary.reason)


def test_requests_own_counts_come_before_counters() -> None:
    """Per-request counts leave out the ramp and foreign traffic, so they win."""
    telemetry = Telemetry(acceptance=_counted(50, 200, 0))

    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(2, 8, 3))]], telemetry))

    assert (summary.source, summary.rounds) == (PER_REQUEST, 2)


def test_a_counter_that_was_reset_is_not_used() -> None:
    """M-03: differences across a restart are no counts."""
    telemetry = Telemetry(acceptance=_counted(50, 200, 110), reset=True)

    assert acceptance_of(blocks_of("speculative", [[_request(None)]], telemetry)).source == STREAM


def test_the_stream_serves_where_nobody_counts() -> None:
    """Two decode steps brought 3 and 2 tokens: 2.5 a step, as the arm is said to speculate; nothing is known of the drafted."""
    summary = acceptance_of(blocks_of("speculative", [[_request(None)]], speculates=True))

    assert summary.source == STREAM
    assert (summary.length, summary.rate, summary.alpha) == (2.5, None, None)


def test_single_tokens_everywhere_are_no_acceptance_of_zero() -> None:
    """M-05: an arm that shows no sign of speculation has no acceptance, and the reason says so."""
    summary = acceptance_of(blocks_of("baseline", [[a_record([10.0, 20.0])]]))

    assert (summary.length, summary.rate, summary.source) == (None, None, NOWHERE)
    assert summary.reason is not None
    same_text("single tokens", summary.reason)


def test_a_bin_does_not_borrow_the_counters_of_the_whole_block() -> None:
    """Counters cannot be split by bin; the stream can."""
    telemetry = Telemetry(acceptance=_counted(50, 200, 110))
    columns = blocks_of("speculative", [[_request(None, "short"), _request(None, "long")]], telemetry)

    assert acceptance_of(columns).source == COUNTERS
    assert acceptance_of(select_bin(columns, "long", "greedy")).source == STREAM


def test_requests_that_failed_or_began_outside_the_window_do_not_count() -> None:
    """Only successful requests of the steady window are behind the figure."""
    kept = _request(_counted(10, 40, 20))
    failed = a_record([10.0], acceptance=_counted(10, 40, 0), outcome="disconnected")
    early = a_record([10.0], acceptance=_counted(10, 40, 0), sent_ms=-5.0)

    assert acceptance_of(blocks_of("speculative", [[kept, failed, early]])).rounds == 10


@pytest.mark.parametrize(
    "reason",
    [
        "http_403: the metrics page wants a key, or another one",
        "unreachable: ConnectError: Connection refused",
        "mixed_replicas: one URL was answered by different processes; list every replica's own metrics URL",
    ],
)
def test_counters_that_could_not_be_read_are_the_reason(reason: str) -> None:
    """N-22: a page that refused says nothing about speculation."""
    single = a_record([10.0, 20.0, 30.0], [1, 1, 1])
    telemetry = Telemetry(absent={"acceptance": reason})

    assert acceptance_of(blocks_of("baseline", [[single]], telemetry)).reason == reason


def test_rounds_without_what_they_accepted_are_no_sign_of_nothing() -> None:
    """SGLang counts rounds only: ten of them, and no word of accepted tokens."""
    telemetry = Telemetry(acceptance=SpeculationCounts(rounds=10, drafted=None, accepted=None, per_position=None))
    summary = acceptance_of(blocks_of("speculative", [[a_record([10.0, 20.0, 30.0], [1, 1, 1])]], telemetry))

    assert summary.length is None
    same_text("rounds without accepted tokens", str(summary.reason))


def test_an_engine_without_such_counters_shows_no_sign() -> None:
    """What it does not have was not refused."""
    telemetry = Telemetry(absent={"acceptance": "not_exposed: no series vllm:spec_decode_num_draft_tokens"})
    single = a_record([10.0, 20.0, 30.0], [1, 1, 1])

    assert "no sign of speculation" in str(acceptance_of(blocks_of("baseline", [[single]], telemetry)).reason)
