"""What follows what: successor counts per context of the training tokens, as sorted arrays.

Counting only; how counts become probabilities is `ngram_model.py`, where they are kept is `cache.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
