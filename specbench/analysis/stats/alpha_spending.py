"""More than one test, and more than one look: how small a p-value must be so that all together err no more than one would.

Only p-values and shares of the planned information come in. Which side stops for what is decided where a run looks.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.errors import InternalError

_GRID = 0.01  # spacing of the integration grid in standard deviations of the final score; bounds are good to 1e-4
_REACH = 8.0  # standard deviations beyond which a density is 0


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


def spending(alpha: float, information: float) -> float:
    """How much of alpha may be spent by the time this share of the information is in: 2 (1 - Phi(z(1 - alpha / 2) ÷ sqrt t)).

    Almost nothing early, all of it at the end, whatever the number and the spacing of looks.

    Source: O'Brien and Fleming 1979, as the spending function of Lan and DeMets 1983, Biometrika 70.
    """
    from scipy.special import ndtr, ndtri

    if information <= 0:
        return 0.0
    return float(2 * ndtr(ndtri(alpha / 2) / sqrt(min(information, 1.0))))


def look_levels(information: Sequence[float], alpha: float = 0.05) -> tuple[float, ...]:
    """The nominal one-sided level of each look: reject there if its plain p-value is below it.

    The bounds c_k solve P(Z_1 < c_1, .., Z_(k-1) < c_(k-1), Z_k >= c_k) = spent(t_k) - spent(t_(k-1)) for the standardised
    means Z_k, whose increments are independent; found by recursive integration. As p-values they serve Student's t as well.

    Args:
        information: Share of the planned pairs that each look has, rising, the last at most 1.

    Raises:
        InternalError: A look has no more information than the one before.

    Source: Armitage, McPherson and Rowe 1969; Jennison and Turnbull, Group Sequential Methods, chapters 7 and 19.
    """
    from scipy.special import ndtr

    levels: list[float] = []
    if not all(earlier < later for earlier, later in pairwise((0.0, *information))):
        raise InternalError(f"analysis: shares of information must rise from look to look, not {tuple(information)}")
    spent, before = 0.0, 0.0
    points, mass = np.zeros(1), np.ones(1)  # the score Z sqrt(t) of the runs still going: all at 0 before the first look
    for share in information:
        due = spending(alpha, share) - spent
        spread = sqrt(share - before)
        bound = _bound(points, mass, spread, due)
        levels.append(float(ndtr(-bound / sqrt(share))))
        edges = np.linspace(-_REACH, bound, ceil((bound + _REACH) / _GRID) + 1)
        middles, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
        mass = _normal((middles[:, None] - points[None, :]) / spread) @ mass * (width / spread)
        points, spent, before = middles, spent + due, share
    return tuple(levels)


def _bound(points: Floats, mass: Floats, spread: float, due: float) -> float:
    """The bound on the score that exactly `due` of the mass crosses in the next step, by bisection."""
    from scipy.special import ndtr

    low, high = -_REACH, _REACH
    for _ in range(60):
        middle = (low + high) / 2
        crossed = float(ndtr((points - middle) / spread) @ mass)
        low, high = (middle, high) if crossed > due else (low, middle)
    return (low + high) / 2


def _normal(x: Floats) -> Floats:
    density: Floats = np.exp(-x * x / 2) / sqrt(2 * np.pi)
    return density
