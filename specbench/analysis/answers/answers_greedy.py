"""Greedy answers: do they part from the baseline's where the baseline, asked, is sure?

Honest engines part at near-ties in most of their answers, so that differences as such prove nothing. Whom the baseline gives
right is told by `ComparedAnswers`; nothing is asked here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from specbench.analysis.stats.exact_counts import at_least_by_chance, mcnemar
from specbench.analysis.stats.rates import share_upper_bound
from specbench.analysis.verdict.findings import draft_of
from specbench.explain.answers import answer_sentences as said
from specbench.model.answers import answer_rules as rules
from specbench.model.answers.compared_answers import AnswerComparison, ComparedAnswers
from specbench.model.answers.shown_answers import GreedyAtLoad, GreedyCounts
from specbench.model.result import Finding, FindingState, IntegrityCheck
from specbench.model.scenario import Guardrail

PASS_ALPHA = 0.05
_MOST_FACTOR = 16  # how many times as many prompts are thought of, where more would settle an open finding
RULE = Guardrail(metric=rules.GREEDY, role="safety", margin=None, floor=0.0, slo=None, required=True, cells=None, bins=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyEvidence:
    """The greedy answers of a run, each difference with both margins, and from which margin on it is clear.

    `blind`: every margin is exactly 0, which no engine that tells log probabilities has. `own_beyond_most`: how many of its own
    answers the baseline contradicts by more than the widest margin that is ever asked.
    """

    compared: tuple[ComparedAnswers, ...]
    clear_nats: float
    blind: bool
    own_beyond_most: int


def greedy_evidence(found: AnswerComparison) -> GreedyEvidence:
    """The greedy answers with the margin from which on a difference is clear.

    max(0.5 nat, 1.5 × the 99th percentile of the baseline's own margins over the differences), at most 2 nats: 0.5 is SGLang's
    bound for decode against prefill of one text, the rest is what keeps an engine with more noise from failing.
    """
    compared = tuple(one for one in found.compared if one.temperature == 0)
    margins = [margin for one in compared if (margin := _margins(one)) is not None]
    own = np.array([min(baseline, rules.MOST_CLEAR_NATS) for baseline, _ in margins])
    noise = rules.OWN_FACTOR * float(np.quantile(own, rules.OWN_QUANTILE)) if len(own) else 0.0
    return GreedyEvidence(
        compared=compared,
        clear_nats=min(max(rules.CLEAR_NATS, noise), rules.MOST_CLEAR_NATS),
        blind=len(margins) >= rules.BLIND_FROM and all(pair == (0.0, 0.0) for pair in margins),
        own_beyond_most=sum(baseline > rules.MOST_CLEAR_NATS for baseline, _ in margins),
    )


def counts_of(compared: Sequence[ComparedAnswers], clear_nats: float) -> GreedyCounts:
    """How these answers compare, a difference being clear beyond this margin."""
    margins = [_margins(one) for one in compared if not one.equal]
    known = [pair for pair in margins if pair is not None]
    return GreedyCounts(
        compared=len(compared),
        equal=len(compared) - len(margins),
        near_ties=sum(max(pair) <= clear_nats for pair in known),
        clear=sum(speculative > clear_nats for _, speculative in known),
        clear_baseline=sum(baseline > clear_nats for baseline, _ in known),
        unknown=len(margins) - len(known),
    )


def by_load(evidence: GreedyEvidence) -> tuple[GreedyAtLoad, ...]:
    """The counts of each load, the highest first; what was sent after the last pair comes last."""
    groups: dict[tuple[int | None, str | None], list[ComparedAnswers]] = {}
    for one in evidence.compared:
        groups.setdefault((one.concurrency, one.cell if one.concurrency is None else None), []).append(one)
    placed = sorted(groups.items(), key=lambda group: (-(group[0][0] or 0), group[0][1] is None, group[0][1] or ""))
    return tuple(
        GreedyAtLoad(concurrency=concurrency, cell=cell, counts=counts_of(group, evidence.clear_nats))
        for (concurrency, cell), group in placed
    )


def widest_near_tie(evidence: GreedyEvidence) -> float | None:
    """The largest margin of either arm at a difference that is clear in neither; None without one."""
    margins = [max(pair) for one in evidence.compared if (pair := _margins(one)) is not None]
    return max((margin for margin in margins if margin <= evidence.clear_nats), default=None)


def answers_greedy(found: AnswerComparison, *, differ_by_at_most: float = 0.05, lossy: bool = False) -> Finding:
    """Whether greedy answers stay the same but for near-ties.

    FAIL: more answers differ clearly than the allowed share (1 %, or a fifth of `differ_by_at_most` where that is more) explains
    (p < .005), and more than of the baseline's own (McNemar, p < .05). PASS: at least 64 prompts, and the upper 95 % bound of
    their share is below `differ_by_at_most`, those of which nothing is known counted as clear. Else INCONCLUSIVE. NODATA: the
    baseline cannot be asked. Where it contradicts itself it proves nothing against the other arm.

    Args:
        found: What is known of the answers of the run's required loads.
        lossy: Speculation is declared to change the answers, so that the finding is advice.
    """
    draft = replace(
        draft_of(RULE), margin=differ_by_at_most, bound=differ_by_at_most, role="advisory" if lossy else "safety", required=False
    )
    evidence = greedy_evidence(found)
    counts = counts_of(evidence.compared, evidence.clear_nats)
    why = _unasked(found, evidence, counts)
    if why is not None:
        return replace(draft, reason=said.not_compared(rules.GREEDY, why))
    allowed = max(rules.CLEAR_SHARE, differ_by_at_most / 5)
    p = at_least_by_chance(counts.clear, counts.compared, allowed)
    only_speculative, only_baseline = _apart(evidence)
    more = mcnemar(only_speculative, only_baseline, mid_p=True)
    doubtful = counts.clear + counts.unknown
    high = share_upper_bound(doubtful, counts.compared, PASS_ALPHA)
    contradicts = _contradicts(evidence, counts)
    state: FindingState = "INCONCLUSIVE"
    if p < rules.CLEAR_ALPHA and more < rules.MORE_ALPHA and not contradicts:
        state = "FAIL"
    elif high is not None and high < differ_by_at_most and counts.compared >= rules.LEAST_PROMPTS and not contradicts:
        state = "PASS"
    needed = None if state != "INCONCLUSIVE" or contradicts else _prompts_needed(counts, differ_by_at_most, allowed)
    sentence = said.greedy(
        state,
        counts,
        by_load(evidence),
        said.GreedyLimits(
            allowed=allowed,
            most=differ_by_at_most,
            high=high or 0.0,
            widest_near_tie=widest_near_tie(evidence),
            needed=needed,
            contradicts=contradicts,
        ),
    )
    return replace(
        draft,
        required=not lossy,
        state=state,
        upper=high,
        p_harm=p,
        supported_margin=high,
        notes=(rules.CONTRADICTS,) if contradicts else (),
        reason=sentence,
    )


def contradicts_itself(found: AnswerComparison) -> IntegrityCheck | None:
    """Whether the baseline, asked, contradicts more of its own greedy answers by 2 nats than 1 % explains; None where not asked.

    A baseline that does cannot be a reference: prompts in its prefix cache, or its own scheduling, change what it says.
    """
    evidence = greedy_evidence(found)
    counts = counts_of(evidence.compared, evidence.clear_nats)
    if not counts.compared or _unasked(found, evidence, counts) is not None:
        return None
    broken = _contradicts(evidence, counts)
    message = said.contradicts_itself(evidence.own_beyond_most, counts.compared, broken)
    share = evidence.own_beyond_most / counts.compared
    return IntegrityCheck(id=rules.CONTRADICTS, cell=None, ok=not broken, value=share, limit=rules.CLEAR_SHARE, message=message)


def _contradicts(evidence: GreedyEvidence, counts: GreedyCounts) -> bool:
    return at_least_by_chance(evidence.own_beyond_most, counts.compared, rules.CLEAR_SHARE) < rules.CLEAR_ALPHA


def _unasked(found: AnswerComparison, evidence: GreedyEvidence, counts: GreedyCounts) -> str | None:
    """Why nothing can be said of the greedy answers; None where something can."""
    refused = dict(found.unanswerable).get("greedy")
    if refused is not None:
        return refused
    if found.ruler is not None and not found.ruler >= rules.LEAST_RULER:
        return said.misaligned(found.ruler)
    if evidence.blind:
        return said.ALL_ZERO
    if not counts.compared:
        return said.NO_GREEDY
    if counts.unknown and counts.unknown == counts.compared - counts.equal:
        reasons = [one.reason for one in evidence.compared if one.reason]
        return max(set(reasons), key=lambda one: (reasons.count(one), one)) if reasons else said.NOT_ASKED
    return None


def _apart(evidence: GreedyEvidence) -> tuple[int, int]:
    """How many answers are clear in the speculative arm alone, and in the baseline alone."""
    margins = [pair for one in evidence.compared if (pair := _margins(one)) is not None]
    clear = [(baseline > evidence.clear_nats, speculative > evidence.clear_nats) for baseline, speculative in margins]
    return clear.count((False, True)), clear.count((True, False))


def _margins(one: ComparedAnswers) -> tuple[float, float] | None:
    """The margins of baseline and speculative arm at a difference, over whole answers where scored; None where not known.

    Of answers that are equal nothing is asked: what the text says is no change, however unsure the baseline is of it.
    """
    told = one.widest_gap_nats if one.widest_gap_nats is not None else one.gap_nats
    return None if one.equal or told is None else (_nats(told.baseline), _nats(told.speculative))


def _nats(margin: float) -> float:
    """The margin; beyond every limit where the log probability behind it is no number, or minus infinity."""
    return max(margin, 0.0) if isfinite(margin) else float("inf")


def _prompts_needed(counts: GreedyCounts, most: float, allowed: float) -> int | None:
    """The fewest prompts, in steps of 64, that would settle an open finding at the share seen; None where none would."""
    share = (counts.clear + counts.unknown) / counts.compared
    first = -(-max(counts.compared + 1, rules.LEAST_PROMPTS) // rules.LEAST_PROMPTS) * rules.LEAST_PROMPTS
    for prompts in range(first, min(_MOST_FACTOR * first, rules.MOST_PROMPTS) + 1, rules.LEAST_PROMPTS):
        hits = round(share * prompts)
        high = share_upper_bound(hits, prompts, PASS_ALPHA)
        if (high is not None and high < most) or at_least_by_chance(hits, prompts, allowed) < rules.CLEAR_ALPHA:
            return prompts
    return None
