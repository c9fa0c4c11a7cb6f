"""Keeps trained counts between starts, in the user's cache directory; losing or damaging it costs a training, nothing else.

The only file access of the engine besides its corpus. Plain arrays, never pickles: a cache directory may be writable by others.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specbench.engine.models.ngram_model import SuccessorTable
from specbench.engine.models.training import CORPORA, Recipe, Trained, train
from specbench.engine.models.vocabulary import Vocabulary

# Raise it when training or the file's form changes; files of other versions are never read.
VERSION = 1


def trained_for(recipe: Recipe, directory: Path | None = None) -> Trained:
    """The outcome of training by that recipe, from the cache where it is sound, else made now and cached."""
    path = (directory or cache_directory()) / f"engine-{fingerprint(recipe)}.npz"
    known = load(path)
    if known is not None:
        return known
    trained = train(recipe, CORPORA[recipe.corpus]())
    store(path, trained)
    return trained


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/specbench`, or `~/.cache/specbench`."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root) / "specbench"


def fingerprint(recipe: Recipe) -> str:
    """Names the outcome: recipe, version of this form, and the Python whose library is the text."""
    return hashlib.sha256(f"{VERSION} {sys.version} {sys.prefix} {recipe}".encode()).hexdigest()[:16]


def store(path: Path, trained: Trained) -> None:
    """Writes the file whole or not at all; a directory that cannot be written is no error."""
    arrays: dict[str, NDArray[Any]] = {
        "words": np.frombuffer(b"".join(trained.vocabulary.words), dtype=np.uint8),
        "word_lengths": np.array([len(word) for word in trained.vocabulary.words], dtype=np.int32),
        "shapes": np.array([(table.length, table.distance) for table in trained.tables], dtype=np.int32),
        "tail_tokens": trained.tail_tokens,
        "tail_shares": trained.tail_shares,
    }
    for i, table in enumerate(trained.tables):
        arrays |= {
            f"contexts{i}": table.contexts,
            f"starts{i}": table.starts,
            f"tokens{i}": table.tokens,
            f"counts{i}": table.counts,
        }
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as file:
            temporary = file.name
            np.savez(file, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def load(path: Path) -> Trained | None:
    """What `store` wrote; None where there is no such file or it is not what `store` writes."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            spelled = arrays["words"].tobytes()
            ends = np.cumsum(arrays["word_lengths"]).tolist()
            words = tuple(spelled[start:end] for start, end in zip([0, *ends], ends, strict=False))
            tables = tuple(
                SuccessorTable(
                    length=int(length),
                    distance=int(distance),
                    contexts=arrays[f"contexts{i}"].astype(np.uint64, copy=False),
                    starts=arrays[f"starts{i}"].astype(np.int64, copy=False),
                    tokens=arrays[f"tokens{i}"].astype(np.uint16, copy=False),
                    counts=arrays[f"counts{i}"].astype(np.int32, copy=False),
                )
                for i, (length, distance) in enumerate(arrays["shapes"])
            )
            trained = Trained(Vocabulary(words), tables, arrays["tail_tokens"], arrays["tail_shares"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return trained if all(_sound(table, len(trained.vocabulary)) for table in tables) else None


def _sound(table: SuccessorTable, vocabulary: int) -> bool:
    return bool(
        len(table.starts) == len(table.contexts) + 1
        and len(table.tokens) == len(table.counts) == table.starts[-1]
        and table.starts[0] == 0
        and np.all(np.diff(table.starts) > 0)
        and np.all(table.contexts[:-1] < table.contexts[1:])
        and np.all(table.tokens < vocabulary)
        and np.all(table.counts > 0)
    )
