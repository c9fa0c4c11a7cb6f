"""Sampled answers: does the baseline find the speculative arm's tokens as probable as its own?

Two samples are never the same text, so they are scored, not matched: under equal distributions the surprise of a token differs
between the arms by chance alone, whatever the engine's own shaping of the distribution is, as both are scored alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from specbench.analysis.answers.answers_greedy import contradicts_itself
from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.paired import Estimate, mean_with_t
from specbench.analysis.verdict.findings import draft_of
from specbench.explain.answers import answer_sentences as said
from specbench.model.answers import answer_rules as rules
from specbench.model.answers.compared_answers import AnswerComparison, ComparedAnswers, TokenScores
from specbench.model.answers.shown_answers import SampledShift
from specbench.model.result import Finding, FindingState, PerArm
from specbench.model.scenario import Guardrail

INTERVAL = 0.90
RULE = Guardrail(metric=rules.SAMPLED, role="safety", margin=None, floor=0.0, slo=None, required=True, cells=None, bins=None)
_VISIBLE = (rules.LEAST_SURPRISE, rules.LEAST_RANK, rules.LEAST_OUTSIDE)
_ORDER: dict[FindingState, int] = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedShift:
    """The shift of one setting and what it comes to. `baseline_off`: the ruler fits the baseline's own answers worse than the
    other arm's, which proves nothing against that one."""

    shift: SampledShift
    state: FindingState
    baseline_off: bool


def answers_sampled(found: AnswerComparison, *, lossy: bool = False) -> Finding:
    """Whether sampled answers come from the same distribution, setting by setting; the worst setting decides.

    Three differences a prompt, of surprise, rank and share outside the distribution; t over prompts. FAIL: the smallest of their
    two-sided p, times three and the number of settings, is below .0025, and that difference is large enough to matter. No FAIL
    where the baseline's own answers lie surely off what it tells, and farther than the other arm's, or it contradicts its greedy
    ones. PASS: the 90 % interval of the surprise lies within ± 0.05 nat, and no test is significant. Else INCONCLUSIVE. Fewer
    than 64 prompts, or a baseline that cannot score given text: NODATA.

    Args:
        found: What is known of the answers of the run's required loads.
        lossy: Speculation is declared to change the answers, so that the finding is advice.
    """
    draft = replace(draft_of(RULE), role="advisory" if lossy else "safety", required=False)
    sampled = [one for one in found.compared if one.temperature > 0]
    scored = {name: group for name, group in _by_setting(sampled).items() if len(group) >= rules.LEAST_PROMPTS}
    why = _unscored(found, sampled, scored)
    if why is not None:
        return replace(draft, reason=said.not_compared(rules.SAMPLED, why))
    judged = [_judged(name, group, len(scored)) for name, group in scored.items()]
    greedy = contradicts_itself(found)
    if greedy is not None and greedy.ok is False:
        judged = [replace(one, state="INCONCLUSIVE", baseline_off=True) if one.state == "FAIL" else one for one in judged]
    worst = min(judged, key=lambda one: (_ORDER[one.state], one.shift.p))
    return replace(
        draft,
        required=not lossy,
        state=worst.state,
        p_harm=worst.shift.p,
        notes=("baseline_off",) if worst.baseline_off else (),
        reason=said.sampled(worst.state, worst.shift, several=len(judged) > 1, baseline_off=worst.baseline_off),
    )


def shifts_of(found: AnswerComparison) -> tuple[SampledShift, ...]:
    """The shift of each setting that has prompts enough."""
    groups = {name: group for name, group in _by_setting(found.compared).items() if len(group) >= rules.LEAST_PROMPTS}
    return tuple(_judged(name, group, len(groups)).shift for name, group in groups.items())


def _judged(name: str, group: Sequence[PerArm[TokenScores]], settings: int) -> JudgedShift:
    arms = [
        np.array([_means(one) for one in arm]) for arm in zip(*((pair.baseline, pair.speculative) for pair in group), strict=True)
    ]
    differences = arms[1] - arms[0]
    tests = [mean_with_t(column) for column in differences.T]
    p_values = [min(1.0, 3 * settings * _two_sided(test)) for test in tests]
    clear = [
        index
        for index, (test, p) in enumerate(zip(tests, p_values, strict=True))
        if p < rules.SHIFT_ALPHA and abs(test.mean) >= _VISIBLE[index]
    ]
    surprise = tests[0]
    shift = SampledShift(
        sampling=name,
        prompts=len(group),
        surprise_nats=surprise.mean,
        surprise_se=surprise.se or 0.0,
        rank=tests[1].mean,
        outside=tests[2].mean,
        detectable_nats=rules.REACH * (surprise.se or 0.0),
        p=min(p_values),
    )
    ends = surprise.bounds(INTERVAL) or (-np.inf, np.inf)
    state: FindingState = "INCONCLUSIVE"
    off = bool(clear) and all(_fits_worse(arms[0][:, index], arms[1][:, index], settings) for index in clear)
    if clear and not off:
        state = "FAIL"
    elif min(p_values) >= rules.SHIFT_ALPHA and ends[0] > -rules.ALIKE_NATS and ends[1] < rules.ALIKE_NATS:
        state = "PASS"
    return JudgedShift(shift=shift, state=state, baseline_off=off)


def _fits_worse(baseline: Floats, speculative: Floats, settings: int) -> bool:
    """Whether the baseline's own answers surely lie off what it tells, and farther than the speculative arm's.

    Under the right shaping the mean of an arm that samples as it says is 0; under a wrong guess both are off alike.
    """
    own = mean_with_t(baseline)
    return abs(own.mean) > abs(float(speculative.mean())) and min(1.0, 3 * settings * _two_sided(own)) < rules.SHIFT_ALPHA


def _two_sided(test: Estimate) -> float:
    above = Estimate(abs(test.mean), test.se, test.df).p_above(0.0)
    return 1.0 if above is None else min(1.0, 2 * above)


def _means(scores: TokenScores) -> tuple[float, float, float]:
    return scores.surprise_nats, scores.rank, scores.outside


def _by_setting(compared: Sequence[ComparedAnswers]) -> dict[str, list[PerArm[TokenScores]]]:
    """The scores of both answers, by sampling, of those prompts whose two answers are long enough and told in numbers."""
    groups: dict[str, list[PerArm[TokenScores]]] = {}
    for one in compared:
        if one.temperature > 0 and one.scores is not None and all(map(_usable, (one.scores.baseline, one.scores.speculative))):
            groups.setdefault(one.sampling, []).append(one.scores)
    return groups


def _usable(scores: TokenScores) -> bool:
    return scores.tokens >= rules.LEAST_TOKENS and all(map(isfinite, _means(scores)))


def _unscored(
    found: AnswerComparison, sampled: Sequence[ComparedAnswers], scored: dict[str, list[PerArm[TokenScores]]]
) -> str | None:
    """Why nothing can be said of the sampled answers; None where something can."""
    refused = dict(found.unanswerable).get("sampled")
    if refused is not None:
        return refused
    if found.ruler is not None and not found.ruler >= rules.LEAST_RULER:
        return said.misaligned(found.ruler)
    if not sampled:
        return said.NO_SAMPLED
    if not scored:
        reasons = [one.reason for one in sampled if one.scores is None and one.reason]
        if len(reasons) == len(sampled):
            return max(set(reasons), key=lambda one: (reasons.count(one), one))
        usable = max((len(group) for group in _by_setting(sampled).values()), default=0)
        return said.too_few_sampled(usable)
    means = [_means(scores) for group in scored.values() for pair in group for scores in (pair.baseline, pair.speculative)]
    if all(abs(surprise) < 1e-9 and outside == 0.0 for surprise, _, outside in means):
        return said.ALL_ZERO
    return None
