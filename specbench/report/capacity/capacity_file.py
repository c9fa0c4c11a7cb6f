"""`capacity.json`: the result of a search, as strict JSON."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

import msgspec

from specbench.credentials import escaped
from specbench.errors import InternalError
from specbench.model.capacity.capacity_values import CapacityResult

CAPACITY = "capacity.json"


def capacity_json(result: CapacityResult) -> bytes:
    """The result, indented; the same bytes for the same result.

    Raises:
        InternalError: A number is not finite. Absence is None, so this is a defect of what made the result.
    """
    if not all(map(isfinite, _numbers(msgspec.to_builtins(result)))):
        raise InternalError("capacity: a figure is not finite; please report it with the folder")
    return escaped(msgspec.json.format(msgspec.json.encode(result, order="deterministic"), indent=1)) + b"\n"


def _numbers(value: Any) -> Iterator[float]:
    """Every number in the value, however deep."""
    if isinstance(value, float):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from _numbers(inner)
