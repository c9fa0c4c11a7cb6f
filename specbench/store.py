"""The run folder: facts are appended as they come, read back whole. What they mean does not live here.

    manifest.json    everything known before the first request
    requests.jsonl   one request record a line, written as each request ends
    blocks.jsonl     one block a line, written as each block ends
    finished.json    when the run reached its end; absent in a run that did not
    result.json      what `analyze` concluded      report.html   what people read

Format history: 1 (0.1.0) the first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from specbench.errors import DataError
from specbench.model.seen import Block, Evidence, Manifest, RequestRecord

FORMAT_VERSION = 1
MANIFEST, REQUESTS, BLOCKS, FINISHED = "manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"
RESULT, REPORT = "result.json", "report.html"
_SOME_MB = 1 << 20

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
        (self.folder / FINISHED).write_bytes(pretty(ending))

    def close(self) -> None:
        """Closes the files; safe to call twice."""
        self._requests.close()
        self._blocks.close()

    def _append(self, file: IO[bytes], value: Any) -> None:
        try:
            file.write(self._encode(value) + b"\n")
        except OSError as error:
            raise DataError(f"{self.folder}: cannot be written: {error.strerror}; what was measured before is kept") from None


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
    except msgspec.MsgspecError as error:
        raise DataError(f"{folder / MANIFEST}: damaged: {error}") from None


def read_run(folder: Path) -> Evidence:
    """All facts of a run. Lines that cannot be read (a killed run's last one) are left out and counted in `problems`."""
    manifest = read_manifest(folder)
    problems: list[str] = []
    blocks = tuple(_lines(folder / BLOCKS, Block, problems))
    records = tuple(_lines(folder / REQUESTS, RequestRecord, problems))
    finished: str | None = None
    looks: tuple[int, ...] = ()
    if (folder / FINISHED).exists():
        try:
            ending = msgspec.json.decode(_bytes(folder / FINISHED), type=Ending)
        except msgspec.MsgspecError as error:
            raise DataError(f"{folder / FINISHED}: damaged: {error}") from None
        finished, looks = ending.finished, ending.looks
        problems += ending.problems
    return Evidence(manifest=manifest, blocks=blocks, records=records, finished=finished, problems=tuple(problems), looks=looks)


def stream_run(folder: Path) -> tuple[tuple[Block, ...], Iterator[RequestRecord]]:
    """The blocks of a run, and its records one by one as they are asked for, so that a long run needs no memory.

    Raises:
        DataError: It is no run that this version reads, or its records are not there.
    """
    read_manifest(folder)
    if not (folder / REQUESTS).exists():
        raise DataError(f"{folder}: no {REQUESTS} in it, so there is no request to show; copy the whole run folder, or run again")
    return tuple(_lines(folder / BLOCKS, Block, [])), _lines(folder / REQUESTS, RequestRecord, [])


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path` as a whole, so that a reader never sees half of it."""
    beside = path.with_name(path.name + ".new")
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(content)  # a device, a pipe or a link, such as /dev/stdout, is written to and stays what it is
            return
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


def _lines(path: Path, kind: type[T], problems: list[str]) -> Iterator[T]:
    if not path.exists():
        problems.append(f"{path.name} is missing")
        return
    decoder = msgspec.json.Decoder(kind)
    damaged = 0
    with path.open("rb", buffering=_SOME_MB) as file:
        for line in file:
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError:
                damaged += 1
    if damaged:
        problems.append(f"{path.name}: {damaged} damaged {'line was' if damaged == 1 else 'lines were'} left out")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path.parent}: no {path.name} in it; name a folder that `specbench run` wrote") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
