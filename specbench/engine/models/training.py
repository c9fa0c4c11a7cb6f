"""From a corpus to what the engine needs of a model: vocabulary, successor tables, tail of frequent tokens.

The text is what any Python installation carries, its library's source and the language reference: it differs between versions
of Python, so the same seed gives the same answers per version only. Where the outcome is kept between starts is `cache.py`.
"""

import importlib.util
import random
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specbench.engine.models.ngram_model import LONGEST_CONTEXT, LanguageModel, SuccessorTable, count_successors
from specbench.engine.models.vocabulary import EOS, Vocabulary, encode_pieces, pieces_of, vocabulary_of
from specbench.errors import ScenarioError

# Tests, tables and other people's packages are no text that a reader would take for a program.
SKIPPED = frozenset(
    {
        "test",
        "tests",
        "site-packages",
        "dist-packages",
        "idlelib",
        "lib2to3",
        "pydoc_data",
        "encodings",
        "turtledemo",
        "__pycache__",
    }
)
ORDER_SEED = 7
TOP_LEVEL = re.compile(rb"\n(?=@|def |class |async def )")
DOCSTRING = re.compile(rb'^[ ]*[rR]?"""(.{400,}?)"""', re.DOTALL | re.MULTILINE)
INDENT = re.compile(rb"\n[ ]+")


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


def python_documents() -> Iterator[bytes]:
    """The top-level blocks of the standard library's modules; the end of a block is where an answer may end."""
    for source in _sources():
        yield from TOP_LEVEL.split(source)


def prose_documents() -> Iterator[bytes]:
    """English about Python: the reference's topics where this installation has them, then the library's longer docstrings."""
    if importlib.util.find_spec("pydoc_data") is not None:
        from pydoc_data.topics import topics

        for name in sorted(topics):
            yield topics[name].encode()
    for source in _sources():
        for match in DOCSTRING.finditer(source):
            yield INDENT.sub(b"\n", match.group(1).strip())


CORPORA: dict[str, Callable[[], Iterator[bytes]]] = {"python": python_documents, "prose": prose_documents}


def _sources() -> Iterator[bytes]:
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(library.rglob("*.py")) if SKIPPED.isdisjoint(path.relative_to(library).parts)]
    if not paths:
        raise ScenarioError(
            f"the embedded engine learns from Python's own source, and {library} holds none; install the full standard library"
        )
    # Mixed, so that a bound on the training size does not mean "modules that begin with a".
    random.Random(ORDER_SEED).shuffle(paths)
    for path in paths:
        yield path.read_bytes()
