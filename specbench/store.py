"""The run folder: facts are appended as they come, read back whole, each counted once. What they mean does not live here.

    manifest.json    everything known before the first request
    requests.jsonl   one request record a line, written as each request ends
    blocks.jsonl     one block a line, written as each block ends
    looks.jsonl      a line a look at the data on the way       resumes.jsonl    a line each time that it was resumed
    answers.jsonl    one prompt a line whose answers by both arms were compared; no text
    answers_summary.json    whether the baseline could be asked about them, and the few examples that the scenario allows
    finished.json    when the run reached its end; absent in a run that did not
    result.json      what `analyze` concluded      report.html   what people read

Format history: 1 the first; 2 tries of a pair (`attempt`), looks and resumes. Both are read.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from specbench.errors import DataError
from specbench.facts.fact_lines import bytes_of, fact_lines, opened
from specbench.facts.resumes import LOOKS, RESUMES, LookTaken, ResumeNoted, cut_half_line, looks_of, resumes_of
from specbench.files import replace_whole, takes_writes
from specbench.model.answers.answers_summary import AnswersSummary, summary_of
from specbench.model.answers.compared_answers import AnswerComparison, ComparedAnswers
from specbench.model.records import Block, Manifest, RequestRecord, RunData

FORMAT_VERSION = 2
READABLE = (1, FORMAT_VERSION)
MANIFEST, REQUESTS, BLOCKS, FINISHED = "manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"
ANSWERS, ANSWERS_SUMMARY = "answers.jsonl", "answers_summary.json"
RESULT, REPORT = "result.json", "report.html"
TUNE = "tune.json"  # of a tune, which holds run folders
FACTS = (MANIFEST, REQUESTS, BLOCKS, ANSWERS, ANSWERS_SUMMARY, FINISHED, LOOKS, RESUMES)
_SOME_MB = 1 << 20
LEAST_FREE = 16 << 10  # bytes: the manifest takes as many
_synchronised = getattr(os, "fdatasync", os.fsync)  # macOS has the latter alone

T = TypeVar("T", Block, RequestRecord, ComparedAnswers)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: what it could not do (`problems`, sentences), and after how many pairs its data were looked at."""

    finished: str
    problems: tuple[str, ...]
    looks: tuple[int, ...] = ()


class RunWriter:
    """A run folder, open for appending: a new one, or (`reopened`) one whose run goes on.

    Lines reach the operating system at once, so a killed run keeps them, and the disk at the end of each block. The folder is
    its owner's alone: prompts, addresses and an engine's log are nobody else's business.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        try:
            folder.mkdir(parents=True, mode=0o700)
            (folder / MANIFEST).write_bytes(pretty(manifest))
            self._open(folder)
        except FileExistsError:
            raise DataError(f"{folder}: exists already; give another folder with --out") from None
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error.strerror}; give another folder with --out") from None

    @classmethod
    def reopened(cls, folder: Path, at: str) -> "RunWriter":
        """The folder of a run that is resumed now: half lines at the ends of its files are cut off, its end is taken back."""
        writer = cls.__new__(cls)
        try:
            writer._open(folder)
            for name in (REQUESTS, BLOCKS, LOOKS, RESUMES):
                cut_half_line(folder / name)
            (folder / FINISHED).unlink(missing_ok=True)
        except BlockingIOError:
            raise DataError(f"{folder}: another specbench writes there; wait for its end, or stop it") from None
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error.strerror}; copy it where it can be, and resume that") from None
        writer._note(RESUMES, ResumeNoted(at))
        return writer

    def _open(self, folder: Path) -> None:
        self._requests: IO[bytes] = (folder / REQUESTS).open("ab", buffering=0)
        self._blocks: IO[bytes] = (folder / BLOCKS).open("ab", buffering=0)
        try:
            fcntl.flock(self._requests, fcntl.LOCK_EX | fcntl.LOCK_NB)  # gone with this process, however it ends
        except BlockingIOError:
            self.close()
            raise
        except OSError:
            pass  # a file system without locks
        self.folder = folder
        self._named = all(_stands_at(file) for file in (self._requests, self._blocks))  # a file system may number files anew
        self._encode = msgspec.json.Encoder().encode

    def request(self, record: RequestRecord) -> None:
        """Appends one request's record."""
        self._append(self._requests, record)

    def block(self, block: Block) -> None:
        """Appends one block's facts; they and the records of its requests are on the disk then."""
        with self._writing():
            _synchronised(self._requests.fileno())  # first: a block that is listed is whole
        self._append(self._blocks, block)
        with self._writing():
            _synchronised(self._blocks.fileno())

    def look(self, pairs: int) -> None:
        """Notes a look at the data after so many pairs, before anything is known of what it shows."""
        self._note(LOOKS, LookTaken(pairs))

    def answers(self, comparison: AnswerComparison) -> None:
        """Keeps what is known of the run's answers: a line per compared prompt, then the rest. Once, after the last block."""
        lines = b"".join(self._encode(one) + b"\n" for one in comparison.compared)
        with self._writing():
            (self.folder / ANSWERS).write_bytes(lines)
            (self.folder / ANSWERS_SUMMARY).write_bytes(pretty(summary_of(comparison)))

    def finish(self, ending: Ending) -> None:
        """Marks the run as complete."""
        with self._writing():
            replace_whole(self.folder / FINISHED, pretty(ending))

    def close(self) -> None:
        """Closes the files; safe to call twice."""
        self._requests.close()
        self._blocks.close()

    def _append(self, file: IO[bytes], value: Any) -> None:
        whole = line = self._encode(value) + b"\n"
        with self._writing():
            try:
                while line:  # a disk that fills up takes a part first, and refuses the rest
                    line = line[file.write(line) :]
            except OSError:
                os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - (len(whole) - len(line)))
                raise
        self._refuse_lost(file)

    def _note(self, name: str, value: LookTaken | ResumeNoted) -> None:
        """Appends a line to a file that most runs do not have."""
        with self._writing(), (self.folder / name).open("ab", buffering=0) as file:
            self._append(file, value)
            _synchronised(file.fileno())

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
    """Nothing, where a new run may make this folder: an engine whose log cannot be written dies, and would take the blame.

    Raises:
        DataError: it is there, the system does not let us look or write, or its disk is full.
    """
    try:
        taken = folder.exists()
        there = next(one for one in folder.absolute().parents if one.exists())
        free = shutil.disk_usage(there).free
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}; give another folder with --out") from None
    if taken:
        raise DataError(f"{folder}: exists already; give another folder with --out")
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise DataError(f"{folder}: cannot be made, as {there} is no folder that can be written; give another one with --out")
    if free < LEAST_FREE:
        raise DataError(f"{folder}: cannot be made, as its disk is full; free some space, or give another folder with --out")


def pretty(value: Any) -> bytes:
    """JSON for files that people open: indented, keys in the order of their fields."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder.

    Raises:
        DataError: not a run folder, damaged, or of another format version.
    """
    content = bytes_of(folder / MANIFEST)
    try:
        version = msgspec.json.decode(content, type=dict[str, Any]).get("format_version")
        if version not in READABLE:
            known = " and ".join(map(str, READABLE))
            raise DataError(f"{folder}: has format version {version}; this specbench reads {known}: use the one that wrote it")
        return msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / MANIFEST}: damaged: {error}; copy the whole run again") from None


def read_run(folder: Path) -> RunData:
    """All facts of a run. Lines that cannot be read (a killed run's last one) are left out and counted in `problems`."""
    manifest = read_manifest(folder)
    problems: list[str] = []
    blocks = tuple(fact_lines(folder / BLOCKS, Block, problems.append))
    records = tuple(fact_lines(folder / REQUESTS, RequestRecord, problems.append))
    answers = _answers(folder, problems.append)
    finished: str | None = None
    looks = looks_of(folder)
    if (ending := ending_of(folder)) is not None:
        finished, looks = ending.finished, ending.looks
        problems += ending.problems
    return RunData(
        manifest=manifest,
        blocks=blocks,
        records=records,
        finished=finished,
        problems=tuple(problems),
        looks=looks,
        resumed=len(resumes_of(folder)),
        answers=answers,
    )


def ending_of(folder: Path) -> Ending | None:
    """How the run ended; None where it did not reach its end."""
    if not os.path.lexists(folder / FINISHED):
        return None
    try:
        return msgspec.json.decode(bytes_of(folder / FINISHED), type=Ending)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / FINISHED}: damaged: {error}; copy the whole run again") from None


def _answers(folder: Path, say: Callable[[str], None]) -> AnswerComparison | None:
    """What is known of the run's answers; None where it was never written, as in runs of older versions or cut off before."""
    if not os.path.lexists(folder / ANSWERS_SUMMARY):
        return None
    try:
        rest = msgspec.json.decode(bytes_of(folder / ANSWERS_SUMMARY), type=AnswersSummary)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / ANSWERS_SUMMARY}: damaged: {error}; copy the whole run again") from None
    return rest.beside(tuple(fact_lines(folder / ANSWERS, ComparedAnswers, say)))


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
    return tuple(fact_lines(folder / BLOCKS, Block, say)), fact_lines(folder / REQUESTS, RequestRecord, say)


def facts_sha256(folder: Path) -> str:
    """The sha256 of the facts in this folder, of those files that are there: by it a result names what it was made of.

    Raises:
        DataError: one of them cannot be read.
    """
    whole = sha256()
    for path in (folder / name for name in FACTS if os.path.lexists(folder / name)):
        file = sha256()
        with opened(path) as whole_file:
            while piece := whole_file.read(_SOME_MB):
                file.update(piece)
        whole.update(f"{path.name} {file.hexdigest()}\n".encode())
    return whole.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path` as a whole, so that a reader never sees half of it; a link stays one, and its file is replaced.

    A device or a pipe is written to and stays what it is; so does what /dev/stdout stands for, even a file.
    """
    try:
        if takes_writes(path):
            with path.open("ab") as taking:
                taking.write(content)
            return
        replace_whole(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


def write_in_run(path: Path, content: bytes) -> None:
    """Replaces a file of a run folder as a whole, be it a link or a pipe: nothing outside is written.

    A folder may have come from others.
    """
    try:
        replace_whole(path, content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


def is_tune(folder: Path) -> bool:
    """Whether the folder is a tune's."""
    return (folder / TUNE).is_file()
