"""Hard inputs from bug reports of load generators (class 6): figures are those of the requests, raw and unrounded."""

from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.model.result import Comparison, Finding, Result
from specbench.model.scenario import Scenario
from tests.support.evidence import Answer, a_scenario, literal_run, with_guardrails
from tests.support.judging import a_guardrail

PLAIN = a_scenario([4], pairs=10)


def _metric(result: Result, metric: str) -> Comparison:
    return next(m for m in result.cells[0].metrics if m.metric == metric)


def _only(metric: str, slo: float) -> Scenario:
    return with_guardrails(PLAIN, a_guardrail(metric, None, slo=slo), defaults=False)


def _finding(result: Result, metric: str) -> Finding:
    return next(f for f in (*result.run_findings, *result.cells[0].findings) if f.metric == metric)


@pytest.mark.parametrize(
    ("health", "check"),
    [
        ({"cpu_share": 0.97}, "client_saturated"),
        ({"send_delay_ms_p95": 80.0}, "send_delay"),
        ({"achieved_concurrency": 0.94}, "achieved_concurrency"),
    ],
)
def test_a_generator_that_was_the_bottleneck_makes_the_run_invalid(health: dict[str, float], check: str) -> None:
    """L-02, L-08: its core full, its requests late, its streams not held: no verdict, and the check that says so."""
    fast, slow = [[Answer(e2e_ms=1000)] * 10] * 10, [[Answer(e2e_ms=1500)] * 10] * 10
    result = judge(literal_run(PLAIN, slow, fast, **health), "0")

    assert result.verdict == "INVALID"
    assert {one.id for one in (*result.integrity, *(i for cell in result.cells for i in cell.integrity)) if one.ok is False} == {
        check
    }


@pytest.mark.parametrize("metric", ["e2e_p50", "e2e_p95"])
def test_a_percentile_is_never_above_the_largest_value(metric: str) -> None:
    """L-05: answers of 575 ms have a percentile of 575, where a rounding table says 580."""
    answers = [[Answer(e2e_ms=575)] * 3] * 10

    assert _metric(judge(literal_run(PLAIN, answers, answers), "0"), metric).value.speculative == pytest.approx(575.0, abs=1e-6)


def test_a_limit_is_held_to_the_millisecond() -> None:
    """L-05: 3432 ms against a limit of 3420 fails, though both round to 3400."""
    fast, slow = [[Answer(e2e_ms=3000)] * 30] * 10, [[Answer(e2e_ms=3432)] * 30] * 10
    states = [
        _finding(judge(literal_run(_only("e2e_p50", limit), fast, slow), "0"), "e2e_p50").state for limit in (3420.0, 3440.0)
    ]

    assert states == ["FAIL", "PASS"]


def test_failures_are_counted_in_requests_whatever_else_is_recorded() -> None:
    """L-07: 10 of 100 requests fail and the good ones bring many events each: 10 %, not a share of the events; 1 % is broken."""
    failing: list[list[Any]] = [[Answer(e2e_ms=1000)] * 9 + [Answer(e2e_ms=1000, outcome="http_error")]] * 10
    good = [[Answer(e2e_ms=1000)] * 10] * 10
    run = literal_run(_only("error_rate", 0.01), good, failing)
    events = sum(len(record.event_ns) for record in run.records)
    result = judge(run, "0")

    assert events > 10 * len(run.records)
    assert _metric(result, "error_rate").value.speculative == pytest.approx(0.1)
    assert _finding(result, "error_rate").state == "FAIL"
