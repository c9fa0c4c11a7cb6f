"""A file of prompts as numbered values: JSON lines, one JSON array or object, CSV and Parquet, each also in gzip.

One value is held at a time; an array's elements stay bytes until their turn. What is wrong is one line with file and line.
"""

import csv
import gzip
import io
import json
import mmap
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import msgspec

from specbench.errors import DataError
from specbench.files import no_text, regular_file

_BOM = b"\xef\xbb\xbf"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LISTS = ("data", "rows")
_ROWS_OWN = ("prompt", "text", "messages", "conversations", "conversation", "turns", "body")
_TEXTS = ("prompt", "text", "text_input")
_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_ROWS_AT_ONCE = 512
DEEP = "brackets are nested too deeply"
Raw = bytes | memoryview
"""A line or an element as it stands, of which nobody has asked what it says."""
Numbered = Iterator[tuple[int, Any]]


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is no JSON, and why; `truncated`: it ends too early."""

    why: str
    truncated: bool = False


def digest_of(path: Path) -> tuple[int, str]:
    """How many bytes the file has, and their sha256.

    Raises:
        DataError: it cannot be read.
    """
    with _opened(path) as file:
        digest = sha256()
        while content := file.read(1 << 20):
            digest.update(content)
        return file.tell(), digest.hexdigest()


def values(path: Path) -> Numbered:
    """The values of the file with the line (or element) that each stands in: a `Raw` to decode, or a mapping of a table.

    Raises:
        DataError: the file cannot be read, is of another encoding, or breaks off.
    """
    with _opened(path) as file:
        head = file.read(4)
        file.seek(0)
        if head[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=file) as inner:
                yield from _whole(path, inner, compressed=True)
        else:
            yield from _whole(path, file, compressed=False)


def decoded(line: Raw) -> Any:
    """What a line of JSON says, or `Broken`."""
    try:
        return msgspec.json.decode(line)
    except RecursionError:
        return Broken(DEEP)
    except msgspec.MsgspecError as error:
        why = str(error)
    try:
        # Half a surrogate pair, NaN and numbers of any size are JSON to the programs that wrote them.
        return json.loads(bytes(line))
    except RecursionError:
        return Broken(DEEP)
    except (ValueError, UnicodeDecodeError):
        return Broken(why, truncated="truncated" in why)


def _opened(path: Path) -> IO[bytes]:
    try:
        return regular_file(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def _whole(path: Path, file: IO[bytes] | gzip.GzipFile, *, compressed: bool) -> Numbered:
    try:
        head = file.read(1 << 16)
        file.seek(0)
        if (why := no_text(head)) is not None:
            raise DataError(f"{path}: {why}")
        if head.startswith(_LFS_POINTER):
            raise DataError(f"{path}: is a pointer of Git LFS, not the data; fetch them with: git lfs pull")
        name = path.name.casefold().removesuffix(".gz")
        text = head.removeprefix(_BOM).lstrip()
        if head[:4] == b"PAR1":
            yield from _parquet(path, file)
        elif name.endswith((".csv", ".tsv")):
            yield from _table(path, file, "\t" if name.endswith(".tsv") else ",")
        elif text[:1] == b"[":
            yield from _array(path, file, compressed=compressed)
        elif text[:1] == b"{" and _is_one_object(file):
            yield from _object(path, file)
        else:
            yield from _json_lines(file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        ends = isinstance(error, EOFError)
        problem = "the file ends inside its compressed data; copy it again" if ends else "is damaged gzip; copy it again"
        raise DataError(f"{path}: {problem}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def _json_lines(file: IO[bytes] | gzip.GzipFile) -> Numbered:
    """Lines end at LF alone: a text may hold U+2028 and its like, which str.splitlines would cut at."""
    for number, line in enumerate(file, 1):
        content = line.removeprefix(_BOM) if number == 1 else line
        if content and not content.isspace():
            yield number, content


def _is_one_object(file: IO[bytes] | gzip.GzipFile) -> bool:
    """Whether the file is one object, over many lines or with its rows listed in it, not a line each."""
    file.seek(0)
    lines = (line for line in file if line.strip())
    first = next(lines, b"").removeprefix(_BOM).strip()
    alone = next(lines, None) is None
    file.seek(0)
    found = decoded(first)
    if isinstance(found, Broken):
        return first[-1:] in (b"{", b"[", b",") and found.truncated
    return alone and isinstance(found, dict) and _listed(found) is not None


def _listed(whole: dict[str, Any]) -> list[Any] | None:
    """The rows that the object lists; None where it is a row itself."""
    if any(key in whole for key in _ROWS_OWN):
        return None
    return next((whole[key] for key in _LISTS if isinstance(whole.get(key), list)), None)


def _object(path: Path, file: IO[bytes] | gzip.GzipFile) -> Numbered:
    """One object: the rows that it lists under `data` or `rows`, or itself."""
    file.seek(0)
    whole = decoded(file.read().removeprefix(_BOM))
    if isinstance(whole, Broken):
        if "trailing characters" in whole.why:
            raise DataError(f"{path}: holds several JSON values over many lines each; write one on a line, as jq -c . does")
        # Lines of which the first is broken, or an object that is.
        file.seek(0)
        yield from _json_lines(file)
        return
    listed = _listed(whole)
    yield from enumerate([whole] if listed is None else listed, 1)


def _array(path: Path, file: IO[bytes] | gzip.GzipFile, *, compressed: bool) -> Numbered:
    held: Any = file.read() if compressed else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = len(_BOM) if held[:3] == _BOM else 0
    view = memoryview(held)[start:]
    try:
        elements = msgspec.json.decode(view, type=list[msgspec.Raw])
    except RecursionError:
        raise DataError(f"{path}: not a JSON array: {DEEP}") from None
    except msgspec.MsgspecError as error:
        number, ends = _where_it_ends(view)
        if ends:
            raise DataError(f"{path}: ends inside element {number}; copy the file again, or cut it off there") from None
        raise DataError(f"{path}: not a JSON array: {error} (element {number} or before it)") from None
    for number, element in enumerate(elements, 1):
        yield number, memoryview(element)


def _where_it_ends(content: memoryview) -> tuple[int, bool]:
    """In which element of an array its content stops, and whether it stops before the array does."""
    depth, number = 0, 1
    for mark in _MARKS.finditer(content):
        sign = mark.group()[:1]
        if sign in (b"[", b"{"):
            depth += 1
        elif sign in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                return number, False
        elif sign == b"," and depth == 1:
            number += 1
    return number, True


def _table(path: Path, file: IO[bytes] | gzip.GzipFile, delimiter: str) -> Numbered:
    csv.field_size_limit(1 << 30)  # a prompt may be longer than the 128 KB that the module allows
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    lines = _Lines(text)
    reader = csv.DictReader(lines, delimiter=delimiter)
    try:
        if reader.fieldnames is not None:
            reader.fieldnames = _head(path, reader.fieldnames, delimiter)
        for row in reader:
            if lines.ended:  # the reader looked for the end of a quoted cell
                raise DataError(
                    f"{path}:{reader.line_num}: the file ends inside a quoted cell; copy it again, or cut the row off"
                )
            yield (
                reader.line_num,
                {key: _cell(key, value) for key, value in row.items() if key and value},
            )
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}:{_first_undecodable(file)}: is not UTF-8 text; save it as UTF-8") from None
    finally:
        text.detach()  # whoever opened the file closes it


class _Lines:
    """The lines of a table, and whether they are over."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text, self.ended = text, False

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._text.readline()
        if not line:
            self.ended = True
            raise StopIteration
        return line


def _head(path: Path, names: Sequence[str], delimiter: str) -> list[str]:
    """The names of a table's columns, without blanks around them."""
    found = [name.strip() for name in names]
    if len(found) == 1 and (other := next((sign for sign in ",;\t|" if sign != delimiter and sign in found[0]), None)):
        wanted = "commas (.csv)" if delimiter == "," else "tabs (.tsv)"
        raise DataError(f"{path}:1: its columns are parted by {other!r}; save it with {wanted}")
    twice = next((name for name in found if name and found.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path}:1: two columns are named {twice!r}; rename one")
    return found


def _first_undecodable(file: IO[bytes] | gzip.GzipFile) -> int:
    """The line of the first bytes that are no UTF-8."""
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number
    return 1


def _cell(name: str, value: Any) -> Any:
    """A cell: JSON where a table holds lists and mappings as text. A prompt that is JSON itself stays text, if it is no turns."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    found = decoded(value.encode("utf-8", "surrogatepass"))
    turns = isinstance(found, list) and bool(found) and all(isinstance(one, dict) and "role" in one for one in found)
    return value if isinstance(found, Broken) or (name in _TEXTS and not turns) else found


def _parquet(path: Path, file: IO[bytes] | gzip.GzipFile) -> Numbered:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise DataError(f"{path}: is Parquet; to read it: pip install 'specbench-llm[parquet]'") from None
    try:
        table = ParquetFile(io.BytesIO(file.read()) if isinstance(file, gzip.GzipFile) else file)
        number = 0
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE):
            for row in batch.to_pylist():
                number += 1
                yield number, {key: _cell(key, value) for key, value in row.items()}
    except (ArrowException, OSError, ValueError) as error:  # of a page that is damaged it raises a plain OSError
        why = (str(error).splitlines() or ["its bytes make no sense"])[0][:200].rstrip(". ")
        raise DataError(f"{path}: is damaged Parquet: {why}; copy the file again") from None
