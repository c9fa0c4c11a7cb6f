"""Series of measurements in the order of time: whether they drift.

Only arrays of equally spaced means come in. What an unsteady series means for a cell is decided in the `integrity` modules.
"""

from math import sqrt

import numpy as np

from specbench.analysis.events import Floats
from specbench.analysis.stats_paired import Estimate


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
