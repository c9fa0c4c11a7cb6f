"""The target's distributions as this engine computes them: exact, or with the noise that arithmetic has on real accelerators.

No drafts and no sampling here. Why a token decoded alone, verified among drafts or read in a prompt gets another log
probability: other shapes of the same sums are rounded elsewhere.
"""

import math
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import numpy as np

from specbench.engine.models.distribution import Shaping, TokenDistribution, probability, shaped
from specbench.engine.models.ngram_model import LanguageModel

Arithmetic = Literal["prefill", "decode", "verify"]
_NUMBERS: dict[Arithmetic, int] = {"prefill": 1, "decode": 2, "verify": 3}
IMPOSSIBLE_NATS = -9999.0
"""What stands for minus infinity, which JSON cannot say; vLLM writes the same number."""


class TargetPasses:
    """The target model; `jitter_nats` is the standard deviation of the noise in each log probability.

    The noise of a token rests on the seed, the whole text before it and the arithmetic alone: the same pass again gives the same
    figures, and another engine with that seed too.
    """

    def __init__(self, target: LanguageModel, jitter_nats: float = 0.0, seed: int = 0) -> None:
        self._target = target
        self._jitter_nats = jitter_nats
        self._seed = seed

    def next_token(self, context: Sequence[int], arithmetic: Arithmetic, shaping: Shaping | None = None) -> TokenDistribution:
        """The distribution of the token after `context`, under `shaping` where one is given."""
        if not self._jitter_nats:
            return self._target.next_token(context, shaping)
        key = hash((self._seed, _NUMBERS[arithmetic], *context)) & (1 << 64) - 1
        noisy = _with_noise(self._target.next_token(context), self._jitter_nats, key)
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


def _with_noise(exact: TokenDistribution, sd: float, key: int) -> TokenDistribution:
    draws = np.random.Generator(np.random.Philox(key=key)).standard_normal(len(exact.tokens))
    tokens = np.frombuffer(exact.tokens, dtype=np.uint16)
    by_token = np.argsort(tokens)
    noise = np.empty(len(tokens))
    noise[by_token] = draws  # by token, so that it does not rest on the order of the exact probabilities
    weights = np.frombuffer(exact.probabilities) * np.exp(sd * noise)
    order = np.lexsort((tokens, -weights))
    probabilities = array("d", (weights[order] / weights.sum()).tolist())
    return TokenDistribution(array("H", tokens[order].tolist()), probabilities, array("d", accumulate(probabilities)))
