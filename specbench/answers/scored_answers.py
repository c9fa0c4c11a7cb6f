"""Whole answers scored by the baseline, where its engine tells the log probabilities of given tokens: one prefill an answer.

Greedy answers that differ are asked about, and sampled ones always; a few of the baseline's own greedy answers come first, since
a baseline that does not find its own tokens in them cannot judge others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.analysis.answers.comparison import common_ids
from specbench.analysis.answers.token_scores import first_share, gap_nats, token_scores, widest_gap_nats
from specbench.answers.asked_pairs import AskedPair, Ruled, shape_of
from specbench.answers.baseline import Baseline, Unanswered
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.answers.kept_pairs import KeptPair
from specbench.model.answers.token_probabilities import TokenProbabilities
from specbench.model.result import PerArm
from specbench.telemetry.engines.rulers import ScoringRule

LEAST_RULER = 0.9
OWN_ANSWERS = 16  # of the baseline, by which it is checked first
_Places = tuple[TokenProbabilities, ...]


@dataclass(frozen=True, slots=True)
class _Given:
    """One answer to be scored: the ids of its prompt and its own."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]


def scored(baseline: Baseline, rule: ScoringRule, asked: Sequence[AskedPair]) -> Ruled:
    """The pairs with what the baseline thinks of both answers, and the share of its own greedy tokens that it puts first."""
    able = [(one, given.baseline) for one in asked if one.reason is None and (given := _given(one.pair)) is not None]
    greedy = [given for one, given in able if one.is_greedy][:OWN_ANSWERS]
    own = greedy or [given for _, given in able][:OWN_ANSWERS]
    first = list(baseline.each(own, lambda given: _score(baseline, rule, given)))
    if refused := _all_refused(first):
        return Ruled(tuple(one.compared for one in asked), unanswerable=refused)
    ruler = first_share([place for places in first if greedy and isinstance(places, tuple) for place in places])
    if ruler is not None and ruler < LEAST_RULER:
        return Ruled(tuple(one.compared for one in asked), ruler=ruler)
    found = list(baseline.each(asked, lambda one: _ruled(baseline, rule, one)))
    pairs = [one for one in found if isinstance(one, tuple)]
    compared = tuple(each for each, _ in pairs)
    best = {place: log_p for place, (_, log_p) in enumerate(pairs) if log_p is not None}
    return Ruled(compared, ruler=ruler, best_log_p=best)


def _all_refused(found: Sequence[object]) -> str | None:
    """Why none of these was answered; None where one was, or none was asked."""
    refused = [one.reason for one in found if isinstance(one, Unanswered)]
    return refused[0] if refused and len(refused) == len(found) else None


def _given(pair: KeptPair) -> PerArm[_Given] | None:
    """Both answers by ids of one vocabulary, behind the baseline's prompt; None where that is not known."""
    before, after = pair.answers.baseline, pair.answers.speculative
    if before.prompt_token_ids is None or not before.token_ids or not after.token_ids:
        return None
    return PerArm(_Given(before.prompt_token_ids, before.token_ids), _Given(before.prompt_token_ids, after.token_ids))


def _ruled(baseline: Baseline, rule: ScoringRule, one: AskedPair) -> tuple[ComparedAnswers, float | None]:
    """The pair with what the baseline thinks of it, and the best log probability where greedy answers part."""
    compared = one.compared
    if one.reason is not None or (one.is_greedy and compared.equal):
        return (compared if one.reason is None else replace(compared, reason=one.reason)), None
    given = _given(one.pair)
    prompts = one.pair.answers.speculative.prompt_token_ids
    if given is None:
        return replace(compared, reason=reasons.NO_IDS), None
    if prompts not in (None, given.baseline.prompt):
        return replace(compared, reason=reasons.OTHER_IDS), None
    before = _score(baseline, rule, given.baseline)
    after = before if given.speculative == given.baseline else _score(baseline, rule, given.speculative)
    for places in (before, after):
        if isinstance(places, Unanswered):
            return replace(compared, reason=places.reason), None
    assert isinstance(before, tuple)
    assert isinstance(after, tuple)
    return _sampled(one, before, after) if not one.is_greedy else _greedy(one, before, after)


def _score(baseline: Baseline, rule: ScoringRule, given: _Given) -> _Places | Unanswered:
    told = baseline.ask(rule.ask(baseline.model, given.prompt, given.answer))
    if isinstance(told, Unanswered):
        return told
    places = rule.read(told, given.answer)
    return Unanswered(reasons.OTHER_TOKENS) if places is None else places


def _sampled(one: AskedPair, before: _Places, after: _Places) -> tuple[ComparedAnswers, None]:
    shape = shape_of(one.pair)
    scores = token_scores(before, shape), token_scores(after, shape)
    if scores[0] is None or scores[1] is None:
        return one.compared, None
    return replace(one.compared, scores=PerArm(scores[0], scores[1])), None


def _greedy(one: AskedPair, before: _Places, after: _Places) -> tuple[ComparedAnswers, float | None]:
    """Both arms' gaps where the answers part, and the widest ones of the whole answers."""
    at = len(common_ids(one.pair.answers))
    gaps = _gaps_at(before, after, at)
    widest = widest_gap_nats(before), widest_gap_nats(after)
    best = _best_at(before, after, at)
    if gaps is None or widest[0] is None or widest[1] is None:
        return replace(one.compared, reason=reasons.NO_PROBABILITIES), None
    ends = PerArm(max(widest[0], gaps.baseline), max(widest[1], gaps.speculative))
    return replace(one.compared, gap_nats=gaps, widest_gap_nats=ends), best


def _best_at(before: _Places, after: _Places, at: int) -> float | None:
    place = before[at] if at < len(before) else after[at] if at < len(after) else None
    return place.best[0][1] if place is not None and place.best else None


def _gaps_at(before: _Places, after: _Places, at: int) -> PerArm[float] | None:
    """The gap of each arm's token where both have the same beginning.

    Of an arm that ended there only the least gap is known: the end itself is no token that was told.
    """
    ours = gap_nats(before[at]) if at < len(before) else None
    theirs = gap_nats(after[at]) if at < len(after) else None
    if ours is None and theirs is None:
        return None
    if ours is None:
        return PerArm(_least_gap(after[at]), theirs or 0.0)
    if theirs is None:
        return PerArm(ours, _least_gap(before[at]))
    return PerArm(ours, theirs)


def _least_gap(place: TokenProbabilities) -> float:
    """By how much at least another token is less likely than the best one, where the token that stands there is the best."""
    if gap_nats(place) != 0.0 or len(place.best) < 2:
        return 0.0
    return place.best[0][1] - place.best[1][1]
