"""The run folder: facts are appended as they come, read back whole, each counted once. What they mean does not live here.

    manifest.json    everything known before the first request
    requests.jsonl   one request record a line, written as each request ends
    blocks.jsonl     one block a line, written as each block ends
    looks.jsonl      a line a look at the data on the way       resumes.jsonl    a line each time that it was resumed
    finished.json    when the run reached its end; absent in a run that did not
    result.json      what `analyze` concluded      report.html   what people read

Format history: 1 the first; 2 tries of a pair (`attempt`), looks and resumes. Both are read.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from specbench.errors import DataError
from specbench.files import regular_bytes, regular_file, replace_whole, takes_writes
from specbench.model.data.packed_ints import pack
from specbench.model.plausible import fault_of, identities_of
from specbench.model.records import Block, Manifest, RequestRecord, RunData
from specbench.resumes import LOOKS, RESUMES, LookTaken, ResumeNoted, cut_half_line, looks_of, resumes_of

FORMAT_VERSION = 2
READABLE = (1, FORMAT_VERSION)
MANIFEST, REQUESTS, BLOCKS, FINISHED = "manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"
RESULT, REPORT = "result.json", "report.html"
FACTS = (MANIFEST, REQUESTS, BLOCKS, FINISHED, LOOKS, RESUMES)
_SOME_MB = 1 << 20
_synchronised = getattr(os, "fdatasync", os.fsync)  # macOS has the latter alone

T = TypeVar("T", Block, RequestRecord)


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
        if version not in READABLE:
            known = " and ".join(map(str, READABLE))
            raise DataError(f"{folder}: has format version {version}; this specbench reads {known}: use the one that wrote it")
        return msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / MANIFEST}: damaged: {error}") from None


def read_run(folder: Path) -> RunData:
    """All facts of a run. Lines that cannot be read (a killed run's last one) are left out and counted in `problems`."""
    manifest = read_manifest(folder)
    problems: list[str] = []
    blocks = tuple(_lines(folder / BLOCKS, Block, problems.append))
    records = tuple(_lines(folder / REQUESTS, RequestRecord, problems.append))
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
    )


def ending_of(folder: Path) -> Ending | None:
    """How the run ended; None where it did not reach its end."""
    if not os.path.lexists(folder / FINISHED):
        return None
    try:
        return msgspec.json.decode(_bytes(folder / FINISHED), type=Ending)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{folder / FINISHED}: damaged: {error}") from None


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
                pack(found)
                yield found
            seen |= marks
    if damaged:
        say(f"{path.name}: {damaged} damaged {'line was' if damaged == 1 else 'lines were'} left out")
    if again:
        say(f"{path.name}: {_twice(again)}")


def _named(found: Block | RequestRecord) -> str:
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
