"""The token at which two greedy answers part, asked of the baseline one at a time, where its engine scores no given text.

The beginning that both have in common is given as ids of the engine's own tokenizer where it tells their texts, else as text up
to the word in which the answers part, as text may be cut inside a token. From there it goes on token by token until they do.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specbench.analysis.answers.comparison import common_text
from specbench.answers.asked_pairs import AskedPair, Ruled
from specbench.answers.baseline import Baseline, Unanswered
from specbench.answers.parted_texts import fitting, parting, widest
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.result import PerArm
from specbench.telemetry.engines.rulers import NextToken, NextTokenRule, pieces_in

LEAST_RULER = 0.9
OWN_PLACES = 32  # in answers of the baseline, by which it is checked first
MOST_STEPS = 6  # tokens that both answers may have in common behind the place where the engine begins


@dataclass(frozen=True, slots=True)
class _Place:
    """Behind the prompt and so many characters of an answer; `ids`: those characters, None where the engine takes text."""

    prompt: str
    at: int
    ids: tuple[int, ...] | None

    def after(self, token: NextToken) -> "_Place":
        """The place one token further on."""
        ids = None if self.ids is None or token.id is None else (*self.ids, token.id)
        return replace(self, at=self.at + len(token.text), ids=ids)


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
    found = _gaps_where_they_part(baseline, rule, one.pair)
    if isinstance(found, Unanswered):
        return replace(compared, reason=found.reason), None
    gaps, best = found
    return replace(compared, gap_nats=gaps), best


def _own_first(baseline: Baseline, rule: NextTokenRule, pair: KeptPair, share: float) -> bool | Unanswered:
    """Whether the baseline, asked at a place of its own answer, puts first a token with which the answer goes on."""
    own = pair.answers.baseline.text
    place = _place(baseline, rule, pair, PerArm(own, own), int(share * len(own)))
    if isinstance(place, Unanswered):
        return place
    best = _best_at(baseline, rule, own, place)
    if isinstance(best, Unanswered):
        return best
    return fitting(best, own, place.at)[0] == best[0]


def _gaps_where_they_part(baseline: Baseline, rule: NextTokenRule, pair: KeptPair) -> tuple[PerArm[float], float] | Unanswered:
    """Both arms' gaps where they part, and the best log probability there.

    Of all ways in which the texts can have come from tokens it is the one with the smallest gaps, which the arms are given: a way
    costs as much as the least probable token by which both go on before they part.
    """
    texts, parted = PerArm(pair.answers.baseline.text, pair.answers.speculative.text), len(common_text(pair.answers))
    place = _place(baseline, rule, pair, texts, parted)
    ways: list[tuple[PerArm[float], float]] = []
    cost = 0.0
    for _ in range(MOST_STEPS):
        if isinstance(place, Unanswered):
            return place
        best = _best_at(baseline, rule, texts.baseline, place)
        if isinstance(best, Unanswered):
            return best
        found = parting(best, texts, place.at, parted)
        if found.gaps is not None:
            ways.append((PerArm(max(cost, found.gaps.baseline), max(cost, found.gaps.speculative)), best[0].log_p))
        if found.common is None:
            break
        cost = max(cost, best[0].log_p - found.common.log_p)
        if any(widest(gaps) <= cost for gaps, _ in ways):
            break  # to go on costs more
        place = place.after(found.common)
    return min(ways, key=lambda way: widest(way[0])) if ways else Unanswered(reasons.NO_PROBABILITIES)


def _place(baseline: Baseline, rule: NextTokenRule, pair: KeptPair, texts: PerArm[str], at: int) -> _Place | Unanswered:
    """The last place up to this character, of what both texts have in common, from which the engine can go on."""
    if not all(map(_is_plain, (pair.answers.baseline, pair.answers.speculative))):
        return Unanswered(reasons.NOT_PLAIN)
    prompt = _prompt(baseline, json.loads(pair.body))
    if isinstance(prompt, Unanswered):
        return prompt
    if rule.pieces is None:
        return _Place(prompt, _head_of_word(texts.baseline, at), None)
    ours, theirs = (pieces_in(baseline.ask(rule.pieces(text))) for text in (texts.baseline, texts.speculative))
    lead = None if ours is None else _lead(ours, texts.baseline)
    if ours is None or theirs is None or lead is None:
        return Unanswered(reasons.NO_IDS)
    place, data = _Place(prompt, 0, ()), b""
    for count, (one, other) in enumerate(zip(ours, theirs, strict=False), start=1):
        data += one[1]
        reached = _characters(data)
        if one != other or (reached is not None and reached - lead > at):
            break
        if reached is not None:
            place = _Place(prompt, max(0, reached - lead), tuple(token for token, _ in ours[:count]))
    return place


def _lead(pieces: Sequence[tuple[int, bytes]], text: str) -> int | None:
    """How many characters, a blank as a rule, a tokenizer put before the text; None where its pieces are another text."""
    whole = b"".join(piece for _, piece in pieces).decode(errors="replace")
    return len(whole) - len(text) if whole.endswith(text) else None


def _characters(data: bytes) -> int | None:
    """How many characters these bytes are; None where they end in a part of one."""
    try:
        return len(data.decode())
    except UnicodeDecodeError:
        return None


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


def _best_at(baseline: Baseline, rule: NextTokenRule, text: str, place: _Place) -> tuple[NextToken, ...] | Unanswered:
    told = baseline.ask(rule.ask(baseline.model, place.prompt, text[: place.at] if place.ids is None else place.ids))
    if isinstance(told, Unanswered):
        return told
    return rule.read(told) or Unanswered(reasons.NO_PROBABILITIES)


def _head_of_word(text: str, at: int) -> int:
    """Where the word begins in which this place lies, the blank before it included: most tokens begin there."""
    head = max(text.rfind(blank, 0, at + 1) for blank in " \n\t")
    return max(0, head)
