"""A language model of counts: the next token's distribution from the longest contexts that the training text has seen, and those
counts themselves, as sorted arrays. Where they are kept is `cache.py`.

No sampling settings' meaning, no speculation and no clock here.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specbench.engine.models.distribution import Shaping, TokenDistribution, distribution_of, shaped

TOKEN_BITS = 16
TOKEN_MASK = (1 << TOKEN_BITS) - 1
LONGEST_CONTEXT = 64 // TOKEN_BITS


@dataclass(frozen=True, slots=True)
class SuccessorTable:
    """The most frequent successors of each seen context of `length` tokens, at distance `distance` after it.

    Context i is `contexts[i]` (its tokens packed into 64 bits, the last one lowest; ascending); its successors are
    `tokens[starts[i]:starts[i+1]]` with `counts`, most frequent first.
    """

    length: int
    distance: int
    contexts: NDArray[np.uint64]
    starts: NDArray[np.int64]
    tokens: NDArray[np.uint16]
    counts: NDArray[np.int32]


def packed(tokens: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Every window of `length` tokens as one number, shape (n - length + 1,): exact, as 16 bits a token fit four into 64."""
    windows = np.zeros(len(tokens) - length + 1, dtype=np.uint64)
    for offset in range(length):
        windows = (windows << np.uint64(TOKEN_BITS)) | tokens[offset : len(tokens) - length + 1 + offset]
    return windows


def count_successors(tokens: NDArray[np.uint64], length: int, distance: int, keep: int) -> SuccessorTable:
    """Counts of the token `distance` places after each context of `length` tokens, the `keep` most frequent per context.

    Args:
        tokens: (n,) training tokens, below 2**16.
        length: Tokens of context, 1 to 4.
        distance: 1 for the next token, 2 for the one after it, and so on.
        keep: Successors kept per context; ties go to the lower token.
    """
    reach = length + distance - 1
    contexts, which = np.unique(packed(tokens[: len(tokens) - distance], length), return_inverse=True)
    followers = tokens[reach:]
    pairs, counts = np.unique((which.astype(np.uint64) << np.uint64(TOKEN_BITS)) | followers, return_counts=True)
    owner = (pairs >> np.uint64(TOKEN_BITS)).astype(np.int64)
    order = np.lexsort((-counts, owner))
    owner, pairs, counts = owner[order], pairs[order], counts[order]
    first = np.searchsorted(owner, np.arange(len(contexts) + 1))
    kept = np.arange(len(owner)) - first[owner] < keep
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner[kept], minlength=len(contexts)))))
    return SuccessorTable(
        length=length,
        distance=distance,
        contexts=contexts,
        starts=starts.astype(np.int64),
        tokens=(pairs[kept] & np.uint64(TOKEN_MASK)).astype(np.uint16),
        counts=counts[kept].astype(np.int32),
    )


# How many context lengths are blended; more would change little and cost time in every step.
BLENDED = 2
REMEMBERED = 8192


@dataclass(frozen=True, slots=True)
class _Rows:
    """One successor table as flat memory: looking up a scalar in a memoryview is far cheaper than in a numpy array."""

    length: int
    contexts: memoryview
    starts: memoryview
    tokens: memoryview
    counts: memoryview


class LanguageModel:
    """p(next token | context), a true distribution with a few hundred tokens of support at most.

    Witten-Bell interpolation over the two longest seen contexts and a tail of frequent tokens:
    p(x | h) = (c(h, x) + d(h) p(x | shorter h)) / (c(h) + d(h)), d(h) the number of different successors of h.

    Source: Witten and Bell 1991; Chen and Goodman 1999, section 2.4.
    """

    def __init__(self, tables: Sequence[SuccessorTable], tail: Sequence[tuple[int, float]], doubt: float = 1.0) -> None:
        """A model of those tables, `tail` under them; `doubt` scales d(h): above 1 it trusts what followed a context less."""
        ordered = sorted(tables, key=lambda table: -table.length)
        self._rows = [_Rows(t.length, t.contexts.data, t.starts.data, t.tokens.data, t.counts.data) for t in ordered]
        self._tail = tuple(tail)
        self._doubt = doubt
        self._reach = ordered[0].length
        self._memory: dict[tuple[int, Shaping | None], TokenDistribution] = {}

    def next_token(self, context: Sequence[int], shaping: Shaping | None = None) -> TokenDistribution:
        """The distribution of the token after `context`, under `shaping` where one is given."""
        window = 1  # a leading one, so that short contexts with low tokens differ from each other
        for token in context[-self._reach :]:
            window = (window << TOKEN_BITS) | token
        known = self._memory.get((window, shaping))
        if known is None:
            known = shaped(self.next_token(context), shaping) if shaping is not None else self._blend(context[-self._reach :])
            if len(self._memory) >= REMEMBERED:
                self._memory.clear()
            self._memory[(window, shaping)] = known
        return known

    def _blend(self, context: Sequence[int]) -> TokenDistribution:
        found: list[tuple[memoryview, memoryview]] = []
        for rows in self._rows:
            span = _successors(rows, context)
            if span is not None:
                found.append(span)
                if len(found) == BLENDED:
                    break
        weights = dict(self._tail)
        for tokens, counts in reversed(found):
            total = sum(counts)
            new = self._doubt * len(tokens)
            scale = new / (total + new)
            for token in weights:
                weights[token] *= scale
            for token, count in zip(tokens, counts, strict=True):
                weights[token] = weights.get(token, 0.0) + count / (total + new)
        return distribution_of(weights.items())


def _successors(rows: _Rows, context: Sequence[int]) -> tuple[memoryview, memoryview] | None:
    if len(context) < rows.length:
        return None
    window = 0
    for token in context[len(context) - rows.length :]:
        window = (window << TOKEN_BITS) | token
    at = bisect_left(rows.contexts, window)
    if at == len(rows.contexts) or rows.contexts[at] != window:
        return None
    span = slice(rows.starts[at], rows.starts[at + 1])
    return rows.tokens[span], rows.counts[span]
