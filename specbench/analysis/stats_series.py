"""Series of measurements in the order of time: where the warm-up ends, whether they drift, how many of them are independent.

Only arrays of equally spaced means come in. What an unsteady series means for a cell is decided in the `integrity` modules.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from specbench.analysis.events import Floats
from specbench.analysis.stats_paired import Estimate

BATCH = 5


@dataclass(frozen=True, slots=True)
class Truncation:
    """How many of the first values belong to the warm-up; `steady` is False where more than half would have to go."""

    dropped: int
    steady: bool


def mser5(values: Floats) -> Truncation | None:
    """Where to cut the warm-up off a series (n,): the cut that leaves the mean of the rest best known.

    On means of 5 values Y_1..Y_k, the d <= k / 2 with the least sum_(i > d) (Y_i - mean of the rest)^2 ÷ (k - d)^2.

    Returns:
        None with fewer than 4 batches. At the limit of half the series the warm-up has not ended inside it.

    Source: White, Cobb and Spratt 2000, Winter Simulation Conference; Robinson 2014, Simulation, section 9.5.1.
    """
    k = len(values) // BATCH
    if k < 4:
        return None
    batches = values[: k * BATCH].reshape(k, BATCH).mean(axis=1)
    scores = [float(np.var(batches[d:])) / (k - d) for d in range(k // 2 + 1)]
    best = int(np.argmin(scores))
    return Truncation(best * BATCH, best < k // 2)


def trend(values: Floats) -> Estimate | None:
    """The change from the first value of a series (n,) to the last along the least-squares line, with n - 2 degrees of freedom.

    On logarithms it is the log of a ratio. For one value a block, such as the acceptance of each pair in the order of the run.

    Returns:
        None with fewer than 3 values.
    """
    n = len(values)
    if n < 3:
        return None
    time = np.linspace(-0.5, 0.5, n)
    around = values - values.mean()
    spread = float((time**2).sum())
    slope = float((time * around).sum()) / spread
    residual = around - slope * time
    return Estimate(slope, sqrt(float((residual**2).sum()) / (n - 2) / spread), n - 2)


def autocorrelation(values: Floats, lags: int) -> Floats:
    """Correlation of a series (n,) with itself 0, 1, .., `lags` places later, (lags + 1,); zeros after a constant's first.

    r_k = sum (x_t - m)(x_(t + k) - m) ÷ sum (x_t - m)^2, the divisor being that of lag 0 for every lag.

    Source: Box and Jenkins, Time Series Analysis, section 2.1.5.
    """
    around = values - values.mean()
    total = float((around**2).sum())
    if total == 0.0:
        return np.concatenate(([1.0], np.zeros(lags)))
    return np.array([float((around[: len(values) - lag] * around[lag:]).sum()) / total for lag in range(lags + 1)])


def effective_samples(values: Floats) -> float:
    """How many independent values carry as much about the mean as this series (n,) does: n ÷ (1 + 2 sum r_k), at most n.

    The sum runs over pairs of lags while their sum is positive, since later ones are noise.

    Source: Geyer 1992, Statistical Science 7, the initial positive sequence.
    """
    n = len(values)
    correlations = autocorrelation(values, n - 1)
    inflation = -1.0
    for lag in range(0, n - 1, 2):
        pair = float(correlations[lag] + correlations[lag + 1])
        if pair <= 0:
            break
        inflation += 2 * pair
    return n / max(inflation, 1.0)
