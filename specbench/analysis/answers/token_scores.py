"""What the baseline's probabilities say of given tokens: how far each is from the best one, and the means of an answer. Pure.

The distribution is shaped as the request asked: temperature, then top_k, then top_p. Of the vocabulary only the best tokens are
told, so what lies beyond them is estimated. Both arms are measured alike, so that an error of the estimate shifts both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from specbench.model.answers.compared_answers import TokenScores
from specbench.model.answers.token_probabilities import Token, TokenProbabilities

BEYOND_NATS = 1.0
"""How much less likely than the last of the best tokens one is taken to be whose own probability is not told."""

IMPOSSIBLE_NATS = 99.0
"""The gap of a token whose own probability was told as 0, or as no number: beyond every limit, and fit for a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestShape:
    """How a request shaped the distribution that its answer was drawn from."""

    temperature: float
    top_p: float | None = None
    top_k: int | None = None


def gap_nats(place: TokenProbabilities, token: Token | None = None) -> float | None:
    """The best log probability minus that of the token: the one that stands there, or another one; None where nothing is told."""
    if not place.best:
        return None
    which = place.token if token is None else token
    if which is not None and which == place.token and place.log_p is None:
        return IMPOSSIBLE_NATS
    told = place.log_p if which is None or which == place.token else dict(place.best).get(which)
    beyond = place.best[-1][1] - BEYOND_NATS
    return max(0.0, place.best[0][1] - (beyond if told is None else told))


def widest_gap_nats(places: Sequence[TokenProbabilities]) -> float | None:
    """The widest gap of all these tokens; None where none is told."""
    return max((gap for place in places if (gap := gap_nats(place)) is not None), default=None)


def first_share(places: Sequence[TokenProbabilities]) -> float | None:
    """The share of these places at which the token that stands there is the most probable one; None without any place."""
    return sum(gap_nats(place) == 0.0 for place in places) / len(places) if places else None


def token_scores(places: Sequence[TokenProbabilities], shape: RequestShape) -> TokenScores | None:
    """The means over these tokens; None where there is none, or the request took the best one always."""
    if not places or shape.temperature <= 0:
        return None
    scored = [_score(place, shape) for place in places]
    surprise, rank, outside = (math.fsum(one) / len(scored) for one in zip(*scored, strict=True))
    return TokenScores(tokens=len(scored), surprise_nats=surprise, rank=rank, outside=outside)


def _score(place: TokenProbabilities, shape: RequestShape) -> tuple[float, float, float]:
    """Surprise, rank and outside of one token."""
    kept = _shaped(place.best, shape)
    if not kept:
        return 0.0, 0.0, 1.0
    expected = math.fsum(math.exp(log_p) * log_p for _, log_p in kept)
    found = dict(kept).get(place.token) if place.token is not None and place.log_p is not None else None
    first = kept[0][0] == place.token and found is not None
    log_p = kept[-1][1] - BEYOND_NATS if found is None else found
    return log_p - expected, float(first) - math.exp(kept[0][1]), float(found is None)


def _shaped(best: Sequence[tuple[Token, float]], shape: RequestShape) -> list[tuple[Token, float]]:
    """The tokens that the request may yield, with the logarithms of what each then is worth; they sum to 1."""
    if not best:
        return []
    warm = [(token, log_p / shape.temperature) for token, log_p in best]
    if shape.top_k is not None and shape.top_k > 0:
        warm = warm[: shape.top_k]
    weights = [math.exp(log_w - warm[0][1]) for _, log_w in warm]
    if shape.top_p is not None and shape.top_p < 1:
        rest = 0.0 if shape.top_k is not None and 0 < shape.top_k <= len(best) else _beyond(best, shape.temperature)
        wanted = shape.top_p * (math.fsum(weights) + rest)
        reached = 0.0
        for count, weight in enumerate(weights, start=1):
            reached += weight
            if reached >= wanted:
                warm, weights = warm[:count], weights[:count]
                break
    whole = math.log(math.fsum(weights)) + warm[0][1]
    return [(token, log_w - whole) for token, log_w in warm]


def _beyond(best: Sequence[tuple[Token, float]], temperature: float) -> float:
    """The weight of all tokens beyond the best ones, relative to the first: each is taken for half as probable as the last."""
    left = 1.0 - math.fsum(math.exp(log_p) for _, log_p in best)
    each = best[-1][1] - math.log(2.0)
    if left <= 1e-6:
        return 0.0
    return left / math.exp(each) * math.exp((each - best[0][1]) / temperature)
