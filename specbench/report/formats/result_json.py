"""`result.json`: a Result to bytes, back again, and its JSON Schema. No other format and no judgement lives here.

The file holds a digest of itself. It finds mistakes: a hand edit, a bad merge, a copy of half a file. It finds no forger, who can
compute it anew.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from specbench.credentials import escaped
from specbench.errors import DataError, ExitCode, InternalError
from specbench.files import regular_bytes
from specbench.model.result import Result
from specbench.model.tuning.tune_values import Tune
from specbench.store import MANIFEST, RESULT

SCHEMA_VERSION = 1
# An indented array of numbers alone. Strings hold no raw line break in JSON, so this never matches inside one.
_NUMBERS = re.compile(rb"\[\n\s+([-+0-9.eE,\s]+?)\n\s*\]")


_DIGEST = frozenset({"digest", "digest_of"})
FIELDS = tuple(field.name for field in fields(Result) if field.name not in _DIGEST)


class _Version(msgspec.Struct):
    """The one field that every version of the file has."""

    schema_version: int


def result_json(result: Result) -> bytes:
    """The result as strict JSON, indented, one line for an array of numbers; the same bytes for the same result.

    Raises:
        InternalError: A number is not finite. Absence is None with a reason, so this is a defect of what made the result.
    """
    found = _not_finite(msgspec.to_builtins(result), "$")
    if found:
        raise InternalError(f"result: {found} is not a finite number; please report it with the run folder")
    whole = msgspec.to_builtins(replace(result, digest=None, digest_of=()), order="deterministic")
    signed = whole | {"digest": _digest(whole, FIELDS), "digest_of": FIELDS}
    text = msgspec.json.format(msgspec.json.encode(signed), indent=1)
    return escaped(_NUMBERS.sub(lambda match: b"[" + b" ".join(match[1].split()) + b"]", text)) + b"\n"


def _digest(document: Mapping[str, Any], names: Sequence[str]) -> str:
    """The sha256 of these fields, whatever the order of their keys and the white space between them."""
    return sha256(msgspec.json.encode({name: document.get(name) for name in names}, order="sorted")).hexdigest()


def _not_finite(value: Any, path: str) -> str | None:
    """The path of the first number that is infinite or not a number."""
    if isinstance(value, float):
        return None if isfinite(value) else path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    found = (_not_finite(item, f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}") for key, item in items)
    return next((where for where in found if where), None)


def read_result(path: Path) -> Result:
    """The result in that file, or in that run folder.

    Raises:
        DataError: There is none, it is damaged, or another version of specbench wrote it; one line that says what to do.
    """
    # os.path answers no where Path would raise: at a name that is too long, in a folder that is closed to us.
    file = path / RESULT if os.path.isdir(path) else path
    try:
        data = regular_bytes(file)
    except FileNotFoundError:
        folder = file.parent if file.name == RESULT else file
        if not os.path.exists(folder / MANIFEST):
            raise DataError(f"{folder}: no run is here; name a folder that `specbench run` wrote") from None
        raise DataError(f"{file}: there is no result here; make one with: specbench analyze {quote(str(folder))}") from None
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from None
    return result_of(data, str(file))


def result_of(data: bytes, where: str) -> Result:
    """The result in those bytes; `where` names them in errors.

    Raises:
        DataError: The bytes are damaged, or of another format version.
    """
    again = f"make it again with: specbench analyze {quote(str(Path(where).parent))}"
    try:
        version = msgspec.json.decode(data, type=_Version).schema_version
    except msgspec.ValidationError:
        raise DataError(f"{where}: not a result of specbench (no schema_version); {again}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{where}: damaged, not whole JSON ({error}); {again}") from None
    if version > SCHEMA_VERSION:
        raise DataError(f"{where}: format version {version} is newer than {SCHEMA_VERSION}; update specbench to read it")
    if version < SCHEMA_VERSION:
        raise DataError(f"{where}: format version {version} is older than {SCHEMA_VERSION}; {again}")
    try:
        result = msgspec.json.decode(data, type=Result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{where}: damaged ({error}); {again}") from None
    if (fault := _fault(result, msgspec.json.decode(data))) is not None:
        raise DataError(f"{where}: {fault}; {again}")
    return replace(result, digest=None, digest_of=())


def _fault(result: Result, document: Mapping[str, Any]) -> str | None:
    """In what the file contradicts itself; None where it does not.

    A field that a later specbench added is passed over, so one that this specbench knows must be among those of the digest.
    """
    word = result.verdict
    said = (result.exit_code, result.promote, result.rollback)
    if said != (int(ExitCode[word]), word == "PROMOTE", word == "ROLLBACK"):
        flags = ", ".join(f"{name} is {str(value).lower()}" for name, value in (("promote", said[1]), ("rollback", said[2])))
        return f"contradicts itself: the verdict is {word}, the exit code {said[0]}, {flags}"
    if result.digest is None:
        return "holds no digest of itself, as an earlier specbench wrote none"
    missing = [name for name in FIELDS if name in document and name not in result.digest_of]
    if missing or _digest(document, result.digest_of) != result.digest:
        return "is not as it was written: its fields and its digest disagree"
    return None


def schema() -> dict[str, Any]:
    """The JSON Schema of `result.json`; within version 1 fields are only ever added."""
    found = msgspec.json.schema(Result)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "specbench result, schema version 1", **found}


def tune_schema() -> dict[str, Any]:
    """The JSON Schema of `tune.json`."""
    found = msgspec.json.schema(Tune)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "specbench tune, format version 1", **found}
