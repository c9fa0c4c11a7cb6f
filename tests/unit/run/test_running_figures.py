"""Figures so far: of each request, and of the block's steady window."""

from dataclasses import replace
from typing import Any

import pytest

from specbench.model.records import RequestRecord, SpeculationCounts
from specbench.run.running_figures import Pulse, PulseCounter, RequestFigures, request_figures, running_figures, tokens_per_s
from tests.support.records import a_record


def record(**fields: Any) -> RequestRecord:
    """A record with these fields."""
    return replace(a_record(), **{"step_events": None, "censored": (), **fields})


MS = 1_000_000


def test_time_per_token_leaves_out_the_first_step() -> None:
    """Three steps of 2, 2 and 4 tokens, 20 ms apart: 40 ms for the 6 tokens after the first step."""
    found = record(event_ns=(50 * MS, 70 * MS, 90 * MS), event_tokens=(2, 2, 4), sent_ns=1_000 * MS)

    assert request_figures(found) == RequestFigures(1_050 * MS, 1_090 * MS, 8, 40 / 6)
    assert request_figures(replace(found, step_events=(2, 1))) == RequestFigures(1_050 * MS, 1_090 * MS, 8, 10.0)


@pytest.mark.parametrize("changed", [{"outcome": "http_error"}, {"event_ns": (), "event_tokens": ()}])
def test_a_request_without_text_has_no_figures(changed: dict[str, object]) -> None:
    """It failed, or brought no event."""
    found = record(event_ns=(50 * MS, 70 * MS), event_tokens=(1, 1))

    assert request_figures(replace(found, **changed)) is None  # type: ignore[arg-type]


def test_one_chunk_has_no_time_per_token() -> None:
    """All tokens came at once."""
    found = request_figures(record(event_ns=(50 * MS,), event_tokens=(9,)))

    assert found is not None
    assert (found.tokens, found.tpot_ms) == (9, None)


def test_tokens_count_by_their_share_inside_the_window() -> None:
    """Of 100 tokens spread over 2 s half fall into a window of 1 s; those of one moment count whole or not at all."""
    spread = RequestFigures(0, 2_000 * MS, 100, 20.0)
    inside, outside = RequestFigures(1_500 * MS, 1_500 * MS, 7, None), RequestFigures(500 * MS, 500 * MS, 7, None)

    assert tokens_per_s([spread], 1_000 * MS, 2_000 * MS) == 50.0
    assert tokens_per_s([inside, outside], 1_000 * MS, 2_000 * MS) == 7.0
    assert tokens_per_s([spread], None, None) is None


def test_a_blocks_figures_are_medians_of_its_requests() -> None:
    """And how many ended well and badly."""
    found = [RequestFigures(0, 1_000 * MS, 10, value) for value in (5.0, 9.0, 7.0)]

    assert running_figures(3, 1, found, (0, 1_000 * MS)).tpot_ms == 7.0
    assert running_figures(0, 4, [], (None, None)).tpot_ms is None


def test_a_pulse_comes_a_second_after_the_one_before() -> None:
    """With the first answer after it: 18 tokens in 1.5 s, medians over two answers, the latest read, drafts as counted."""
    counts = SpeculationCounts(rounds=4, drafted=16, accepted=6, per_position=None)
    slow = record(event_ns=(60 * MS, 80 * MS, 100 * MS), event_tokens=(1, 4, 4), acceptance=counts)
    quick = replace(slow, event_ns=(50 * MS, 60 * MS, 70 * MS))
    counter = PulseCounter(2, 100.0)

    assert counter.add(slow, 0.2, 100.4) is None
    assert counter.add(quick, 0.1, 101.5) == Pulse(18 / 1.5, 55.0, 15.0, 2.5, 0.2, 2)
    assert counter.add(quick, None, 102.4) is None
    assert counter.add(quick, None, 102.5) == Pulse(18.0, 50.0, 10.0, 2.5, None, 2)


def test_a_pulse_waits_for_an_answer_with_text() -> None:
    """Failures alone make none, and nothing is divided by nothing."""
    counter = PulseCounter(None, 0.0)
    failed = record(outcome="http_error", event_ns=(), event_tokens=())
    one = record(event_ns=(50 * MS,), event_tokens=(9,), acceptance=None)

    assert counter.add(failed, None, 5.0) is None
    assert counter.add(one, None, 6.0) == Pulse(1.5, 50.0, None, None, None, None)


def test_a_pulse_counts_from_the_scheduled_moment_and_by_steps() -> None:
    """A request that left 30 ms late, whose four events are two steps."""
    found = record(
        event_ns=(50 * MS, 51 * MS, 70 * MS, 71 * MS), event_tokens=(1, 1, 1, 1), step_events=(2, 2), acceptance=None,
        scheduled_ns=970 * MS, sent_ns=1_000 * MS,
    )  # fmt: skip

    assert PulseCounter(None, 0.0).add(found, None, 2.0) == Pulse(2.0, 80.0, 20.0, None, None, None)
