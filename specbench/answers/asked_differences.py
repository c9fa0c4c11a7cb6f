"""The token at which two greedy answers part, asked of the baseline one at a time, where its engine scores no given text.

The beginning that both have in common is given as ids of the engine's own tokenizer where it has one, else as text. Text may be
cut inside a token: then it begins with the word in which the answers part, and goes on token by token until they do.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specbench.analysis.answers.comparison import common_text
from specbench.analysis.answers.token_scores import gap_nats
from specbench.answers.asked_pairs import AskedPair, Ruled
from specbench.answers.baseline import Baseline, Unanswered
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.answers.token_probabilities import Token, TokenProbabilities
from specbench.model.result import PerArm
from specbench.telemetry.endpoint_facts import token_ids
from specbench.telemetry.engines.rulers import NextTokenRule

LEAST_RULER = 0.9
OWN_PLACES = 32  # in answers of the baseline, by which it is checked first
MOST_STEPS = 6  # tokens of a word that both answers may have in common


@dataclass(frozen=True, slots=True)
class _Texts:
    """The prompt as text, and both answers as what the engine is given of them: ids of its tokenizer, or text."""

    prompt: str
    baseline: Sequence[int] | str
    speculative: Sequence[int] | str


def asked_differences(baseline: Baseline, rule: NextTokenRule, asked: Sequence[AskedPair], seed: int) -> Ruled:
    """The pairs with both arms' gaps where greedy answers part, and the share of its own tokens that the baseline puts first."""
    greedy = [one for one in asked if one.is_greedy]
    unasked = tuple(one.compared if one.reason is None else replace(one.compared, reason=one.reason) for one in asked)
    rng = random.Random(f"{seed}/own places")
    own = [greedy[rng.randrange(len(greedy))] for _ in range(OWN_PLACES)] if greedy else []
    places = [(one, rng.random()) for one in own]
    checked = list(baseline.each(places, lambda place: _own_first(baseline, rule, place[0].pair, place[1])))
    firsts = [one for one in checked if isinstance(one, bool)]
    refused = [one.reason for one in checked if isinstance(one, Unanswered)]
    if not firsts:
        return Ruled(unasked, unanswerable=refused[0] if refused else None)
    ruler = sum(firsts) / len(firsts)
    if ruler < LEAST_RULER:
        return Ruled(unasked, ruler=ruler)
    found = [one for one in baseline.each(asked, lambda one: _ruled(baseline, rule, one)) if isinstance(one, tuple)]
    best = {place: log_p for place, (_, log_p) in enumerate(found) if log_p is not None}
    return Ruled(tuple(compared for compared, _ in found), ruler=ruler, best_log_p=best)


def _ruled(baseline: Baseline, rule: NextTokenRule, one: AskedPair) -> tuple[ComparedAnswers, float | None]:
    compared = one.compared
    if one.reason is not None:
        return replace(compared, reason=one.reason), None
    if not one.is_greedy or compared.equal:
        return compared, None
    texts = _texts(baseline, rule, one.pair)
    if isinstance(texts, Unanswered):
        return replace(compared, reason=texts.reason), None
    found = _gaps_of_ids(baseline, rule, texts) if rule.by_ids else _gaps_of_text(baseline, rule, texts, one.pair)
    if isinstance(found, Unanswered):
        return replace(compared, reason=found.reason), None
    gaps, best = found
    return replace(compared, gap_nats=gaps), best


def _own_first(baseline: Baseline, rule: NextTokenRule, pair: KeptPair, share: float) -> bool | Unanswered:
    """Whether the baseline, asked at a place of its own answer, puts first the token that stands there."""
    texts = _texts(baseline, rule, pair)
    if isinstance(texts, Unanswered):
        return texts
    own = texts.baseline
    at = int(share * len(own)) if not isinstance(own, str) else _head_of_word(own, int(share * len(own)))
    best = _best_after(baseline, rule, texts.prompt, own[:at])
    if isinstance(best, Unanswered):
        return best
    return best[0][0] == _token_at(own, at, best)


def _texts(baseline: Baseline, rule: NextTokenRule, pair: KeptPair) -> _Texts | Unanswered:
    """What the engine is given of the pair, or why it cannot be given that."""
    if not all(map(_is_plain, (pair.answers.baseline, pair.answers.speculative))):
        return Unanswered(reasons.NOT_PLAIN)
    prompt = _prompt(baseline, json.loads(pair.body))
    if isinstance(prompt, Unanswered):
        return prompt
    before, after = pair.answers.baseline.text, pair.answers.speculative.text
    if not rule.by_ids:
        return _Texts(prompt, before, after)
    ours, theirs = _ids(baseline, before), _ids(baseline, after)
    return _Texts(prompt, ours, theirs) if ours and theirs else Unanswered(reasons.NO_IDS)


def _is_plain(answer: GeneratedAnswer) -> bool:
    return answer.text == answer.content and not answer.tool_calls


def _prompt(baseline: Baseline, body: Mapping[str, Any]) -> str | Unanswered:
    """The prompt as the text that the baseline's answer followed."""
    if isinstance(body.get("prompt"), str):
        return str(body["prompt"])
    ask = baseline.engine.ruler.prompt_text
    if ask is None:
        return Unanswered(reasons.NO_CONTINUING)
    told = baseline.ask(ask(body))
    if isinstance(told, Unanswered):
        return told
    text = told.get("prompt") if isinstance(told, dict) else None
    return text if isinstance(text, str) else Unanswered(reasons.NO_TEMPLATE)


def _ids(baseline: Baseline, text: str) -> tuple[int, ...] | None:
    tokenize = baseline.engine.tokenize
    return None if tokenize is None else token_ids(baseline.ask(tokenize(baseline.model, text)))


def _best_after(
    baseline: Baseline, rule: NextTokenRule, prompt: str, begun: Sequence[int] | str
) -> tuple[tuple[Token, float], ...] | Unanswered:
    told = baseline.ask(rule.ask(baseline.model, prompt, begun))
    if isinstance(told, Unanswered):
        return told
    return rule.read(told) or Unanswered(reasons.NO_PROBABILITIES)


def _gaps_of_ids(baseline: Baseline, rule: NextTokenRule, texts: _Texts) -> tuple[PerArm[float], float] | Unanswered:
    ours, theirs = texts.baseline, texts.speculative
    at = next(
        (place for place, both in enumerate(zip(ours, theirs, strict=False)) if both[0] != both[1]), min(len(ours), len(theirs))
    )
    best = _best_after(baseline, rule, texts.prompt, ours[:at])
    return best if isinstance(best, Unanswered) else _gaps(best, _token_at(ours, at, best), _token_at(theirs, at, best))


def _gaps_of_text(
    baseline: Baseline, rule: NextTokenRule, texts: _Texts, pair: KeptPair
) -> tuple[PerArm[float], float] | Unanswered:
    ours, theirs = str(texts.baseline), str(texts.speculative)
    at = _head_of_word(ours, len(common_text(pair.answers)))
    for _ in range(MOST_STEPS):
        best = _best_after(baseline, rule, texts.prompt, ours[:at])
        if isinstance(best, Unanswered):
            return best
        own, other = _token_at(ours, at, best), _token_at(theirs, at, best)
        if not own or own != other:
            return _gaps(best, own, other)
        at += len(str(own))
    return Unanswered(reasons.NO_PROBABILITIES)


def _token_at(answer: Sequence[int] | str, at: int, best: Sequence[tuple[Token, float]]) -> Token | None:
    """The token that stands there, None at the end of the answer: its id, or of the best ones the longest that the text goes on
    with, "" where none of them fits."""
    if at >= len(answer):
        return None
    if not isinstance(answer, str):
        return answer[at]
    fitting = [str(token) for token, _ in best if answer.startswith(str(token), at)]
    return max(fitting, key=len, default="")


def _gaps(best: tuple[tuple[Token, float], ...], own: Token | None, other: Token | None) -> tuple[PerArm[float], float]:
    """Both arms' gaps, and the best log probability; of an arm whose answer ended there, and its end is not told, the least."""
    place = TokenProbabilities(token=None, log_p=None, best=best)
    ours, theirs = (None if token is None else gap_nats(place, token) for token in (own, other))
    least = best[0][1] - best[1][1] if len(best) > 1 else 0.0
    if ours is None and theirs is None:
        return PerArm(0.0, 0.0), best[0][1]
    if ours is None:
        return PerArm(least if theirs == 0.0 else 0.0, theirs or 0.0), best[0][1]
    return PerArm(ours, (least if ours == 0.0 else 0.0) if theirs is None else theirs), best[0][1]


def _head_of_word(text: str, at: int) -> int:
    """Where the word begins in which this place lies, the blank before it included: most tokens begin there."""
    head = max(text.rfind(blank, 0, at + 1) for blank in " \n\t")
    return max(0, head)
