"""What a run that was interrupted leaves besides its facts: the looks that it took at its data, and the times it was resumed.

Short files, a line a time, that most runs do not have. A killed run may leave half a last line anywhere.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from specbench.errors import DataError
from specbench.files import regular_bytes

LOOKS, RESUMES = "looks.jsonl", "resumes.jsonl"
_SOME_MB = 1 << 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LookTaken:
    """One look at the data on the way, after so many complete pairs."""

    pairs: int


@dataclass(frozen=True, slots=True)
class ResumeNoted:
    """One time that the run was taken up again."""

    at: str


def looks_of(folder: Path) -> tuple[int, ...]:
    """After how many pairs the data were looked at so far, whether or not the run ended since."""
    return tuple(look.pairs for look in _noted(folder / LOOKS, LookTaken))


def resumes_of(folder: Path) -> tuple[ResumeNoted, ...]:
    """The times that the run was resumed."""
    return tuple(_noted(folder / RESUMES, ResumeNoted))


def _noted(path: Path, kind: type[T]) -> Iterator[T]:
    if not os.path.lexists(path):
        return
    try:
        content = regular_bytes(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    for line in content.splitlines(keepends=True):
        if line.endswith(b"\n"):
            try:
                yield msgspec.json.decode(line, type=kind)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise DataError(f"{path}: damaged: {error}; copy the whole run again") from None


def cut_half_line(path: Path) -> None:
    """Takes off what a killed run, or a full disk, left of a last line, or else the next one would be joined to it."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = size = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - _SOME_MB)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            end = start if found < 0 else start + found + 1
            if found >= 0:
                break
        if end < size:
            file.truncate(end)
