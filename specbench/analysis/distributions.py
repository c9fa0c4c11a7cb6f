"""Quantiles of one metric of one arm at shared probabilities, for whoever draws distributions.

Nothing is compared here: drawn shapes decide nothing.
"""

import numpy as np

from specbench.analysis import cadence, latency
from specbench.analysis.columns import Columns
from specbench.analysis.metrics import Source
from specbench.analysis.samples import Samples, quantiles
from specbench.model.asked import ARMS, ArmName
from specbench.model.judged import Distribution

# Every percent, and the ends where tails live.
PROBABILITIES: tuple[float, ...] = (0.0, 0.001, 0.005, *(percent / 100 for percent in range(1, 100)), 0.995, 0.999, 1.0)
DRAWN: dict[str, Source] = {
    "ttft": latency.ttft,
    "tpot": latency.tpot,
    "itl": cadence.itl,
    "chunk_gap": cadence.chunk_gap,
    "pace": cadence.pace,
}


def distributions_of(baseline: Columns, speculative: Columns) -> tuple[Distribution, ...]:
    """The distributions of both arms of one cell, baseline first; metrics without any sample are left out."""
    found = [
        _distribution(name, source, arm, columns)
        for name, source in DRAWN.items()
        for arm, columns in zip(ARMS, (baseline, speculative), strict=True)
    ]
    return tuple(distribution for distribution in found if distribution is not None)


def _distribution(name: str, source: Source, arm: ArmName, columns: Columns) -> Distribution | None:
    data = source(columns)
    assert isinstance(data, Samples)
    values = data.values[np.isfinite(data.values)]  # failed requests have no place on an axis; the error rate shows them
    if not len(values):
        return None
    return Distribution(
        metric=name,
        unit="ms",
        arm=arm,
        n=len(values),
        probabilities=PROBABILITIES,
        values=tuple(quantiles(values, PROBABILITIES).tolist()),
    )
