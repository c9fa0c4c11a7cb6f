"""Quantiles of one metric of one arm at shared probabilities, for whoever draws distributions.

Nothing is compared here: drawn shapes decide nothing.
"""

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Floats
from specbench.analysis.arrays.samples import Samples, quantiles
from specbench.analysis.metrics.registry import SOURCES
from specbench.model.scenario import ARMS, ArmName
from specbench.model.shown import Distribution

# Every percent, and the ends where tails live.
PROBABILITIES: tuple[float, ...] = (0.0, 0.001, 0.005, *(percent / 100 for percent in range(1, 100)), 0.995, 0.999, 1.0)
EXACT_UP_TO = 50_000
BINS_PER_DOUBLING = 2048
SMALLEST_SHARE = 1e-7  # of the largest value: what is smaller is drawn at 0 anyhow
DRAWN = ("ttft", "tpot", "itl", "chunk_gap", "pace")


def distributions_of(baseline: CellArrays, speculative: CellArrays) -> tuple[Distribution, ...]:
    """The distributions of both arms of one cell, baseline first; metrics without any sample are left out."""
    found = [
        _distribution(name, arm, columns) for name in DRAWN for arm, columns in zip(ARMS, (baseline, speculative), strict=True)
    ]
    return tuple(distribution for distribution in found if distribution is not None)


def _distribution(name: str, arm: ArmName, columns: CellArrays) -> Distribution | None:
    data = SOURCES[name](columns)
    assert isinstance(data, Samples)
    values = data.values[np.isfinite(data.values)]  # failed requests have no place on an axis; the error rate shows them
    if not len(values):
        return None
    drawn = _binned(values) if len(values) > EXACT_UP_TO else quantiles(values, PROBABILITIES)
    return Distribution(
        metric=name,
        unit="ms",
        arm=arm,
        n=len(values),
        probabilities=PROBABILITIES,
        values=tuple(drawn.tolist()),
    )


def _binned(values: Floats) -> Floats:
    """The quantiles of many values (n,), good to 0.02 %, by counting into bins even in the logarithm; both ends are exact.

    Sorting a million gaps of each arm and cell would take as long as all comparisons together, to draw a curve.
    """
    least, most = float(values.min()), float(values.max())
    floor = max(least, most * SMALLEST_SHARE)
    if floor >= most:
        return np.full(len(PROBABILITIES), most)
    places = (np.log2(np.maximum(values, floor) / floor) * BINS_PER_DOUBLING).astype(np.int64)
    rising = np.cumsum(np.bincount(places))
    ranks = np.round(np.array(PROBABILITIES) * (len(values) - 1)) + 1
    found: Floats = floor * 2 ** ((np.searchsorted(rising, ranks) + 0.5) / BINS_PER_DOUBLING)
    found[0], found[-1] = least, most
    return np.clip(found, least, most)
