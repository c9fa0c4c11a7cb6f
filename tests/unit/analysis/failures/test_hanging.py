"""Requests that are never answered are counted, whatever their latency does, and what old runs cut is no pass."""

from collections import Counter
from dataclasses import replace

import pytest

from specbench.analysis.cells import cells_of
from specbench.analysis.failures.hanging import never_answered
from specbench.analysis.judge import judge
from specbench.explain.safety import NeverAnswered
from specbench.model.records import Outcome, RunData
from specbench.model.result import Result
from specbench.units import ns_of_s
from tests.support.evidence import ONE_CELL, Effect, evidence

WIN = evidence(Effect(), ONE_CELL)


def hung(run: RunData, arms: tuple[str, ...], every: int = 100, outcome: Outcome = "unanswered") -> RunData:
    """The run with every so many requests of these arms without an answer."""
    arm_of, counts, records = {block.id: block.arm for block in run.blocks}, Counter[str](), []
    for record in run.records:
        if (arm := arm_of[record.block]) in arms:
            counts[arm] += 1
            if counts[arm] % every == 0:
                empty = replace(record, event_ns=(), event_tokens=(), first_answer_ns=None, end_ns=ns_of_s(60))
                record = replace(empty, outcome=outcome, output_tokens=None, finish_reason=None, acceptance=None)
        records.append(record)
    return replace(run, records=tuple(records))


def judged(run: RunData) -> Result:
    """Its result."""
    return judge(run, "test")


@pytest.mark.parametrize("outcome", ["unanswered", "timeout_first_token", "stalled", "timeout_total"])
def test_one_in_a_hundred_never_answered_with_speculation_is_a_rollback(outcome: Outcome) -> None:
    """A win in every latency, and none of the baseline's requests hang."""
    assert judged(WIN).verdict == "PROMOTE"
    result = judged(hung(WIN, ("speculative",), outcome=outcome))
    counts = result.cells[0].counts

    assert result.verdict == "ROLLBACK"
    assert counts.speculative.by_outcome[outcome] == counts.speculative.requests // 100
    assert counts.speculative.failed == counts.speculative.requests // 100
    assert counts.baseline.failed == 0


def test_a_few_of_them_are_a_hold() -> None:
    """One in some hundred proves neither."""
    assert judged(hung(WIN, ("speculative",), every=400)).verdict == "HOLD"


@pytest.mark.parametrize("every", [30, 60, 300])
def test_as_many_in_both_arms_never_promote(every: int) -> None:
    """One in thirty, in sixty, in three hundred."""
    assert judged(hung(WIN, ("baseline", "speculative"), every)).verdict == "HOLD"


def test_other_failures_that_are_as_many_in_both_arms_are_no_fault_of_speculation() -> None:
    """They are no surplus, and so a pass."""
    assert judged(hung(WIN, ("baseline", "speculative"), every=60, outcome="http_error")).verdict == "PROMOTE"


def test_what_an_older_version_cut_inside_the_window_is_no_pass() -> None:
    """It counted them as neither success nor failure; outside the window that is what they are."""
    inside = hung(WIN, ("speculative",), outcome="cut")
    late = [replace(r, sent_ns=r.sent_ns + ns_of_s(30)) if r.outcome == "cut" else r for r in inside.records]

    assert judged(inside).verdict == "HOLD"
    assert judged(replace(inside, records=tuple(late))).verdict == "PROMOTE"


def test_they_are_counted_of_what_was_sent_and_followed() -> None:
    """Answers, failures, and what was lost; not what was cut outside the window or ended by limits of ours."""
    outcomes: list[Outcome] = ["ok", "unanswered", "stalled", "cut", "client_resource", "http_error"]
    run = hung(WIN, ())
    first = run.blocks[0]
    few = [replace(r, outcome=outcome) for r, outcome in zip(run.records, outcomes, strict=False)]
    cells = cells_of(replace(run, records=tuple(few)))

    assert never_answered(cells, first.arm) == NeverAnswered(hung=2, lost=1, sent=5)
