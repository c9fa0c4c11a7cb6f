"""Verification gone wrong in ways that public engines had: what the checks of answers are tried on. Exact is `verify.py`.

Pure, as there. Each fault is one rule broken; the rest of the round is as it should be.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from specbench.engine.core.verify import Drafted, Node, Round, Score
from specbench.engine.models.distribution import Shaping, TokenDistribution, draw, one_hot, probability, residual
from specbench.engine.options import VerifierFaults


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRules:
    """What a faulty verifier goes by: its faults, where `draft_bonus` is drawn from, and what `relaxed` looks at."""

    faults: VerifierFaults
    bonus: Score
    relaxed_to: Score


def wrong_place(score: Score, start: int, *, loses: bool, late: bool) -> Score:
    """The target's distribution after a text that is not the whole one.

    Args:
        score: the right one.
        start: where the text ended when the round began.
        loses: the last token before that is not seen in this round.
        late: what is read is of the place before.
    """

    def wrong(context: Sequence[int]) -> TokenDistribution:
        seen = [*context[: start - 1], *context[start:]] if loses and start else list(context)
        return score(seen[:-1] if late else seen)

    return wrong


def faulty_shaping(shaping: Shaping, faults: VerifierFaults) -> Shaping:
    """The request's settings with another temperature; greedy stays greedy."""
    return Shaping(shaping.temperature * faults.temperature, shaping.top_p, shaping.top_k)


def verify_chain_wrongly(
    context: Sequence[int], drafts: Sequence[Drafted], score: Score, rng: random.Random, rules: WrongRules
) -> Round:
    """What a faulty verifier commits of a chain."""
    faults = rules.faults
    text = list(context)
    start = len(text)
    for drafted in drafts:
        p, q = score(text), drafted.q
        if faults.equality:
            stands = draw(p, rng.random()) == drafted.token
        else:
            ratio = probability(p, drafted.token) / (1.0 if q is None else probability(q, drafted.token))
            stands = rng.random() < ratio + faults.lenient / 100
        if not stands and faults.relaxed is not None:
            whole = rules.relaxed_to(text)
            stands = probability(whole, drafted.token) >= faults.relaxed * whole.probabilities[0]
        if not stands:
            wanted = p if faults.no_residual or faults.equality else residual(p, one_hot(drafted.token) if q is None else q)
            text.append(draw(wanted, rng.random()))
            return Round(tuple(text[start:]), len(text) - start - 1)
        text.append(drafted.token)
    last = rules.bonus(text) if faults.draft_bonus and drafts else score(text)
    text.append(draw(last, rng.random()))
    return Round(tuple(text[start:]), len(drafts))


def verify_tree_wrongly(context: Sequence[int], tree: Sequence[Node], score: Score, rng: random.Random, lenient: float) -> Round:
    """What a verifier commits of a tree whose first candidate stands so many points too often."""
    text = list(context)
    start = len(text)
    branches: Sequence[Node] = tree
    while True:
        forced = bool(branches) and rng.random() < lenient / 100
        text.append(branches[0].token if forced else draw(score(text), rng.random()))
        taken = next((node for node in branches if node.token == text[-1]), None)
        if taken is None:
            return Round(tuple(text[start:]), len(text) - start - 1)
        branches = taken.children
