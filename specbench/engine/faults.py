"""Faults that an engine can be told to play, so that a run's reaction to a failing endpoint can be seen without breaking one.

Which request is hit is decided here, by its number alone; how the fault looks is the endpoint's part.
"""

from collections.abc import Mapping
from math import floor
from typing import Literal

Fault = Literal["error", "exit"]


def fault_of(number: int, faults: Mapping[str, float]) -> Fault | None:
    """What happens to the generation request of that number, counted from 1; None where it is served.

    `error_share` of all requests, evenly spread, are answered with status 500; the first request after `exit_after_requests` ends
    the process at once.
    """
    last = faults.get("exit_after_requests")
    if last is not None and number > last:
        return "exit"
    share = faults.get("error_share", 0.0)
    return "error" if floor(number * share) > floor((number - 1) * share) else None
