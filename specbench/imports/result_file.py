"""A result file of another tool: its bytes as JSON values, one or many, whatever its name ends in.

Python's own JSON reader is used, as tools written in Python leave bare `NaN` and `Infinity` in their files.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from specbench.errors import DataError
from specbench.files import no_text, regular_bytes
from specbench.model.data.imported import ImportedFile, ImportedRequest
from specbench.net.urls import without_secrets

_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True, eq=False)
class ResultFile:
    """A file with all of its JSON values in their order: one object, an array, or several objects one after the other."""

    path: Path
    sha256: str
    values: tuple[Any, ...]

    @property
    def named(self) -> ImportedFile:
        """The file as a result names it."""
        return ImportedFile(storable(str(self.path)), self.sha256)

    @property
    def objects(self) -> tuple[Mapping[str, Any], ...]:
        """The objects in it: those of an array stand for themselves."""
        held = self.values[0] if len(self.values) == 1 and isinstance(self.values[0], list) else self.values
        return tuple(one for one in held if isinstance(one, dict))


def result_file(path: Path) -> ResultFile:
    """The file's values.

    Raises:
        DataError: it cannot be read, is no JSON, or ends inside a value; one line that says where.
    """
    try:
        content = regular_bytes(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); name a result file or a folder of them") from None
    if (why := no_text(content)) is not None:
        raise DataError(f"{path}: {why}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: is not UTF-8 text (byte {error.start}); name the tool's JSON file, or save it as UTF-8"
        ) from None
    return ResultFile(path, sha256(content).hexdigest(), tuple(_values(text, path)))


def _values(text: str, path: Path) -> list[Any]:
    decoder = json.JSONDecoder()
    values: list[Any] = []
    at = _past_blanks(text, 0)
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise DataError(_broken(text, path, len(values), error)) from None
        except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
            raise DataError(f"{path}: is no result file ({error})") from None
        values.append(value)
        at = _past_blanks(text, at)
    if not values:
        raise DataError(f"{path}: is empty; the tool wrote nothing, so run it again")
    return values


def _broken(text: str, path: Path, before: int, error: json.JSONDecodeError) -> str:
    where = f"{path}:{error.lineno}"
    # The reader stops at the end of a text that was cut, or at the opening quote of a string that nothing closes.
    if error.pos >= len(text.rstrip(_BLANK)) or error.msg.startswith("Unterminated string"):
        whole = f" after {before} whole ones" if before else ""
        return f"{where}: the file ends inside value {before + 1}{whole}: it was cut off; copy it again, or run the tool again"
    return f"{where}: not JSON: {error.msg} (column {error.colno}); name the tool's JSON file"


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def number(value: object) -> float | None:
    """The value as a finite number; None for absence, text, infinity and not-a-number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def count(value: object) -> int | None:
    """The value as a number of things; None for what is none."""
    found = number(value)
    return None if found is None or found < 0 else int(found)


def storable(text: str) -> str:
    """The text with a question mark for each half of a character, which no file in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def text_of(value: object) -> str | None:
    """The value as text where it is some; None otherwise."""
    return value if isinstance(value, str) and value else None


def url_of(value: object) -> str | None:
    """The URL without the secrets that it may hold; None where there is none."""
    found = text_of(value)
    return None if found is None else without_secrets(found)


def at(value: object, *keys: str) -> Any:
    """What lies under these keys one below the other; None where one of them is missing."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def rows(value: object) -> Sequence[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def times(**values_ms: float | None) -> dict[str, float]:
    """Those of the values that are there and not below zero: a clock that stepped back has measured nothing."""
    return {name: value for name, value in values_ms.items() if value is not None and value >= 0}


def tally(requests: Sequence[ImportedRequest], attempted: int | None, failed: int | None) -> tuple[int | None, int | None]:
    """How many requests were attempted and how many failed: counted where the file has them, else as its summary says."""
    return (len(requests), sum(not one.ok for one in requests)) if requests else (attempted, failed)


def scaled(value: object, factor: float) -> float | None:
    """The value times the factor; None where there is no number."""
    found = number(value)
    return None if found is None else found * factor
