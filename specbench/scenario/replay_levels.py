"""Loads of replayed arrivals: `x1` and `x2` stand for the mean rate of the dataset's own arrivals, times 1 and 2. Pure.

What the mean rate is shows when the dataset is read; until then a scenario is checked with one request a second.
"""

import re
from typing import Any

UNKNOWN_RATE = 1.0
_LEVEL = re.compile(r"x([0-9]+(?:\.[0-9]+)?)")
DIGITS = 6  # a rate is printed, and asked for, with no more


def with_replayed_rates(tree: dict[str, Any], mean_rate: float) -> dict[str, Any]:
    """The scenario's mapping with the rates that `matrix.replay.speed` makes of this mean rate, and with `x1` as a number.

    Anything that is not as it should be is left for the schema to say.
    """
    matrix = tree.get("matrix")
    if not isinstance(matrix, dict) or matrix.get("arrivals") != "replay":
        return tree
    replay = matrix.get("replay")
    speeds = replay.get("speed", [1]) if isinstance(replay, dict) else [1]
    known = [one for one in speeds if isinstance(one, int | float) and one > 0] if isinstance(speeds, list) else []
    changed = {key: _level(value, mean_rate) for key, value in matrix.items() if key in ("primary", "optional", "traffic_share")}
    rails = tree.get("guardrails")
    if isinstance(rails, list):
        rails = [
            {**rail, "cells": _level(rail["cells"], mean_rate)} if isinstance(rail, dict) and "cells" in rail else rail
            for rail in rails
        ]
    rates = {} if "rate" in matrix else {"rate": [rate_of(speed, mean_rate) for speed in known]}
    return {**tree, "matrix": {**matrix, **changed, **rates}, **({} if rails is None else {"guardrails": rails})}


def rate_of(speed: float, mean_rate: float) -> float:
    """Requests per second of arrivals that come so many times as fast."""
    return float(f"{speed * mean_rate:.{DIGITS}g}")


def _level(value: Any, mean_rate: float) -> Any:
    if isinstance(value, list):
        return [_level(one, mean_rate) for one in value]
    if isinstance(value, dict):
        return {str(_level(key, mean_rate)): share for key, share in value.items()}
    found = _LEVEL.fullmatch(value) if isinstance(value, str) else None
    return value if found is None else rate_of(float(found[1]), mean_rate)
