"""What one start of each engine adds to the error of their comparison: it is the same in every pair, so no pair shows it.

The log ratio of two arms that were started once each holds the difference of two starts, normal with variance 2 sd². Only
numbers come in; which comparisons it concerns is said where they are made.
"""

from functools import lru_cache
from math import sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.paired import STARTS, Estimate, t_quantile, with_starts
from specbench.model.scenario import StartSd

_POINTS = 15  # of the Gauss-Hermite rule; with 7 a test errs twice as often as it should where starts outweigh all else


def widened(estimate: Estimate, start: StartSd | None) -> Estimate:
    """The estimate with both of its errors wider by the difference of two starts; the fewer degrees of freedom hold for both."""
    if start is None or estimate.se is None or estimate.df is None:
        return estimate
    below = with_starts(estimate.se**2, estimate.df, start)
    if estimate.se_above is None:
        return Estimate(estimate.mean, below[0], below[1])
    above = with_starts(estimate.se_above**2, estimate.df, start)
    return Estimate(estimate.mean, below[0], min(below[1], above[1]), above[0])


@lru_cache(maxsize=16)
def differences(start: StartSd | None) -> tuple[Floats, Floats]:
    """How far two starts may be apart on the log scale, and the weight of each such difference: both (n,).

    The points of the Gauss-Hermite rule, where sd was measured drawn out to the quantiles of t; a single 0 without starts.
    """
    from scipy.special import ndtr

    if start is None:
        return np.zeros(1), np.ones(1)
    points, weights = np.polynomial.hermite_e.hermegauss(_POINTS)
    if start.df is not None:
        points = np.array([t_quantile(float(ndtr(point)), start.df) for point in points])
    return sqrt(STARTS) * start.sd * points, weights / weights.sum()


def reach_of_starts(start: StartSd | None, alpha: float) -> float:
    """How far starts alone leave a log ratio open, however many pairs there are: the least limit that equal arms could pass."""
    from scipy.special import ndtri

    if start is None:
        return 0.0
    quantile = float(ndtri(1 - alpha)) if start.df is None else t_quantile(1 - alpha, start.df)
    return quantile * sqrt(STARTS) * start.sd
