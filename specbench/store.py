"""The run folder: facts are appended as they come, read back whole, each counted once. What they mean does not live here.

    manifest.json    everything known before the first request
    requests.jsonl   one request record a line, written as each request ends
    blocks.jsonl     one block a line, written as each block ends
    answers.jsonl    one prompt a line whose answers by both arms were compared; no text
    answers_summary.json    whether the baseline could be asked about them, and the few examples that the scenario allows
    finished.json    when the run reached its end; absent in a run that did not
    result.json      what `analyze` concluded      report.html   what people read

Format history: 1 (0.1.0) the first.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from specbench.errors import DataError
from specbench.files import regular_bytes, regular_file
from specbench.model.answers.answers_summary import AnswersSummary, summary_of
from specbench.model.answers.compared_answers import AnswerComparison, ComparedAnswers
from specbench.model.plausible import fault_of, identities_of
from specbench.model.records import Block, Manifest, RequestRecord, RunData

FORMAT_VERSION = 1
MANIFEST, REQUESTS, BLOCKS, FINISHED = "manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"
ANSWERS, ANSWERS_SUMMARY = "answers.jsonl", "answers_summary.json"
RESULT, REPORT = "result.json", "report.html"
FACTS = (MANIFEST, REQUESTS, BLOCKS, ANSWERS, ANSWERS_SUMMARY, FINISHED)
_SOME_MB = 1 << 20
_MOST_LINKS = 40  # as many as Linux follows

T = TypeVar("T", Block, RequestRecord, ComparedAnswers)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: what it could not do (`problems`, sentences), and after how many pairs its data were looked at."""

    finished: str
    problems: tuple[str, ...]
    looks: tuple[int, ...] = ()


class RunWriter:
    """A new run folder, open for appending. Lines reach the operating system at once, so a killed run keeps them.

    The folder is its owner's alone: prompts, addresses and an engine's log are nobody else's business.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        try:
            folder.mkdir(parents=True, mode=0o700)
            (folder / MANIFEST).write_bytes(pretty(manifest))
            self._requests: IO[bytes] = (folder / REQUESTS).open("ab", buffering=0)
            self._blocks: IO[bytes] = (folder / BLOCKS).open("ab", buffering=0)
        except FileExistsError:
            raise DataError(f"{folder}: exists already; give another folder with --out") from None
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error.strerror}; give another folder with --out") from None
        self.folder = folder
        self._named = all(_stands_at(file) for file in (self._requests, self._blocks))  # a file system may number files anew
        self._encode = msgspec.json.Encoder().encode

    def request(self, record: RequestRecord) -> None:
        """Appends one request's record."""
        self._append(self._requests, record)

    def block(self, block: Block) -> None:
        """Appends one block's facts."""
        self._append(self._blocks, block)

    def answers(self, comparison: AnswerComparison) -> None:
        """Keeps what is known of the run's answers: a line per compared prompt, then the rest. Once, after the last block."""
        lines = b"".join(self._encode(one) + b"\n" for one in comparison.compared)
        with self._writing():
            (self.folder / ANSWERS).write_bytes(lines)
            (self.folder / ANSWERS_SUMMARY).write_bytes(pretty(summary_of(comparison)))

    def finish(self, ending: Ending) -> None:
        """Marks the run as complete."""
        with self._writing():
            (self.folder / FINISHED).write_bytes(pretty(ending))

    def close(self) -> None:
        """Closes the files; safe to call twice."""
        self._requests.close()
        self._blocks.close()

    def _append(self, file: IO[bytes], value: Any) -> None:
        line = self._encode(value) + b"\n"
        with self._writing():
            while line:  # a disk that fills up takes a part first, and refuses the rest
                line = line[file.write(line) :]
        self._refuse_lost(file)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            for file in (self._requests, self._blocks):
                self._refuse_lost(file)
            raise DataError(f"{self.folder}: cannot be written: {error.strerror}; what was measured before is kept") from None

    def _refuse_lost(self, file: IO[bytes]) -> None:
        """Nothing, where the file that is written to is still the one that stands in the folder.

        The system goes on taking what is written to a file that was deleted, and keeps nothing of it.
        """
        if not (_stands_at(file) if self._named else os.path.exists(file.name)):
            raise DataError(
                f"{file.name}: is gone, deleted or moved while the run went on, so that nothing more can be kept there;"
                " run again, and leave the folder alone meanwhile"
            )


def _stands_at(file: IO[bytes]) -> bool:
    """Whether the open file is the one that its name leads to."""
    held = os.fstat(file.fileno())
    try:
        there = os.stat(file.name)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def check_unused(folder: Path) -> None:
    """Nothing, where a new run may make this folder.

    Raises:
        DataError: it is there, or the system does not let us look.
    """
    try:
        taken = folder.exists()
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}; give another folder with --out") from None
    if taken:
        raise DataError(f"{folder}: exists already; give another folder with --out")


def pretty(value: Any) -> bytes:
    """JSON for files that people open: indented, keys in the order of their fields."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder.

    Raises:
        DataError: not a run folder, damaged, or of another format version.
    """
    content = _bytes(folder / MANIFEST)
    try:
        version = msgspec.json.decode(content, type=dict[str, Any]).get("format_version")
        if version != FORMAT_VERSION:
            raise DataError(
                f"{folder}: has format version {version}; this specbench reads {FORMAT_VERSION}: use the one that wrote it"
            )
        return msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / MANIFEST}: damaged: {error}") from None


def read_run(folder: Path) -> RunData:
    """All facts of a run. Lines that cannot be read (a killed run's last one) are left out and counted in `problems`."""
    manifest = read_manifest(folder)
    problems: list[str] = []
    blocks = tuple(_lines(folder / BLOCKS, Block, problems.append))
    records = tuple(_lines(folder / REQUESTS, RequestRecord, problems.append))
    answers = _answers(folder, problems.append)
    finished: str | None = None
    looks: tuple[int, ...] = ()
    if os.path.lexists(folder / FINISHED):
        try:
            ending = msgspec.json.decode(_bytes(folder / FINISHED), type=Ending)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DataError(f"{folder / FINISHED}: damaged: {error}") from None
        finished, looks = ending.finished, ending.looks
        problems += ending.problems
    return RunData(
        manifest=manifest,
        blocks=blocks,
        records=records,
        finished=finished,
        problems=tuple(problems),
        looks=looks,
        answers=answers,
    )


def _answers(folder: Path, say: Callable[[str], None]) -> AnswerComparison | None:
    """What is known of the run's answers; None where it was never written, as in runs of older versions or cut off before."""
    if not os.path.lexists(folder / ANSWERS_SUMMARY):
        return None
    try:
        rest = msgspec.json.decode(_bytes(folder / ANSWERS_SUMMARY), type=AnswersSummary)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / ANSWERS_SUMMARY}: damaged: {error}") from None
    return rest.beside(tuple(_lines(folder / ANSWERS, ComparedAnswers, say)))


def stream_run(folder: Path, say: Callable[[str], None]) -> tuple[tuple[Block, ...], Iterator[RequestRecord]]:
    """The blocks of a run, and its records one by one as they are asked for, so that a long run needs no memory.

    Args:
        say: Is told how many lines could not be read and were left out: of blocks at once, of records after the last one.

    Raises:
        DataError: It is no run that this version reads, or its records or blocks are not there.
    """
    read_manifest(folder)
    for name, shows in ((REQUESTS, "request"), (BLOCKS, "block, by which requests have their cell and arm,")):
        if not (folder / name).exists():
            raise DataError(f"{folder}: no {name} in it, so there is no {shows} to show; copy the whole run folder, or run again")
    return tuple(_lines(folder / BLOCKS, Block, say)), _lines(folder / REQUESTS, RequestRecord, say)


def facts_sha256(folder: Path) -> str:
    """The sha256 of the facts in this folder, of those files that are there: by it a result names what it was made of.

    Raises:
        DataError: one of them cannot be read.
    """
    whole = sha256()
    for path in (folder / name for name in FACTS if os.path.lexists(folder / name)):
        file = sha256()
        with _opened(path) as opened:
            while piece := opened.read(_SOME_MB):
                file.update(piece)
        whole.update(f"{path.name} {file.hexdigest()}\n".encode())
    return whole.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path` as a whole, so that a reader never sees half of it; a link stays one, and its file is replaced.

    A device or a pipe is written to and stays what it is; so does what /dev/stdout stands for, even a file.
    """
    try:
        if _takes_writes(path):
            with path.open("ab") as taking:
                taking.write(content)
            return
        _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


def write_in_run(path: Path, content: bytes) -> None:
    """Replaces a file of a run folder as a whole, be it a link or a pipe: nothing outside is written.

    A folder may have come from others.
    """
    try:
        _replace(path, content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


def _replace(file: Path, content: bytes) -> None:
    beside = file.with_name(file.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()  # what was left there, or laid there for us to write through
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as taking:
        taking.write(content)
    beside.replace(file)


def _takes_writes(path: Path) -> bool:
    """Whether it is a device or a pipe, or an open file of this process (/proc/self/fd/1) by whatever links."""
    hop = path
    for _ in range(_MOST_LINKS):
        if hop.parent.resolve().is_relative_to("/proc"):
            return True
        if not hop.is_symlink():
            break
        hop = hop.parent / hop.readlink()
    return path.exists() and not path.is_file()


def _lines(path: Path, kind: type[T], say: Callable[[str], None]) -> Iterator[T]:
    if not os.path.lexists(path):
        say(f"{path.name} is missing")
        return
    decoder = msgspec.json.Decoder(kind)
    damaged = 0
    seen: set[int] = set()
    again: list[str] = []
    with _opened(path) as file:
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


def _opened(path: Path) -> IO[bytes]:
    try:
        return regular_file(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def _bytes(path: Path) -> bytes:
    try:
        return regular_bytes(path)
    except FileNotFoundError:
        raise DataError(f"{path.parent}: no {path.name} in it; name a folder that `specbench run` wrote") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
