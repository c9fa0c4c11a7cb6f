"""Many tests taken as one family, and logarithms back to numbers: arithmetic that knows of no metric and no guardrail."""

import math
from collections.abc import Sequence

_MOST_LOG = 700.0  # e to a higher power is hardly a number of any machine, and none of any measurement


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Each p adjusted so that rejecting all below alpha errs anywhere with probability at most alpha.

    With p(1) ≤ … ≤ p(m): adjusted p(i) = max over j ≤ i of min(1, (m − j + 1) · p(j)).

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    count = len(p_values)
    result = [0.0] * count
    running = 0.0
    for rank, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        running = max(running, min(1.0, (count - rank) * p_values[index]))
        result[index] = running
    return tuple(result)


def finite_exp(log: float) -> float | None:
    """e to this power; None, an open end, where it lies beyond every number, as two pairs at a strict level may put it."""
    return math.exp(log) if log <= _MOST_LOG else None
