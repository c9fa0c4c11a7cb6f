"""Where a series of measurements changed its level: binary segmentation, each split held to a permutation test.

Only numbers come in, in their order. The test takes the values of an unchanged series as exchangeable: a slow drift is found as a
change too. Of few values no order is rare enough: for p < .01 a split in the middle needs ten, one with three on a side twelve.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import exp

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.model.history.run_history import FEWEST_RUNS, LEAST_CHANGE, MOST_P

FEWEST_A_SIDE = 3
PERMUTATIONS = 2_000
_SEED = 20_260
_TIE = 1e-9  # sums of the same values in another order differ in the last digits


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """The series has another level from this value on; both levels are means of logs, over the values up to the next change."""

    at: int
    before: float
    after: float
    p: float

    @property
    def ratio(self) -> float:
        """The new level by the old one."""
        return exp(self.after - self.before)


def change_points(logs: Floats) -> tuple[ChangePoint, ...]:
    """The changes in a series of logarithms, first to last; none where it has fewer than eight values."""
    splits = sorted(_splits(logs, 0, len(logs)))
    edges = [0, *(at for at, _ in splits), len(logs)]
    levels = [float(logs[low:high].mean()) for low, high in pairwise(edges)] if splits else []
    return tuple(ChangePoint(at=at, before=levels[place], after=levels[place + 1], p=p) for place, (at, p) in enumerate(splits))


def _splits(logs: Floats, low: int, high: int) -> list[tuple[int, float]]:
    """Where this stretch falls apart, with the p of each split; both sides are searched in turn."""
    part = logs[low:high]
    if len(part) < FEWEST_RUNS:
        return []
    between = _between(part[None, :])[0]
    at = int(between.argmax()) + FEWEST_A_SIDE
    if not _is_large(float(part[at:].mean() - part[:at].mean())):
        return []
    p = _p_of(part, float(between.max()))
    if p >= MOST_P:
        return []
    return [(low + at, p), *_splits(logs, low, low + at), *_splits(logs, low + at, high)]


def _between(rows: Floats) -> Floats:
    """For each row and split the sum of squares between its sides, which rises with |t| as the total is one and the same."""
    size = rows.shape[1]
    left = np.arange(FEWEST_A_SIDE, size - FEWEST_A_SIDE + 1)
    centred = rows - rows.mean(axis=1, keepdims=True)
    sums = centred.cumsum(axis=1)[:, left - 1]
    found: Floats = sums**2 * size / (left * (size - left))
    return found


def _p_of(part: Floats, found: float) -> float:
    """How often the same values in another order have a split as clear as this, the order at hand among them."""
    rng = np.random.default_rng(_SEED)
    orders = rng.permuted(np.tile(part, (PERMUTATIONS, 1)), axis=1)
    as_clear = int((_between(orders).max(axis=1) >= found * (1 - _TIE)).sum())
    return (1 + as_clear) / (1 + PERMUTATIONS)


def _is_large(step: float) -> bool:
    return abs(exp(step) - 1) >= LEAST_CHANGE if abs(step) < 700 else True
