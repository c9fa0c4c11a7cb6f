"""From comparisons to findings: is the harm that a guardrail guards against absent, shown, or undecided?

Pure functions of `Comparison` values, in two passes: every harm test first, then, as all tests of a run are one family, the
findings. Numbers from records are made elsewhere (`comparison/compare.py`), and what findings add up to is `verdict.py`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.analysis.comparison.harm_scale import Inference, against_baseline, against_limit, is_ratio, limit_of
from specbench.analysis.stats.alpha_spending import holm
from specbench.analysis.stats.paired import detectable_effect
from specbench.analysis.stats.percentile_ratio import SharesTest
from specbench.analysis.stats.start_effect import reach_of_starts
from specbench.explain.findings import FindingContext, finding_reason
from specbench.model.guardrails import PAIRS_KEPT
from specbench.model.result import Comparison, Finding, FindingState, PerArm
from specbench.model.scenario import Guardrail

# A spread of exactly 0 in these is an artefact of measuring, never certainty; counts and lengths are judged by their values.
TIMING_AND_RATE_UNITS = frozenset({"ms", "s", "tokens/s", "requests/s"})
COUNT_UNITS = frozenset({"requests", "events"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One guardrail met with one comparison in one cell.

    `in_family`: the guardrail and the cell are both required, so this harm test shares the run's error budget. `withheld`: why
    the comparison, though it has numbers, cannot be judged (the arms did different work, say). `notes`: codes to carry along.
    `test`: of a pooled percentile, the test of its shares.
    """

    guardrail: Guardrail
    comparison: Comparison
    setting: FindingContext
    in_family: bool
    withheld: str | None = None
    notes: tuple[str, ...] = ()
    test: SharesTest | None = None

    @property
    def seen(self) -> Comparison:
        """What the guardrail judges: the comparison, or under an absolute limit the speculative arm's figure over all its blocks.

        The blocks in which only the baseline has no figure may be the bad ones.
        """
        if self.guardrail.slo is None:
            return self.comparison
        before, alone = self.comparison, self.comparison.alone
        return replace(
            before,
            value=PerArm(before.value.baseline, alone.value),
            bound=PerArm(before.bound.baseline, alone.bound),
            n_blocks=alone.blocks,
            unbounded=PerArm(before.unbounded.baseline, alone.unbounded),
            p_unbounded=alone.p_unbounded,
        )

    @property
    def inference(self) -> Inference | None:
        """What is known of the harm that this guardrail guards against."""
        if self.guardrail.slo is not None:
            return against_limit(self.seen, self.guardrail.slo, self.comparison.alone.blocks)
        return against_baseline(self.comparison, self.test)

    @property
    def pairs_missing(self) -> bool:
        """Whether so many pairs lack a figure that the rest may prove harm, but no longer that there is none."""
        return self.seen.n_blocks < PAIRS_KEPT * self.setting.pairs


def judge_cases(cases: Sequence[Case], alpha: float) -> tuple[Finding, ...]:
    """A finding for each case, in their order; harm is Holm-significant over the required ones among them.

    A test outside the family (advisory, or in a cell that is not required) decides nothing and keeps its plain p.
    """
    tests = [harm_p(case) for case in cases]
    family = [(index, p) for index, p in enumerate(tests) if p is not None and cases[index].in_family]
    adjusted = dict(zip((index for index, _ in family), holm([p for _, p in family]), strict=True))
    return tuple(finding(case, tests[index], adjusted.get(index), alpha) for index, case in enumerate(cases))


def harm_p(case: Case) -> float | None:
    """The probability of a harm at least this clear if there were none; None where the data allow no test."""
    inference = case.inference
    if stopped(case) is not None or inference is None or _is_count(case):
        return None
    p = inference.p_above_zero()
    return min(1.0, 2 * p) if case.comparison.direction == "equal" else p


def finding(case: Case, p_harm: float | None, p_adjusted: float | None, alpha: float) -> Finding:
    """The case judged: PASS, FAIL, INCONCLUSIVE or NODATA, with its reason in a sentence.

    PASS: the upper one-sided 1 − alpha bound is below the limit. FAIL: two proofs, that there is harm (among all tests of the
    run) and that the lower one-sided 1 − alpha bound is past the limit. For a pooled percentile both are tests at that ratio.
    On the scale of the ratio itself (of the value itself where the limit is absolute): `bound` is the last one that is allowed
    (0.95 where 5 % less is), `upper` the end of the interval that must stay on its right side, `lower` the other end.
    """
    guardrail, comparison, inference = case.guardrail, case.seen, case.inference
    limit = limit_of(guardrail, comparison)
    draft = replace(
        draft_of(guardrail, case.setting.cell, comparison),
        bound=guardrail.slo if inference is None or limit is None else inference.ratio_at(limit),
        p_harm=p_harm,
        p_harm_adjusted=p_adjusted,
        notes=case.notes,
    )
    stop = stopped(case)
    if stop is not None:
        judged = replace(draft, state=stop[0], notes=(*case.notes, stop[1]))
    elif _is_count(case):
        judged = _by_value(draft, case)
    elif guardrail.slo is not None:
        judged = _absolute(draft, case, inference, alpha)
    else:
        judged = _relative(draft, case, inference, limit, alpha)
    return replace(judged, reason=finding_reason(judged, case.seen, case.setting, case.withheld))


def draft_of(guardrail: Guardrail, cell: str | None = None, comparison: Comparison | None = None) -> Finding:
    """A finding of nothing yet: NODATA under this guardrail, without a figure or a reason."""
    return Finding(
        metric=guardrail.metric if comparison is None else comparison.metric,
        cell=cell,
        role=guardrail.role,
        required=guardrail.required,
        state="NODATA",
        direction="lower" if comparison is None else comparison.direction,
        margin=guardrail.margin if guardrail.slo is None else None,
        floor=guardrail.floor,
        slo=guardrail.slo,
        bound=None,
        ratio=None if comparison is None else comparison.ratio,
        upper=None,
        p_harm=None,
        p_harm_adjusted=None,
        supported_margin=None,
        pairs_needed=None,
        detectable=None,
        notes=(),
        reason="",
    )


def stopped(case: Case) -> tuple[FindingState, str] | None:
    """The state, with its code, of a case that no test can decide; None where one can."""
    comparison, relative = case.seen, case.guardrail.slo is None
    unbounded, p = comparison.unbounded, comparison.p_unbounded
    if case.withheld is not None:
        empty = comparison.value.speculative is None and not unbounded.speculative
        alone = relative and comparison.value.baseline is None and not unbounded.baseline
        return "NODATA" if empty or alone else "INCONCLUSIVE", "withheld"
    if comparison.low_n:
        return "INCONCLUSIVE", "low_n"
    if unbounded.speculative and not (relative and unbounded.baseline):
        # One burst of failures lies beyond every number too; that more fail than without is a harm only if chance does not do it.
        return ("FAIL", "unbounded") if p is not None and p < case.setting.alpha else ("INCONCLUSIVE", "unbounded_open")
    if relative and (unbounded.speculative or unbounded.baseline):
        return "INCONCLUSIVE", "unbounded_both" if unbounded.speculative else "unbounded_baseline"
    if comparison.value.speculative is None or (relative and case.guardrail.margin is None):
        return "NODATA", "no_data"
    if not relative:
        return None
    if comparison.value.baseline is None or (not is_ratio(comparison.ratio) and not _is_count(case)):
        return "NODATA", "no_data"
    if _is_count(case):
        return None
    if case.inference is None:
        return "INCONCLUSIVE", "one_pair"
    if (comparison.constant or comparison.se_log == 0.0) and comparison.unit in TIMING_AND_RATE_UNITS:
        return "INCONCLUSIVE", "constant"
    return None


def _is_count(case: Case) -> bool:
    return case.comparison.unit in COUNT_UNITS


def _by_value(draft: Finding, case: Case) -> Finding:
    """Counts of events in blocks that both arms ran alike: within the limit or not, with no spread to allow for."""
    before, after = case.seen.value.baseline, case.seen.value.speculative
    if after is None or (draft.slo is None and not case.seen.n_blocks):
        return draft
    more = max((draft.margin or 0.0) * (before or 0.0), draft.floor)
    allowed = draft.slo if draft.slo is not None else (before or 0.0) + more
    within = after >= allowed if draft.direction == "higher" else after <= allowed
    judged = replace(draft, state="PASS" if within else "FAIL", bound=allowed, upper=after, notes=(*draft.notes, "counted"))
    return _without_pairs(judged) if within and case.pairs_missing else judged


def _relative(draft: Finding, case: Case, inference: Inference | None, limit: float | None, alpha: float) -> Finding:
    """The draft judged against the baseline."""
    if inference is None or limit is None:
        return draft
    comparison = case.comparison
    most = inference.most(alpha, limit)
    judged = replace(
        draft,
        upper=inference.ratio_at(most),
        lower=inference.ratio_at(inference.least(alpha, limit)),
        supported_margin=inference.margin_at(most),
        detectable=inference.margin_at(detectable_effect(inference.se, inference.df, alpha)),
    )
    # What should stay equal must not have moved past the limit to its other side either.
    within = inference.is_below(limit, alpha) and (draft.direction != "equal" or -inference.least(alpha) < limit)
    if within and case.pairs_missing:
        return _without_pairs(judged)
    if within:
        small = ("small_regression",) if draft.p_harm is not None and draft.p_harm < alpha else ()
        return replace(judged, state="PASS", notes=(*draft.notes, *small))
    p = _deciding_p(draft)
    worse, past = p is not None and p < alpha, inference.is_past(limit, alpha)
    if worse and past:
        return replace(judged, state="FAIL", notes=(*draft.notes, "harm", *_cross_check(comparison, alpha)))
    needed = _pairs_needed(inference, draft, limit, alpha)
    code = "unresolvable_at_this_margin" if needed is None else "more_pairs"
    notes = (*draft.notes, *(("worse_limit_open",) if worse else ()), code, *_starts_alone(inference, limit, alpha))
    return replace(judged, state="INCONCLUSIVE", pairs_needed=needed, notes=notes)


def _pairs_needed(inference: Inference, draft: Finding, limit: float, alpha: float) -> int | None:
    """The pairs that would settle an open finding: to a pass below the limit, past it to harm, which needs both of its proofs."""
    if inference.theta < limit:
        starts_alone = reach_of_starts(inference.start, alpha) >= limit
        return None if starts_alone else inference.pairs_needed(limit - inference.theta, alpha)
    p = _deciding_p(draft)
    strictness = max(1.0, p / draft.p_harm) if p and draft.p_harm else 1.0
    proofs = (
        inference.pairs_needed(inference.theta - limit, alpha),
        inference.pairs_needed(inference.theta, alpha / strictness),
    )
    return None if proofs[0] is None or proofs[1] is None else max(proofs[0], proofs[1])


def _starts_alone(inference: Inference, limit: float, alpha: float) -> tuple[str, ...]:
    """A note where equal arms could not pass with any number of pairs, as one start of each leaves more open than is allowed."""
    return ("starts_differ",) if reach_of_starts(inference.start, alpha) >= limit else ()


def _absolute(draft: Finding, case: Case, inference: Inference | None, alpha: float) -> Finding:
    """The draft judged against its absolute limit, by the speculative arm alone."""
    slo, value, bound = draft.slo, case.seen.value.speculative, case.seen.bound.speculative
    if slo is None or value is None:
        return draft
    sign = -1.0 if draft.direction == "higher" else 1.0
    if inference is not None and inference.start is not None:  # the bound is of what was seen, and a start comes on top
        widest = inference.ratio_at(inference.most(alpha))
        bound = None if widest is None else slo * widest
    judged = replace(draft, upper=bound)
    p = _deciding_p(draft)
    within = bound is not None and sign * (bound - slo) <= 0
    if not within and p is not None and p < alpha and sign * (value - slo) > 0:
        return replace(judged, state="FAIL", notes=(*draft.notes, "harm"))
    if case.pairs_missing:
        return _without_pairs(judged)
    if within:
        return replace(judged, state="PASS")
    gap = 0.0 if inference is None else abs(inference.theta)
    needed = None if inference is None else inference.pairs_needed(gap, alpha)
    return replace(judged, state="INCONCLUSIVE", pairs_needed=needed, notes=(*draft.notes, "near_the_limit"))


def _without_pairs(judged: Finding) -> Finding:
    """Open: the pairs without a figure may be the bad ones."""
    return replace(judged, state="INCONCLUSIVE", notes=(*judged.notes, "pairs_missing"))


def _deciding_p(draft: Finding) -> float | None:
    return draft.p_harm if draft.p_harm_adjusted is None else draft.p_harm_adjusted


def _cross_check(comparison: Comparison, alpha: float) -> tuple[str, ...]:
    """A note where the exact sign-flip test contradicts t; with few pairs it has no power to, and stays silent."""
    p = comparison.p_sign_flip
    speaks = p is not None and 2.0**-comparison.n_blocks < alpha
    return ("sign_flip_disagrees",) if speaks and p is not None and p >= alpha else ()
