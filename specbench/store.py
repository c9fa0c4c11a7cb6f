"""The run folder: facts are appended as they come, read back whole. What they mean does not live here.

    manifest.json    everything known before the first request
    requests.jsonl   one request record a line, written as each request ends
    blocks.jsonl     one block a line, written as each block ends
    finished.json    when the run reached its end; absent in a run that did not
    result.json      what `analyze` concluded      report.html   what people read

Format history: 1 (0.1.0) the first.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from specbench.errors import DataError
from specbench.model.records import Block, Manifest, RequestRecord, RunData

FORMAT_VERSION = 1
MANIFEST, REQUESTS, BLOCKS, FINISHED = "manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"
RESULT, REPORT = "result.json", "report.html"
_SOME_MB = 1 << 20
_MOST_LINKS = 40  # as many as Linux follows

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: what it could not do (`problems`, sentences), and after how many pairs its data were looked at."""

    finished: str
    problems: tuple[str, ...]
    looks: tuple[int, ...] = ()


class RunWriter:
    """A new run folder, open for appending. Lines reach the operating system at once, so a killed run keeps them."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        try:
            folder.mkdir(parents=True)
            (folder / MANIFEST).write_bytes(pretty(manifest))
            self._requests: IO[bytes] = (folder / REQUESTS).open("ab", buffering=0)
            self._blocks: IO[bytes] = (folder / BLOCKS).open("ab", buffering=0)
        except FileExistsError:
            raise DataError(f"{folder}: exists already; give another folder with --out") from None
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error.strerror}; give another folder with --out") from None
        self.folder = folder
        self._encode = msgspec.json.Encoder().encode

    def request(self, record: RequestRecord) -> None:
        """Appends one request's record."""
        self._append(self._requests, record)

    def block(self, block: Block) -> None:
        """Appends one block's facts."""
        self._append(self._blocks, block)

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

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(f"{self.folder}: cannot be written: {error.strerror}; what was measured before is kept") from None


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
    finished: str | None = None
    looks: tuple[int, ...] = ()
    if (folder / FINISHED).exists():
        try:
            ending = msgspec.json.decode(_bytes(folder / FINISHED), type=Ending)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DataError(f"{folder / FINISHED}: damaged: {error}") from None
        finished, looks = ending.finished, ending.looks
        problems += ending.problems
    return RunData(manifest=manifest, blocks=blocks, records=records, finished=finished, problems=tuple(problems), looks=looks)


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


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path` as a whole, so that a reader never sees half of it; a link stays one, and its file is replaced.

    A device or a pipe is written to and stays what it is; so does what /dev/stdout stands for, even a file.
    """
    try:
        if _takes_writes(path):
            with path.open("ab") as taking:
                taking.write(content)
            return
        file = Path(os.path.realpath(path))
        beside = file.with_name(file.name + ".new")
        beside.write_bytes(content)
        beside.replace(file)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


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
    if not path.exists():
        say(f"{path.name} is missing")
        return
    decoder = msgspec.json.Decoder(kind)
    damaged = 0
    try:
        opened = path.open("rb", buffering=_SOME_MB)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    with opened as file:
        for line in file:
            try:
                yield decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError):
                damaged += 1
    if damaged:
        say(f"{path.name}: {damaged} damaged {'line was' if damaged == 1 else 'lines were'} left out")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path.parent}: no {path.name} in it; name a folder that `specbench run` wrote") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
