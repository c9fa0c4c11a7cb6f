"""From a corpus to what the engine needs of a model: vocabulary, successor tables, tail of frequent tokens.

Pure but for reading the corpus; where the outcome is kept between starts is `cache.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specbench.engine.counts import LONGEST_CONTEXT, SuccessorTable, count_successors
from specbench.engine.language import LanguageModel
from specbench.engine.tokens import EOS, Vocabulary, encode_pieces, pieces_of, vocabulary_of


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the outcome, besides the Python version that brings the text."""

    corpus: str
    heads: int = 0
    training_tokens: int = 400_000
    vocabulary: int = 16_384
    target_context: int = LONGEST_CONTEXT
    # One token less of context than the target: close enough to be right most of the time, far enough to be wrong at times.
    draft_context: int = LONGEST_CONTEXT - 1
    # And less sure of what it saw, as a small model's distributions are flatter than a large one's.
    draft_doubt: float = 3.0
    successors: int = 48
    tail: int = 32


@dataclass(frozen=True, slots=True)
class Trained:
    """The outcome of training, as it is kept on disk."""

    vocabulary: Vocabulary
    tables: tuple[SuccessorTable, ...]
    tail_tokens: NDArray[np.int64]
    tail_shares: NDArray[np.float64]


def train(recipe: Recipe, documents: Iterable[bytes]) -> Trained:
    """Counts over the first `training_tokens` pieces of the documents, each document closed by the end-of-answer token."""
    taken: list[list[bytes]] = []
    size = 0
    for document in documents:
        pieces = pieces_of(document)
        taken.append(pieces)
        size += len(pieces)
        if size >= recipe.training_tokens:
            break
    vocabulary = vocabulary_of((piece for pieces in taken for piece in pieces), recipe.vocabulary)
    flat: list[int] = []
    for pieces in taken:
        flat.extend(encode_pieces(vocabulary, pieces))
        flat.append(EOS)
    tokens = np.array(flat, dtype=np.uint64)
    next_token = [count_successors(tokens, length, 1, recipe.successors) for length in range(1, recipe.target_context + 1)]
    # Head k sees the text up to the last token but one and predicts k places past the last: it never sees the token between.
    further = [
        count_successors(tokens, length, 1 + head, recipe.successors)
        for head in range(1, recipe.heads + 1)
        for length in range(1, recipe.draft_context + 1)
    ]
    frequency = np.bincount(tokens.astype(np.int64))
    tail = np.argsort(-frequency, kind="stable")[: recipe.tail]
    return Trained(vocabulary, (*next_token, *further), tail, frequency[tail] / frequency[tail].sum())


@dataclass(frozen=True, slots=True)
class Models:
    """The language models of one engine: head k of `heads` (from 0) predicts the token k + 2 places after its context."""

    vocabulary: Vocabulary
    target: LanguageModel
    draft: LanguageModel
    heads: tuple[LanguageModel, ...]


def models_of(recipe: Recipe, trained: Trained) -> Models:
    """The models that those counts make."""
    tail = list(zip(trained.tail_tokens.tolist(), trained.tail_shares.tolist(), strict=True))

    def model(distance: int, context: int, doubt: float) -> LanguageModel:
        tables = [table for table in trained.tables if table.distance == distance and table.length <= context]
        return LanguageModel(tables, tail, doubt)

    return Models(
        vocabulary=trained.vocabulary,
        target=model(1, recipe.target_context, 1.0),
        draft=model(1, recipe.draft_context, recipe.draft_doubt),
        heads=tuple(model(head + 1, recipe.draft_context, 1.0) for head in range(1, recipe.heads + 1)),
    )
