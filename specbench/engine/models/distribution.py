"""A probability distribution over a few tokens, and what sampling settings make of it.

Pure: whoever draws brings the random number. No model and no speculation here.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class TokenDistribution:
    """Tokens with positive probability, most probable first (ties: lower token first); all others have probability 0.

    `cumulative[i]` is the sum of the first i + 1 probabilities, and the last entry is 1 to rounding. Arrays, not lists: thousands
    of these are remembered, and the garbage collector does not look into arrays.
    """

    tokens: "array[int]"
    probabilities: "array[float]"
    cumulative: "array[float]"


@dataclass(frozen=True, slots=True)
class Shaping:
    """How a request wants to sample: temperature 0 is greedy; `top_k` 0 and `top_p` 1 keep every token."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0


AS_IT_IS = Shaping()


def distribution_of(weights: Iterable[tuple[int, float]]) -> TokenDistribution:
    """The distribution proportional to those positive weights."""
    ordered = sorted([(-weight, token) for token, weight in weights if weight > 0.0])
    return _normalised([token for _, token in ordered], [-weight for weight, _ in ordered])


def _normalised(tokens: Sequence[int], weights: Sequence[float]) -> TokenDistribution:
    """The distribution of weights that are in order already."""
    total = sum(weights)
    probabilities = array("d", [weight / total for weight in weights])
    return TokenDistribution(array("H", tokens), probabilities, array("d", accumulate(probabilities)))


def one_hot(token: int) -> TokenDistribution:
    """Certainty of one token."""
    return TokenDistribution(array("H", [token]), array("d", [1.0]), array("d", [1.0]))


def probability(distribution: TokenDistribution, token: int) -> float:
    """The probability of that token, 0 where it is not among the few."""
    try:
        return distribution.probabilities[distribution.tokens.index(token)]
    except ValueError:
        return 0.0


def draw(distribution: TokenDistribution, u: float) -> int:
    """The token at the point u of [0, 1): each token's share of the interval is its probability."""
    cumulative = distribution.cumulative
    # Scaled by the last entry, which rounding may leave a hair away from 1.
    return distribution.tokens[min(bisect_right(cumulative, u * cumulative[-1]), len(cumulative) - 1)]


def shaped(distribution: TokenDistribution, shaping: Shaping) -> TokenDistribution:
    """The distribution under temperature, then top_k, then top_p, as serving engines apply them.

    p(x) ^ (1 / temperature), normalised; then the `top_k` most probable; then the fewest most probable whose sum reaches `top_p`.
    """
    if shaping == AS_IT_IS:
        return distribution
    if shaping.temperature == 0.0:
        return one_hot(distribution.tokens[0])
    exponent = 1.0 / shaping.temperature
    # Relative to the most probable token, so that a low temperature cannot underflow all of them. The order stays as it is.
    top = distribution.probabilities[0]
    weights = [(p / top) ** exponent for p in distribution.probabilities]
    kept = min(shaping.top_k or len(weights), len(weights))
    if shaping.top_p < 1.0:
        sums = list(accumulate(weights[:kept]))
        kept = min(bisect_right(sums, shaping.top_p * sums[-1] * (1 - 1e-12)) + 1, kept)
    while weights[kept - 1] == 0.0:
        kept -= 1
    return _normalised(distribution.tokens[:kept], weights[:kept])


def residual(p: TokenDistribution, q: TokenDistribution) -> TokenDistribution:
    """norm(max(0, p - q)): where the next token comes from once a token drafted from q was rejected.

    Where rounding leaves nothing of the difference, p itself. Source: Chen et al. 2023, arXiv 2302.01318, algorithm 2.
    """
    drafted = dict(zip(q.tokens, q.probabilities, strict=True))
    excess = [(token, weight - drafted.get(token, 0.0)) for token, weight in zip(p.tokens, p.probabilities, strict=True)]
    return distribution_of(excess) if any(weight > 0.0 for _, weight in excess) else p
