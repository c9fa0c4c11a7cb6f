"""Answers that stall: what a stall is, which answers can have one, and what is not known."""

from dataclasses import replace

import pytest

from specbench.analysis.metrics.stalls import stall_limit_ns, stalled_answers
from specbench.units import ns_of_ms, ns_of_s
from tests.support.records import a_record, one_block

STEADY = a_record([100.0 + 20.0 * token for token in range(20)])
SILENT = a_record([100.0, 120.0, 2200.0, 2220.0])


def _counted(*records: object) -> tuple[float, float]:
    found = stalled_answers(one_block(*records))  # type: ignore[arg-type]
    return float(found.numerator.sum()), float(found.denominator.sum())


def test_two_seconds_of_silence_are_a_stall() -> None:
    """Steps of 20 ms, and one gap of 2.08 s in one answer of two."""
    assert _counted(STEADY, SILENT) == (1.0, 2.0)
    assert _counted(STEADY, a_record([100.0, 1100.0])) == (0.0, 2.0)
    assert _counted(STEADY, a_record([100.0, 1100.1])) == (1.0, 2.0)


@pytest.mark.parametrize(("gap_ms", "limit_ms"), [(20.0, 1000), (100.0, 1000), (150.0, 1500), (400.0, 4000)])
def test_a_slow_engine_has_longer_gaps_before_they_are_stalls(gap_ms: float, limit_ms: int) -> None:
    """Ten times the baseline's median gap, and never below 1 s."""
    slow = one_block(a_record([gap_ms * step for step in range(1, 20)]), SILENT)

    assert stall_limit_ns(slow) == ns_of_ms(limit_ms)


def test_tokens_of_one_burst_are_one_step_of_the_engine() -> None:
    """Four events within a millisecond every 300 ms: the usual gap is 300 ms, so 2 s are none."""
    moments = [300.0 * step + 0.1 * token for step in range(1, 10) for token in range(4)]
    bursts = one_block(a_record(moments, step_events=(4,) * 9))

    assert stall_limit_ns(bursts) > ns_of_s(2.9)


def test_what_a_network_held_back_ends_a_stall_untimed() -> None:
    """Two seconds of silence, then three steps in one read, of which only the last could be timed."""
    held = a_record([100.0, 2100.0, 2100.0, 2100.0], censored=(1, 2))

    assert _counted(held) == (1.0, 1.0)


def test_an_answer_that_failed_is_a_failure_and_no_stall() -> None:
    """It counts once, with the failures; what our own clock cut off counts nowhere."""
    assert _counted(STEADY, replace(SILENT, outcome="stalled")) == (0.0, 1.0)
    assert _counted(STEADY, replace(SILENT, outcome="timeout_total")) == (0.0, 1.0)
    assert _counted(STEADY, replace(SILENT, outcome="cut")) == (0.0, 1.0)


def test_stalls_of_the_ramp_do_not_count() -> None:
    """A first request that waits while the engine compiles was sent before the window opened."""
    found = stalled_answers(one_block(SILENT, replace(STEADY, sent_ns=ns_of_ms(300.0)), window_ms=(200.0, 9000.0)))

    assert (found.numerator.tolist(), found.denominator.tolist()) == ([0.0], [1.0])


def test_answers_that_all_come_whole_tell_nothing() -> None:
    """Behind a proxy that collects, no answer can be seen to stall; that is no pass. One among others did not stall."""
    whole = a_record([900.0] * 20)

    nothing = stalled_answers(one_block(whole, a_record([700.0])))

    assert nothing.denominator.tolist() == [0.0]
    assert nothing.reason is not None
    assert _counted(whole, SILENT) == (1.0, 2.0)
