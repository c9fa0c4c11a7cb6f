"""Whether two `result.json` say the same: every number, state and code, whatever the sentences and the fields are called.

`python -m tests.support.same_result OLD NEW` prints `equal`, or one line for each difference and exits 1.
"""

import json
import sys
from math import isclose
from pathlib import Path
from typing import Any

# Fields that were renamed, the old name first. Both files are compared under the new names.
RENAMED = {"min_concurrency": "low", "max_concurrency": "high", "course": "block_series"}
# Fields that hold sentences; `notes` of the whole result are sentences, those of a finding are codes.
TEXTS = {"message", "reason", "definition", "method"}


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Where the two differ, one line each, but for texts and renamed fields; a number within 1e-9 of itself is the same."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = _renamed(old), _renamed(new)
        only = [f"{path}.{key}: only in one of them" for key in sorted(before.keys() ^ after.keys())]
        both = (key for key in before if key in after)
        return only + [line for key in both for line in differences(before[key], after[key], f"{path}.{key}")]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{path}: {len(old)} items, then {len(new)}"]
        return [line for i, (a, b) in enumerate(zip(old, new, strict=True)) for line in differences(a, b, f"{path}[{i}]")]
    return [] if _same(old, new, path) else [f"{path}: {old!r}, then {new!r}"]


def texts_of(value: Any, path: str = "") -> list[tuple[str, str]]:
    """The sentences of a result, each with its place in the file."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in texts_of(item, f"{path}.{key}")]
    if isinstance(value, list):
        return [found for i, item in enumerate(value) for found in texts_of(item, f"{path}[{i}]")]
    return [(path, value)] if isinstance(value, str) and _is_text(path) else []


def _renamed(fields: dict[str, Any]) -> dict[str, Any]:
    return {RENAMED.get(key, key): value for key, value in fields.items()}


def _same(old: Any, new: Any, path: str) -> bool:
    if isinstance(old, str) and isinstance(new, str) and _is_text(path):
        return True
    if type(old) is float and type(new) is float:
        return isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)
    return type(old) is type(new) and bool(old == new)


def _is_text(path: str) -> bool:
    return path.rpartition(".")[2] in TEXTS or path.startswith(".notes[")


def main(old: str, new: str) -> int:
    """Prints what differs between two files, or `equal`."""
    found = differences(json.loads(Path(old).read_text()), json.loads(Path(new).read_text()))
    print("\n".join(found) or "equal")  # noqa: T201 - its user reads this
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
