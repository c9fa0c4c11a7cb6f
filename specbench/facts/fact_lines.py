"""The facts of a run in lines of JSON: read one by one, each once, whatever else stands in the file."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from specbench.errors import DataError
from specbench.files import regular_bytes, regular_file
from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.data.packed_ints import pack
from specbench.model.plausible import fault_of, identities_of
from specbench.model.records import Block, RequestRecord

T = TypeVar("T", Block, RequestRecord, ComparedAnswers)


def fact_lines(path: Path, kind: type[T], say: Callable[[str], None]) -> Iterator[T]:
    """The facts in that file, each once, one after another; what is damaged or a copy is left out and told to `say`.

    Raises:
        DataError: it cannot be read, or holds what no run writes.
    """
    if not os.path.lexists(path):
        say(f"{path.name} is missing")
        return
    decoder = msgspec.json.Decoder(kind)
    damaged = 0
    seen: set[int] = set()
    again: list[str] = []
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            try:
                found = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                damaged += 1
                continue
            if (fault := fault_of(found)) is not None:
                raise DataError(f"{path}:{number}: {fault}, which no run writes; copy the run again, or leave the line out")
            marks = {hash(mark) for mark in identities_of(found)}
            if marks & seen:
                again.append(_named(found))
            else:
                if isinstance(found, Block | RequestRecord):
                    pack(found)
                yield found
            seen |= marks
    if damaged:
        say(f"{path.name}: {damaged} damaged {'line was' if damaged == 1 else 'lines were'} left out")
    if again:
        say(f"{path.name}: {_twice(again)}")


def _named(found: Block | RequestRecord | ComparedAnswers) -> str:
    if isinstance(found, ComparedAnswers):
        return f"prompt {found.index} of {found.cell or 'those sent last'}"
    return f"block {found.id}" if isinstance(found, Block) else f"request {found.index} of {found.block}"


def _twice(again: list[str]) -> str:
    few = ", ".join(again[:3]) + (f" and {len(again) - 3} more" if len(again) > 3 else "")
    return f"{len(again)} {'line is a copy' if len(again) == 1 else 'lines are copies'} and counted once ({few})"


def opened(path: Path) -> IO[bytes]:
    """The file of facts, opened; DataError where it cannot be read."""
    try:
        return regular_file(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def bytes_of(path: Path) -> bytes:
    """The whole file of facts; DataError where it cannot be read."""
    try:
        return regular_bytes(path)
    except FileNotFoundError:
        raise DataError(f"{path.parent}: no {path.name} in it; name a folder that `specbench run` wrote") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
