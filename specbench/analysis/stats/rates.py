"""Inference on shares of failed requests: their difference between arms, allowing for failures that come in bursts.

Only counts come in, one per block. What a surplus means for a release is decided in `safety.py`.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.quantile import design_effect


@dataclass(frozen=True, slots=True)
class RateDifference:
    """Share in the speculative arm minus share in the baseline.

    `low` and `high` are one-sided bounds (each wrong with probability alpha), `p_excess` the probability of a surplus at least
    this clear if there were none, `design_effect` how many requests of one block count as one, at least 1. `p_if_apart`: the
    same probability if every failure were an event of its own.
    """

    difference: float
    low: float
    high: float
    p_excess: float
    design_effect: float
    p_if_apart: float


def rate_difference(
    baseline: tuple[Floats, Floats], speculative: tuple[Floats, Floats], alpha: float = 0.05
) -> RateDifference | None:
    """The difference of two shares, with counts of whole blocks scaled to what they are worth.

    Failures come in bursts, so that counts are divided by the larger design effect of the two arms, never below 1. The bounds are
    Newcombe's, from the arms' Wilson intervals: d - sqrt((p2 - l2)^2 + (u1 - p1)^2) and d + sqrt((u2 - p2)^2 + (p1 - l1)^2). The
    p-value is Fisher's exact one, on the scaled counts rounded to whole ones.

    Args:
        baseline: Failed and judged requests of each block, both (n_blocks,).
        speculative: The same of the other arm; the number of blocks may differ.

    Returns:
        None where an arm has no judged request.

    Source: Newcombe 1998, Statistics in Medicine 17, method 10; Rao and Scott 1992 for scaling by a design effect.
    """
    failed, judged = (
        (float(baseline[0].sum()), float(speculative[0].sum())),
        (float(baseline[1].sum()), float(speculative[1].sum())),
    )
    if min(judged) <= 0:
        return None
    effect = max(1.0, design_effect(*baseline) or 1.0, design_effect(*speculative) or 1.0)
    shares = failed[0] / judged[0], failed[1] / judged[1]
    (low1, high1), (low2, high2) = (_wilson(share, n / effect, alpha) for share, n in zip(shares, judged, strict=True))
    difference = shares[1] - shares[0]
    return RateDifference(
        difference=difference,
        low=difference - sqrt((shares[1] - low2) ** 2 + (high1 - shares[0]) ** 2),
        high=difference + sqrt((high2 - shares[1]) ** 2 + (shares[0] - low1) ** 2),
        p_excess=_fisher(
            (round(failed[0] / effect), round(failed[1] / effect)), (round(judged[0] / effect), round(judged[1] / effect))
        ),
        design_effect=effect,
        p_if_apart=_fisher((round(failed[0]), round(failed[1])), (round(judged[0]), round(judged[1]))),
    )


def share_upper_bound(failed: float, judged: float, alpha: float = 0.05) -> float | None:
    """One-sided exact upper bound of a share: 1 - alpha^(1 / n) where nothing failed (1 % at 300 requests).

    The 1 - alpha quantile of Beta(failed + 1, judged - failed). None without a request.

    Source: Clopper and Pearson 1934, Biometrika 26.
    """
    from scipy.special import betaincinv

    if judged <= 0:
        return None
    if failed >= judged:
        return 1.0
    return float(betaincinv(failed + 1, judged - failed, 1 - alpha))


def _wilson(share: float, n: float, alpha: float) -> tuple[float, float]:
    """Wilson's interval with both ends one-sided at alpha; source: Wilson 1927, JASA 22."""
    from scipy.special import ndtri

    z = float(ndtri(1 - alpha))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


def _fisher(failed: tuple[int, int], judged: tuple[int, int]) -> float:
    """Probability that at least this many of all failures fall to the second arm if both fail alike (hypergeometric tail)."""
    from scipy.special import gammaln

    total, n = sum(failed), sum(judged)
    if failed[1] == 0 or judged[0] == 0:
        return 1.0
    hits = np.arange(failed[1], min(total, judged[1]) + 1, dtype=np.float64)

    def log_choose(of: float | Floats, k: float | Floats) -> Floats:
        chosen: Floats = gammaln(np.add(of, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(of, k) + 1)
        return chosen

    logs = log_choose(judged[1], hits) + log_choose(judged[0], total - hits) - log_choose(n, total)
    return min(1.0, float(np.exp(logs).sum()))
