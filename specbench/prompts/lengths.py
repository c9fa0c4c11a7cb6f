"""How many tokens texts have: characters by script, each with its own ratio, and counters that know it exactly.

A million texts are never tokenised: their characters are counted by script class, and a ratio for each class is fitted to the
few texts that an endpoint, a tokenizer file or the data's own record counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specbench.errors import DataError

# Tokens for each character where nothing counted any: Latin letters, digits and signs, CJK, other.
STATED = (0.22, 0.45, 0.8, 0.55)
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "  # a word carries the blank before it
_ASCII = bytes(range(128))
_FURTHER_LATIN, _CJK = bytes(range(0xC2, 0xCB)), bytes([*range(0xE3, 0xEE), 0xEF])
_OTHER = bytes([*range(0xCB, 0xE3), 0xEE, *range(0xF0, 0xF5)])
_APART = 4.0  # how far a fitted ratio may lie from the stated one, once the level is right
LEAST_FITTED = 8  # texts

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TextCounter:
    """Something that counts tokens exactly: who, and the counts of texts in their order, None where it gave none."""

    name: str
    count: Callable[[Sequence[str]], Sequence[int | None]]


@dataclass(frozen=True, slots=True)
class ScriptRatios:
    """Tokens for each character of a script class, and who counted the texts that this was fitted to; None: nobody."""

    per_character: tuple[float, float, float, float] = STATED
    counted_by: str | None = None

    def of(self, characters: NDArray[Any]) -> Floats:
        """(n_texts,) tokens of texts with so many characters of each class, (n_texts, 4)."""
        tokens: Floats = characters.astype(np.float64) @ np.array(self.per_character)
        return tokens


def characters_by_script(content: bytes) -> tuple[int, int, int, int]:
    """How many characters of each script class a UTF-8 text has."""
    without_letters = len(content.translate(None, _LETTERS))
    letters = len(content) - without_letters
    if content.isascii():
        return letters, without_letters, 0, 0
    rest = content.translate(None, _ASCII)
    further, cjk, other = (len(rest) - len(rest.translate(None, leads)) for leads in (_FURTHER_LATIN, _CJK, _OTHER))
    return letters + further, without_letters - len(rest), cjk, other


def fitted(characters: NDArray[Any], tokens: Floats, counted_by: str) -> ScriptRatios:
    """The ratios that explain these counts best, never far from the stated ones; one level for all where the texts are few.

    Args:
        characters: (n_texts, 4) characters by script class.
        tokens: (n_texts,) their tokens as counted.
    """
    stated = np.array(STATED)
    expected = characters.astype(np.float64) @ stated
    if not len(tokens) or expected.sum() <= 0 or tokens.sum() <= 0:
        return ScriptRatios()
    level = float(tokens.sum() / expected.sum())
    if len(tokens) < LEAST_FITTED:
        return ScriptRatios(_four(level * stated), counted_by)
    # Each text counts alike, whatever its length; the stated ratios pull as much as one text does.
    weight = 1 / np.maximum(expected * level, 1.0)
    held = characters * (stated * level) * weight[:, None]
    around = np.linalg.solve(held.T @ held + np.eye(4), held.T @ (tokens * weight) + np.ones(4))
    return ScriptRatios(_four(stated * level * np.clip(around, 1 / _APART, _APART)), counted_by)


def tokenizer_counter(path: Path) -> TextCounter:
    """The counter that a `tokenizer.json` is.

    Raises:
        DataError: it cannot be read, or the package for it is not installed.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise DataError(f"{path}: to count with a tokenizer: pip install 'specbench-llm[tokenizers]'") from None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        loaded = Tokenizer.from_buffer(content)
    except Exception as error:  # noqa: BLE001 - the package raises plain Exceptions and nothing else
        raise DataError(f"{path}: is no tokenizer.json: {str(error)[:200]}") from None

    def count(texts: Sequence[str]) -> list[int | None]:
        return [len(one.ids) for one in loaded.encode_batch_fast(list(texts), add_special_tokens=False)]

    return TextCounter(f"the tokenizer {path.name}", count)


def _four(values: NDArray[Any]) -> tuple[float, float, float, float]:
    latin, signs, cjk, other = (float(value) for value in values)
    return latin, signs, cjk, other
