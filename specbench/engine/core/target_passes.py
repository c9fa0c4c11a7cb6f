"""The target's distributions as this engine computes them: exact, or with the noise that arithmetic has on real accelerators.

No drafts and no sampling here. Why a token decoded alone, verified among drafts or read in a prompt gets another log
probability: other shapes of the same sums are rounded elsewhere.
"""

import math
import random
from collections.abc import Sequence
from typing import Literal

from specbench.engine.models.distribution import Shaping, TokenDistribution, distribution_of, one_hot, probability, shaped
from specbench.engine.models.ngram_model import LanguageModel

Arithmetic = Literal["prefill", "decode", "verify"]
_NUMBERS: dict[Arithmetic, int] = {"prefill": 1, "decode": 2, "verify": 3}
DRAWN = 1 << 16
SPREAD = 40_503  # odd, so that neighbouring tokens look far apart, and no two tokens at one place
IMPOSSIBLE_NATS = -9999.0
"""What stands for minus infinity, which JSON cannot say; vLLM writes the same number."""


class TargetPasses:
    """The target model; `jitter_nats` is the standard deviation of the noise in each log probability.

    The noise of a token rests on the seed, the whole text before it and the arithmetic alone: the same pass again gives the same
    figures, and another engine with that seed too.
    """

    def __init__(self, target: LanguageModel, jitter_nats: float = 0.0, seed: int = 0) -> None:
        self._target = target
        self._seed = seed
        draws = random.Random(0)
        # What noise makes of a probability, drawn once: to draw for every token of every pass takes longer than the model does.
        self._factors = [math.exp(draws.gauss(0.0, jitter_nats)) for _ in range(DRAWN if jitter_nats else 0)]

    def next_token(self, context: Sequence[int], arithmetic: Arithmetic, shaping: Shaping | None = None) -> TokenDistribution:
        """The distribution of the token after `context`, under `shaping` where one is given."""
        factors = self._factors
        if not factors:
            return self._target.next_token(context, shaping)
        exact = self._target.next_token(context)
        place = hash((self._seed, _NUMBERS[arithmetic], *context)) % DRAWN
        weights = [
            (p * factors[(token * SPREAD ^ place) % DRAWN], -token)
            for token, p in zip(exact.tokens, exact.probabilities, strict=True)
        ]
        if shaping is not None and shaping.temperature == 0.0:
            return one_hot(-max(weights)[1])
        noisy = distribution_of([(-token, weight) for weight, token in weights])
        return noisy if shaping is None else shaped(noisy, shaping)


def logprob_of(distribution: TokenDistribution, token: int) -> float:
    """The log of the token's probability, in nats."""
    p = probability(distribution, token)
    return math.log(p) if p > 0.0 else IMPOSSIBLE_NATS


def rank_of(distribution: TokenDistribution, token: int) -> int:
    """The token's place by probability, from 1; one that cannot come is behind all that can."""
    try:
        return distribution.tokens.index(token) + 1
    except ValueError:
        return len(distribution.tokens) + 1
