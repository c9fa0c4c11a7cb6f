"""A target and a draft over a small vocabulary, and how a request shapes their distributions. Arithmetic differs by its noise.

The distribution of a token follows from the four tokens before it, hashed into a table, so that a token that is lost from the
text is felt for four positions. All of it is arrays over prompts; no prompt is decoded alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]
Tokens = NDArray[np.int64]
Random = np.random.Generator

WORDS = 32  # of the vocabulary
CONTEXTS = 4096
ORDER = 4
_MIX = np.array([7919, 104_729, 1_299_709, 15_485_863])
# Logits fall with the logarithm of a word's rank, by a slope of each context's own, and scatter around that. A draft is flatter,
# near the target in most contexts and far from it in some. So honest arms part in some 80 % of greedy answers of 96 tokens at a
# noise of 0.1 nat, the surprise of a sampled token scatters by about one nat, and above half of the drafts are accepted.
_SLOPES = (0.8, 3.0)
_SCATTER = 0.4
_DRAFT_SLOPE = 0.65
_DRAFT_NEAR, _DRAFT_FAR, _FAR_SHARE = 0.4, 1.5, 0.2


@dataclass(frozen=True, slots=True)
class TokenModels:
    """Logits (contexts, words) of the target and of the draft."""

    target: Logits
    draft: Logits


@dataclass(frozen=True, slots=True)
class TokenSampling:
    """How a request asks for tokens; a temperature of 0 is greedy. With `twice` top_p is applied to its own result again."""

    temperature: float = 0.0
    top_p: float = 1.0
    twice: bool = False


GREEDY, SAMPLED = TokenSampling(), TokenSampling(0.8, 0.95)


@dataclass(frozen=True, slots=True)
class Decoding:
    """So many tokens, asked for in this way, by an arithmetic with so much noise in each log probability."""

    length: int
    sampling: TokenSampling
    noise: float


def models_of(random: Random) -> TokenModels:
    """A target and a draft that is near it."""
    ranks = 1 + np.argsort(random.random((CONTEXTS, WORDS)), axis=1)
    falling = -random.uniform(*_SLOPES, (CONTEXTS, 1)) * np.log(ranks)
    target = falling + _SCATTER * random.standard_normal((CONTEXTS, WORDS))
    off = np.where(random.random((CONTEXTS, 1)) < _FAR_SHARE, _DRAFT_FAR, _DRAFT_NEAR)
    draft = _DRAFT_SLOPE * target + off * random.standard_normal((CONTEXTS, WORDS))
    return TokenModels(target.astype(np.float32), draft.astype(np.float32))


def context_of(tokens: Tokens) -> Tokens:
    """The row of the table for the last four tokens (.., 4)."""
    found: Tokens = (tokens @ _MIX) % CONTEXTS
    return found


def noisy(logits: Logits, noise: float, random: Random) -> Logits:
    """The logits as one arithmetic computes them: each log probability is off by so many nats."""
    if not noise:
        return logits
    found: Logits = random.standard_normal(logits.shape, dtype=np.float32)
    found *= np.float32(noise)
    found += logits
    return found


def shaped(logits: Logits, shaping: TokenSampling) -> Logits:
    """The probabilities (.., words) from which a sampled token is drawn; 0 for those that top_p leaves out."""
    kept: Logits = logits - logits.max(axis=-1, keepdims=True)
    kept /= np.float32(shaping.temperature)
    np.exp(kept, out=kept)
    for _ in range(2 if shaping.twice else 1):
        kept /= kept.sum(axis=-1, keepdims=True)
        kept = _nucleus(kept, shaping.top_p)
    kept /= kept.sum(axis=-1, keepdims=True)
    return kept


def drawn(probabilities: Logits, random: Random) -> Tokens:
    """One token of each distribution (.., words)."""
    levels = random.random((*probabilities.shape[:-1], 1), dtype=np.float32) * probabilities.sum(axis=-1, keepdims=True)
    found: Tokens = (np.cumsum(probabilities, axis=-1) <= levels).sum(axis=-1)
    return np.minimum(found, WORDS - 1)


def of_tokens(values: Logits, tokens: Tokens) -> Logits:
    """The value of each token (.., words)."""
    found: Logits = np.take_along_axis(values, tokens[..., None], axis=-1)[..., 0]
    return found


def _nucleus(probabilities: Logits, top_p: float) -> Logits:
    """The most probable tokens up to the one with which their sum reaches top_p."""
    rising = np.sort(probabilities, axis=-1)
    falling = rising[..., ::-1]
    before = np.cumsum(falling, axis=-1)
    before -= falling
    last = np.argmax((before < top_p)[..., ::-1], axis=-1)[..., None]
    found: Logits = np.where(probabilities >= np.take_along_axis(rising, last, axis=-1), probabilities, np.float32(0.0))
    return found
