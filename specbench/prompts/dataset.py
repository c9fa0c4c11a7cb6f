"""Prompts from a user's own file: JSON Lines or one JSON array, in the shapes that such files have in the field.

A row is a text, or a mapping with `prompt`, `text`, `messages` or `conversations` (`from`/`value` or `role`/`content`).
The first user turn is the prompt, and a system turn before it is kept; what cannot be used is skipped and counted by reason.
"""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from specbench.errors import DataError
from specbench.files import other_encoding, regular_bytes

SAMPLE_BYTES = 1 << 20
REPETITIVE = 20  # plain prose and code compress 3 to 6 : 1, and one sentence copied 200 times about 100 : 1
_USER = ("user", "human")
_ANSWER = ("assistant", "gpt", "model", "bot")


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt, with the system text that belongs to it."""

    text: str
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """The usable rows of a file in their order, and how many others there were, by reason."""

    rows: tuple[Row, ...]
    skipped: Mapping[str, int]


def read_dataset(path: Path) -> Dataset:
    """The rows of the file.

    Raises:
        DataError: the file cannot be read, is not JSON (file and line), or holds no usable row.
    """
    try:
        content = regular_bytes(path).removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if (encoding := other_encoding(content)) is not None:
        raise DataError(f"{path}: is {encoding} text; save it as UTF-8")
    rows: list[Row] = []
    skipped: Counter[str] = Counter()
    for value in _values(content, path):
        row = row_of(value)
        if isinstance(row, Row):
            rows.append(row)
        else:
            skipped[row] += 1
    if not rows:
        told = ", ".join(f"{count} {reason}" for reason, count in skipped.items()) or "it is empty"
        raise DataError(f"{path}: no row can be used as a prompt ({told}); a row needs prompt, text, messages or conversations")
    return Dataset(tuple(rows), dict(skipped))


def dataset_notes(dataset: Dataset) -> tuple[str, ...]:
    """What a reader of the verdict should know of these prompts: rows that were skipped, text that repeats itself."""
    notes = [f"{count} rows of the dataset were skipped: {reason}" for reason, count in dataset.skipped.items()]
    text = "\n".join(row.text for row in dataset.rows).encode()[:SAMPLE_BYTES]
    ratio = len(text) / len(zlib.compress(text))
    if ratio > REPETITIVE:
        notes.append(
            f"unrepresentative_prompts: the prompts compress {ratio:.0f} : 1, so they repeat themselves far more than real text"
            " does; acceptance on them says little about other traffic"
        )
    return tuple(notes)


def row_of(value: Any) -> Row | str:
    """The row that this value is, or the reason why it is none."""
    if isinstance(value, str):
        return Row(value) if value.strip() else "empty prompt"
    if not isinstance(value, dict):
        return "neither text nor a mapping"
    for key in ("prompt", "text"):
        if isinstance(value.get(key), str):
            return Row(value[key]) if value[key].strip() else "empty prompt"
    for key in ("messages", "conversations"):
        if isinstance(value.get(key), list):
            return _first_question(value[key])
    return "no prompt, text, messages or conversations"


def _first_question(turns: list[Any]) -> Row | str:
    system: str | None = None
    for turn in turns:
        role, content = _turn(turn)
        if role == "system" and system is None:
            system = content
        elif role in _USER:
            return Row(content, system) if content.strip() else "empty prompt"
        elif role not in _ANSWER and role != "system":
            return f"a turn of role {role!r}"
    return "no user turn"


def _turn(turn: Any) -> tuple[str, str]:
    if not isinstance(turn, dict):
        return "", ""
    role = turn.get("role", turn.get("from"))
    content = turn.get("content", turn.get("value"))
    return str(role), content if isinstance(content, str) else ""


def _values(content: bytes, path: Path) -> Iterator[Any]:
    # Bytes are split at LF alone: a text may hold U+2028 and its like, which str.splitlines would cut at.
    if content.lstrip()[:1] == b"[":
        try:
            yield from msgspec.json.decode(content, type=list[Any])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DataError(f"{path}: not a JSON array: {_told(error)}") from None
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DataError(f"{path}:{number}: not JSON: {_told(error)}") from None


def _told(error: Exception) -> str:
    return "brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)
