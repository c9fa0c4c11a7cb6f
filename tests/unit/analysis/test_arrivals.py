"""Arrivals that outrun an arm are seen over all blocks of a cell, and no load that drowns both arms is one to serve."""

import random
from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heapreplace

import pytest

from specbench.analysis.arrivals import backlogs_of
from specbench.analysis.cells import CellEvidence, cells_of
from specbench.analysis.judge import judge
from specbench.analysis.verdict.backlog import backlog_finding, nothing_to_compare
from specbench.model.records import Outcome, RunData
from specbench.model.result import Finding, Result
from specbench.model.scenario import Scenario
from tests.support.evidence import ONE_CELL, WINDOW_S, Answer, a_scenario, literal_run
from tests.support.goldens import same_text

RATE, SERVERS, RAMP_S, PAIRS = 8.0, 8, 5.0, 8


def scenario(pairs: int = PAIRS) -> Scenario:
    """One cell, of arrivals."""
    asked = a_scenario([4], pairs=pairs)
    return replace(asked, matrix=replace(asked.matrix, concurrency=(), rate=(RATE,), primary=RATE))


def block(share: float, pair: int, outcome: Outcome | None = None) -> list[Answer]:
    """A block of an arm that is busy for this share of the time; it begins empty, and who comes first is served first."""
    arrive, serve = random.Random(f"arrivals {pair}"), random.Random(f"{share} {pair}")
    free = [-RAMP_S] * SERVERS
    heapify(free)
    now_s, answers = -RAMP_S, []
    while (now_s := now_s + arrive.expovariate(RATE)) < WINDOW_S:
        takes_s, start_s = share * SERVERS / RATE * serve.uniform(0.5, 1.5), max(now_s, free[0])
        heapreplace(free, start_s + takes_s)
        wait_ms = 1000 * (start_s - now_s) + 50
        end_ms = wait_ms + 1000 * takes_s
        drawn = outcome is not None and serve.random() < 0.1
        answers.append(
            Answer(e2e_ms=end_ms, ttft_ms=wait_ms, outcome=outcome if drawn and outcome else "ok", sent_ms=1000 * now_s)
        )
    return answers


def world(baseline: float, speculative: float, pairs: int = PAIRS, outcome: Outcome | None = None) -> RunData:
    """A run of arms that are busy for these shares of the time."""
    arms = [[block(share, pair, outcome) for pair in range(pairs)] for share in (baseline, speculative)]
    return literal_run(scenario(pairs), arms[0], arms[1], achieved_concurrency=None)


def cell(run: RunData) -> CellEvidence:
    """Its only cell."""
    return cells_of(run)[0]


def found(run: RunData) -> Finding:
    """What is found on its arrivals."""
    only = cell(run)
    return backlog_finding(only.cell, backlogs_of(only), required=True)


def judged(run: RunData) -> Result:
    """Its result."""
    return judge(run, "test")


@pytest.mark.parametrize(
    ("baseline", "speculative", "state", "code"),
    [
        (0.5, 0.5, "PASS", "kept_up"),
        (0.8, 0.8, "PASS", "kept_up"),
        (0.9, 0.6, "PASS", "kept_up"),
        (1.3, 1.3, "INCONCLUSIVE", "outrun_both"),
        (1.3, 1.17, "INCONCLUSIVE", "outrun_both"),
        (1.4, 0.7, "INCONCLUSIVE", "outrun_baseline"),
        (0.7, 1.4, "FAIL", "outrun"),
    ],
)
def test_what_arrives_faster_than_it_is_served_is_seen(baseline: float, speculative: float, state: str, code: str) -> None:
    """By the share of the time that each arm is busy; above 1 its queue grows without end."""
    told = found(world(baseline, speculative))

    assert (told.state, told.notes) == (state, (code,))
    same_text(f"{baseline} and {speculative}", told.reason)


@pytest.mark.parametrize("outcome", ["http_error", "unanswered"])
def test_an_arm_that_refuses_or_forgets_what_arrives_serves_it_no_more(outcome: Outcome) -> None:
    """One in ten, in both arms alike: what is served is counted, not what has left."""
    assert found(world(0.5, 0.5, outcome=outcome)).notes == ("outrun_both",)


def test_one_block_says_nothing() -> None:
    """Nor does a closed loop."""
    assert found(world(0.5, 0.5, pairs=1)).state == "NODATA"
    closed = cell(literal_run(ONE_CELL, [[Answer(e2e_ms=500.0)] * 9] * 2, [[Answer(e2e_ms=500.0)] * 9] * 2))
    assert (backlogs_of(closed).baseline, backlogs_of(closed).speculative) == (None, None)


def test_a_load_that_drowns_both_arms_is_none_to_serve() -> None:
    """Although every figure is better by a tenth with speculation."""
    result = judged(world(1.3, 1.17))

    assert result.verdict not in ("PROMOTE", "CAPPED")
    assert result.rate_range is None
    assert any(reason.metric == "backlog" for reason in result.reasons)


def test_a_load_that_drowns_speculation_alone_fails_its_cell() -> None:
    """The baseline serves it."""
    result = judged(world(0.7, 1.4))

    assert (result.verdict, result.cells[0].state) == ("ROLLBACK", "FAIL")


def test_beside_a_drowned_baseline_nothing_is_judged() -> None:
    """Every figure against it is withheld, the gain's too; failures are counted all the same."""
    run = world(1.4, 0.7)
    assert nothing_to_compare(backlogs_of(cell(run)))
    result = judged(run)
    relative = [one for one in result.cells[0].findings if one.slo is None and one.metric != "backlog" and one.state != "NODATA"]

    assert result.verdict == "HOLD"
    assert {one.metric for one in relative} >= {"tpot_p50", "ttft_p95", "output_tps"}
    assert all("withheld" in one.notes for one in relative)
    assert next(one for one in result.run_findings if one.metric == "error_rate").state == "PASS"


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_arms_that_keep_up_are_seldom_called_outrun(share: float) -> None:
    """Of eight runs of equal arms none fails, nor loses its comparison, however near to what they can serve."""
    codes = [code for seed in range(0, 8 * PAIRS, PAIRS) for code in found(shifted(share, seed)).notes]

    assert not {"outrun", "outrun_baseline"} & set(codes)
    if share == 0.5:
        assert codes.count("kept_up") >= 7


def shifted(share: float, seed: int) -> RunData:
    """A run of equal arms with arrivals and answers of its own."""
    arms: list[Sequence[Sequence[Answer]]] = [[block(share + arm * 1e-9, seed + pair) for pair in range(PAIRS)] for arm in (0, 1)]
    return literal_run(scenario(), arms[0], arms[1], achieved_concurrency=None)
