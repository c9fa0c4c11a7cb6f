"""Verification of drafted tokens: how many stand, and the one token that every round adds.

Pure functions of distributions and random numbers; who drafted and what a round costs is not known here.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specbench.engine.models.distribution import TokenDistribution, draw, one_hot, probability, residual

# Scores a context: the target's distribution of the token after it, under the request's sampling settings.
Score = Callable[[Sequence[int]], TokenDistribution]


@dataclass(frozen=True, slots=True)
class Drafted:
    """One drafted token and the distribution it was drawn from, None where the proposer did not draw (q is then one-hot)."""

    token: int
    q: TokenDistribution | None


@dataclass(frozen=True, slots=True)
class Round:
    """What one verification commits: `accepted` drafted tokens, then one token of the target's own."""

    tokens: tuple[int, ...]
    accepted: int


def verify_chain(context: Sequence[int], drafts: Sequence[Drafted], score: Score, rng: random.Random) -> Round:
    """Tokens distributed exactly as the target would draw them one by one.

    Drafted token x stands with probability min(1, p(x) / q(x)), p the target's distribution *after the tokens before x*; at
    the first that falls the rest is dropped and one token is drawn from norm(max(0, p - q)); if all stand, one more is drawn
    from the target's distribution after the last. The corrected token is no accepted one.

    Source: Chen et al. 2023, arXiv 2302.01318, algorithm 2.
    """
    text = list(context)
    start = len(text)
    for drafted in drafts:
        p = score(text)
        q = drafted.q
        ratio = probability(p, drafted.token) / (1.0 if q is None else probability(q, drafted.token))
        if rng.random() >= ratio:
            text.append(draw(residual(p, one_hot(drafted.token) if q is None else q), rng.random()))
            return Round(tuple(text[start:]), len(text) - start - 1)
        text.append(drafted.token)
    text.append(draw(score(text), rng.random()))
    return Round(tuple(text[start:]), len(drafts))


@dataclass(frozen=True, slots=True)
class Node:
    """A drafted token in a tree of candidates, chosen without drawing, and the candidates that may follow it."""

    token: int
    children: "tuple[Node, ...]"


def size_of(tree: Sequence[Node]) -> int:
    """How many tokens the target has to score for that tree."""
    return sum(1 + size_of(node.children) for node in tree)


def verify_tree(context: Sequence[int], tree: Sequence[Node], score: Score, rng: random.Random) -> Round:
    """Tokens distributed exactly as the target would draw them, from candidates that were chosen without drawing.

    The target draws; while what it drew is among the candidates, the walk goes on below that candidate. For a single candidate
    this equals `verify_chain` with a one-hot q: it stands with probability p(x), and what replaces it follows norm(p without x).
    """
    text = list(context)
    start = len(text)
    branches: Sequence[Node] = tree
    while True:
        token = draw(score(text), rng.random())
        text.append(token)
        taken = next((node for node in branches if node.token == token), None)
        if taken is None:
            return Round(tuple(text[start:]), len(text) - start - 1)
        branches = taken.children
