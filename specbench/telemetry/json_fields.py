"""Values out of JSON that an endpoint wrote: of the type that is wanted, or not there at all.

No names of fields: each engine's file knows its own.
"""

import math
from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]

MOST = 10**15
"""The largest count that is believed: bytes of memory stay below it, and sums of thousands of them fit 64 bits."""


def object_in(fields: Fields, name: str) -> Fields:
    """The object under that name; an empty one where there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(fields: Fields, name: str) -> list[Fields]:
    """The objects in the list under that name; none where there is no list."""
    value = fields.get(name)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def count_in(fields: Fields, *names: str) -> int | None:
    """The first of `names` that holds a whole number from 0 to MOST; None where none does."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST:
            return value
    return None


def counts_in(fields: Fields, *names: str) -> tuple[int, ...] | None:
    """The first of `names` that holds a list of whole numbers from 0 to MOST; None where none does."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, list) and all(isinstance(entry, int) and 0 <= entry <= MOST for entry in value):
            return tuple(value)
    return None


def number_in(fields: Fields, name: str) -> float | None:
    """The finite number of at least 0 under that name; None where there is none."""
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


def flag_in(fields: Fields, name: str) -> bool | None:
    """The truth value under that name; None where there is none."""
    value = fields.get(name)
    return value if isinstance(value, bool) else None


def word_in(fields: Fields, *names: str) -> str | None:
    """The first of `names` that holds a text or a number, as text; None where none does or it is empty."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value):
            return str(value)
    return None
