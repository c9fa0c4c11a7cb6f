"""`capacity.json`: the result of a search, as strict JSON."""

import msgspec

from specbench.credentials import escaped
from specbench.model.capacity import CapacityResult

CAPACITY = "capacity.json"


def capacity_json(result: CapacityResult) -> bytes:
    """The result, indented; the same bytes for the same result."""
    return escaped(msgspec.json.format(msgspec.json.encode(result, order="deterministic"), indent=1)) + b"\n"
