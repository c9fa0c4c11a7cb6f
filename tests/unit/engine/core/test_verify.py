"""Verification is lossless and counts what it should: the method of Chen et al. 2023, held to its promises."""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from scipy import stats

from specbench.engine.core.verify import Drafted, Node, Round, size_of, verify_chain, verify_tree
from specbench.engine.models.distribution import TokenDistribution, one_hot, probability
from tests.support.engines import drawn, table_distribution

P = table_distribution({0: 0.5, 1: 0.3, 2: 0.2})
Q = table_distribution({0: 0.2, 1: 0.3, 2: 0.4, 3: 0.1})


def always(distribution: TokenDistribution) -> Callable[[Sequence[int]], TokenDistribution]:
    """A target that does not look at the text."""
    return lambda _: distribution


def chain(drafts: Sequence[int], q: TokenDistribution | None = Q) -> list[Drafted]:
    """Those tokens, drafted from q."""
    return [Drafted(token, q) for token in drafts]


def test_each_draft_is_judged_after_the_tokens_before_it() -> None:
    """Draft i is scored on the text before it, the bonus token on the text after the last draft."""
    seen: list[list[int]] = []

    def score(text: Sequence[int]) -> TokenDistribution:
        seen.append(list(text))
        return one_hot(text[-1] + 1)

    made = verify_chain([7, 8], chain([9, 10], None), score, random.Random(1))

    assert seen == [[7, 8], [7, 8, 9], [7, 8, 9, 10]]
    assert made == Round((9, 10, 11), 2)


def test_an_accepted_draft_yields_the_bonus_token() -> None:
    """When all stand, the same pass gives one token more."""
    assert verify_chain([], chain([5, 5, 5], one_hot(5)), always(one_hot(5)), random.Random(1)) == Round((5, 5, 5, 5), 3)


def test_the_corrected_token_is_no_accepted_one() -> None:
    """A draft that falls is replaced; what follows it is dropped, and only what stood before it counts."""
    made = verify_chain([], chain([5, 4, 5], None), always(one_hot(5)), random.Random(1))

    assert made == Round((5, 5), 1)


def test_without_drafts_the_target_draws() -> None:
    """An empty draft is plain decoding."""
    assert verify_chain([1], [], always(one_hot(3)), random.Random(1)) == Round((3,), 0)


def test_a_tree_is_walked_as_far_as_the_target_goes() -> None:
    """The target's own choice decides the branch; leaving the tree ends the round with that token."""
    tree = (Node(1, (Node(2, ()), Node(3, (Node(4, ()),)))), Node(9, ()))

    def score(text: Sequence[int]) -> TokenDistribution:
        return one_hot({0: 1, 1: 3, 3: 4, 4: 8}[text[-1]])

    assert size_of(tree) == 5
    assert verify_tree([0], tree, score, random.Random(1)) == Round((1, 3, 4, 8), 3)
    assert verify_tree([1], tree, score, random.Random(1)) == Round((3,), 0)
    assert verify_tree([1], (), score, random.Random(1)) == Round((3,), 0)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.5, 4), (0.7, 4), (0.8, 5), (0.9, 2)])
def test_tokens_per_round_follow_the_formula(alpha: float, gamma: int) -> None:
    """Where each draft stands with the same probability alpha: (1 - alpha ^ (gamma + 1)) / (1 - alpha) tokens a round.

    The pair: the draft always says 0, the target says 0 with probability alpha. 20,000 rounds, four standard errors.
    """
    target = table_distribution({0: alpha, 1: 1 - alpha})
    rng = random.Random(11)
    counts = [len(verify_chain([], chain([0] * gamma, None), always(target), rng).tokens) for _ in range(20_000)]
    mean = sum(counts) / len(counts)
    expected = (1 - alpha ** (gamma + 1)) / (1 - alpha)

    assert abs(mean - expected) < 4 * stats.tstd(counts) / len(counts) ** 0.5


def test_acceptance_of_a_sampled_draft_is_the_overlap() -> None:
    """A token drafted from q stands with probability sum of min(p, q), here 0.2 + 0.3 + 0.2."""
    rng = random.Random(5)
    accepted = sum(verify_chain([], chain([drawn(Q, rng)]), always(P), rng).accepted for _ in range(20_000))

    assert stats.binomtest(accepted, 20_000, 0.7).pvalue > 0.001


Sampler = Callable[[random.Random], int]


def first_of_chain(rng: random.Random) -> int:
    """The first token of a round whose draft was drawn from Q."""
    return verify_chain([], chain([drawn(Q, rng) for _ in range(3)]), always(P), rng).tokens[0]


def first_of_guess(rng: random.Random) -> int:
    """The first token of a round whose draft was a fixed guess."""
    return verify_chain([], chain([2, 2], None), always(P), rng).tokens[0]


def first_of_tree(rng: random.Random) -> int:
    """The first token of a round over a tree."""
    return verify_tree([], (Node(2, ()), Node(0, ())), always(P), rng).tokens[0]


def accepted_too_often(rng: random.Random) -> int:
    """A wrong sampler: it draws from p after a rejection, not from what the draft left."""
    token = drawn(Q, rng)
    return token if rng.random() < min(1.0, probability(P, token) / probability(Q, token)) else drawn(P, rng)


def p_value(sampler: Sampler, draws: int = 20_000) -> float:
    """How well 20,000 draws fit the target, by chi-square."""
    rng = random.Random(3)
    seen = Counter(sampler(rng) for _ in range(draws))
    return float(stats.chisquare([seen[token] for token in P.tokens], [p * draws for p in P.probabilities]).pvalue)


@pytest.mark.parametrize("sampler", [first_of_chain, first_of_guess, first_of_tree])
def test_tokens_follow_the_target(sampler: Sampler) -> None:
    """Whatever was drafted, what comes out is distributed as the target."""
    assert p_value(sampler) > 0.001


def test_the_comparison_can_tell() -> None:
    """The same comparison rejects a sampler with the residual left out."""
    assert p_value(accepted_too_often) < 1e-6
