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
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import msgspec

from specbench.errors import DataError
from specbench.files import other_encoding, regular_file

_BOM = b"\xef\xbb\xbf"
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
        if (encoding := other_encoding(head)) is not None:
            raise DataError(f"{path}: is {encoding} text; save it as UTF-8")
        name = path.name.removesuffix(".gz").casefold()
        text = head.removeprefix(_BOM).lstrip()
        if head[:4] == b"PAR1":
            yield from _parquet(path, file)
        elif name.endswith((".csv", ".tsv")):
            yield from _table(path, file, "\t" if name.endswith(".tsv") else ",")
        elif text[:1] == b"[":
            yield from _array(path, file, compressed=compressed)
        elif text[:1] == b"{" and isinstance(decoded(text.partition(b"\n")[0]), Broken) and _is_one_object(file):
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
    """Whether the file is one object over many lines, not a line each."""
    file.seek(0)
    first = next((line for line in file if line.strip()), b"").removeprefix(_BOM).strip()
    file.seek(0)
    return first[-1:] in (b"{", b"[", b",") and isinstance(found := decoded(first), Broken) and found.truncated


def _object(path: Path, file: IO[bytes] | gzip.GzipFile) -> Numbered:
    """One object: the rows that it lists under `data` or `rows`, or itself."""
    file.seek(0)
    whole = decoded(file.read().removeprefix(_BOM))
    if isinstance(whole, Broken):
        # Lines of which the first is broken, or an object that is.
        file.seek(0)
        yield from _json_lines(file)
        return
    listed = next((whole[key] for key in ("data", "rows") if isinstance(whole.get(key), list)), [whole])
    yield from enumerate(listed, 1)


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
    reader = csv.DictReader(text, delimiter=delimiter)
    try:
        for row in reader:
            yield (
                reader.line_num,
                {key: _cell(value) for key, value in row.items() if key and value},
            )
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}:{reader.line_num + 1}: is not UTF-8 text; save it as UTF-8") from None
    finally:
        text.detach()  # whoever opened the file closes it


def _cell(value: Any) -> Any:
    """A cell: JSON where a table holds lists and mappings as text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        found = decoded(value.encode("utf-8", "surrogatepass"))
        return value if isinstance(found, Broken) else found
    return value


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
                yield number, row
    except (ArrowException, OSError, ValueError) as error:  # of a page that is damaged it raises a plain OSError
        why = (str(error).splitlines() or ["its bytes make no sense"])[0]
        raise DataError(f"{path}: is damaged Parquet: {why[:200]}") from None
