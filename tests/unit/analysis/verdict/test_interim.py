"""Looking early: each look is stricter, all looks together err no more than one would, and only what is settled stops a run."""

import math
from dataclasses import replace

import numpy as np
import pytest

from specbench.analysis.cells import planned_pairs
from specbench.analysis.judge import judge
from specbench.analysis.stats.alpha_spending import look_levels
from specbench.analysis.verdict.findings import Case, judge_cases
from specbench.analysis.verdict.interim import alpha_now, is_settled
from specbench.model.records import RunData
from specbench.model.result import VerdictWord
from tests.support.evidence import NONE, Effect, a_scenario, evidence
from tests.support.judging import AT_4, a_comparison, a_guardrail

WINS, TIES, LOSES = Effect(tpot=0.6), Effect(tpot=1.0, tokens_per_step=1), Effect(tpot=1.6)
LOOKS = (4, 6, 8, 10)


def _after(run: RunData, pairs: int) -> RunData:
    """The run as it stood after so many pairs, looked at each time it could be."""
    kept = tuple(block for block in run.blocks if block.pair < pairs)
    names = {block.id for block in kept}
    records = tuple(record for record in run.records if record.block in names)
    return replace(run, blocks=kept, records=records, looks=tuple(look for look in LOOKS if look <= pairs))


def test_one_look_has_the_whole_error() -> None:
    """Without looks in between, alpha is the scenario's, and all planned pairs should be there."""
    run = evidence(WINS, a_scenario([4]), requests=24)

    assert alpha_now(run) == 0.05
    assert planned_pairs(run) == 10
    assert judge(run, "0").config.looks == 1


def test_early_looks_are_stricter() -> None:
    """Looks after 4, 6, 8 and 10 of 10 pairs: the published one-sided bounds, z = 3.2, 2.5, 2.1 and 1.8 or so."""
    run = evidence(WINS, a_scenario([4]), requests=24)
    levels = [alpha_now(_after(run, pairs)) for pairs in LOOKS]

    assert levels == sorted(levels)
    assert levels == pytest.approx(look_levels([0.4, 0.6, 0.8, 1.0], 0.05))
    assert levels[0] < 0.002
    assert levels[-1] < 0.05
    assert planned_pairs(_after(run, 6)) == 6


@pytest.mark.parametrize(
    ("effect", "pairs", "verdict", "settled"),
    [
        (LOSES, 4, "ROLLBACK", True),  # harm stops at once
        (WINS, 4, "PROMOTE", False),  # a win does not, before half the budget
        (WINS, 6, "PROMOTE", True),
        (Effect(tpot=0.6, fails=0.3), 4, "ROLLBACK", True),
    ],
)
def test_what_stops_a_run(effect: Effect, pairs: int, verdict: VerdictWord, settled: bool) -> None:
    """The verdict at a look, and whether it ends the run."""
    result = judge(_after(evidence(effect, a_scenario([4]), requests=24), pairs), "0")

    assert (result.verdict, is_settled(result, pairs)) == (verdict, settled)


def test_a_run_without_effect_goes_on_to_its_budget() -> None:
    """An A/A: there is no win to stop for, whether or not the guardrails are all settled."""
    for noise in (0.02, 0.25):
        run = evidence(replace(TIES, noise=noise), a_scenario([1, 4]), requests=24, baseline=replace(NONE, noise=noise))

        assert [is_settled(judge(_after(run, pairs), "0"), pairs) for pairs in LOOKS[:-1]] == [False, False, False]


def test_harm_above_does_not_stop_a_run_that_may_still_be_capped() -> None:
    """16 streams lose clearly; whether 1 stream wins is not shown yet, so the run goes on and ends with its cap."""
    effects = {"c1": replace(WINS, tpot=0.93, noise=0.15), "c16": LOSES}
    run = evidence(effects, a_scenario([1, 16]), requests=24, baseline=replace(NONE, noise=0.15))
    early, late = judge(_after(run, 6), "0"), judge(_after(run, 10), "0")

    assert (early.verdict, is_settled(early, 6)) == ("ROLLBACK", False)
    assert late.verdict == "CAPPED"


def test_harm_where_the_range_would_begin_stops_a_run() -> None:
    """1 stream loses: no cap can come of it, whatever 16 streams do."""
    result = judge(_after(evidence({"c1": LOSES, "c16": TIES}, a_scenario([1, 16]), requests=24), 4), "0")

    assert (result.verdict, is_settled(result, 4)) == ("ROLLBACK", True)


def test_a_void_measurement_does_not_stop_a_run() -> None:
    """What spoiled one block may pass."""
    run = evidence(WINS, a_scenario([4]), requests=24)
    late = replace(run.blocks[0], health=replace(run.blocks[0].health, cpu_share=0.99))
    result = judge(_after(replace(run, blocks=(late, *run.blocks[1:])), 8), "0")

    assert (result.verdict, is_settled(result, 8)) == ("INVALID", False)


def test_a_run_that_stopped_early_has_lost_no_pairs() -> None:
    """Six of ten planned pairs are all there are at the second look."""
    result = judge(_after(evidence(WINS, a_scenario([4]), requests=24), 6), "0")

    assert result.verdict == "PROMOTE"
    assert (result.config.looks, result.config.pairs) == (2, 10)


def _harmed(logs: np.ndarray, alpha: float) -> bool:
    """Whether any of these guardrails (n_pairs, n_guardrails) is harm at this level, however small."""
    n = len(logs)
    cases = [
        Case(
            guardrail=a_guardrail(margin=1e-9),
            comparison=a_comparison(ratio=math.exp(column.mean()), se_log=float(column.std(ddof=1)) / math.sqrt(n), pairs=n),
            setting=AT_4,
            in_family=True,
        )
        for column in logs.T
    ]
    return any(finding.state == "FAIL" for finding in judge_cases(cases, alpha))


def test_all_looks_together_err_no_more_than_alpha() -> None:
    """1,000 campaigns of two equal arms, three guardrails, four looks: false alarms stay within 5 % (+ 1.4 of noise)."""
    draw = np.random.default_rng(11)
    levels = look_levels([look / LOOKS[-1] for look in LOOKS], 0.05)
    alarms = 0
    for _ in range(1000):
        logs = draw.normal(0.0, 0.05, (LOOKS[-1], 3))
        alarms += any(_harmed(logs[:look], level) for look, level in zip(LOOKS, levels, strict=True))

    assert 0.02 < alarms / 1000 < 0.064
