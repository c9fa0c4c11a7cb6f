"""Inference on one percentile: how far clustering inflates its error, and bounds for absolute limits.

Only arrays of numbers come in. Comparisons of two arms are in `compare.py`.
"""

from bisect import bisect_left
from math import ceil, inf, log, nan, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats, Ints
from specbench.analysis.arrays.samples import quantiles


def design_effect(below: Floats, counts: Floats) -> float | None:
    """How many times larger the variance of P(x <= q) is than for independent samples.

    D = se_F^2 ÷ (F (1 - F) ÷ N) with se_F = sqrt(G ÷ (G - 1) · sum (r_g - mean r)^2) ÷ N, r_g = below_g - F n_g, F = sum below
    ÷ N.

    Args:
        below: (n_clusters,) samples at or below q in each cluster.
        counts: (n_clusters,) samples in each cluster.

    Returns:
        1 for independent samples; None where fewer than two clusters, or no sample on one side of q, leave it open.

    Source: Deng, Knoblich and Lu 2018, arXiv 1803.06336, section 4.2; Kish 1965 for the word.
    """
    used = counts > 0
    n_clusters, total = int(used.sum()), float(counts.sum())
    if n_clusters < 2:
        return None
    share = float(below.sum()) / total
    if not 0 < share < 1:
        return None
    return _share_error(below[used], counts[used], share) ** 2 / (share * (1 - share) / total)


def log_quantile_influence(values: Floats, clusters: Ints, p: float) -> Floats:
    """How far each cluster pulls the log of the p-quantile, (n_clusters,): its variance is that of the quantile.

    psi_g = -(r_g - mean r) ÷ N · (log Q(p + h) - log Q(p - h)) ÷ 2h with r_g = below_g - p n_g and h the larger of se_F and
    sqrt(p (1 - p) ÷ N). The variance of the log quantile is G ÷ (G - 1) · sum psi_g^2; of a difference of paired arms, the same
    of the differences of their psi_g. Not finite where failed requests (+inf) lie within h of p.

    Args:
        values: (n,) positive samples.
        clusters: (n,) index of each sample's cluster, at least two of them.

    Source: Deng, Knoblich and Lu 2018, arXiv 1803.06336, section 4.2, with their density by a difference quotient.
    """
    below, counts = _below(values, clusters, p)
    n = len(values)
    reach = max(_share_error(below, counts, p), sqrt(p * (1 - p) / n))
    low, high = max(p - reach, 0.0), min(p + reach, 1.0)
    ends = quantiles(values, [low, high])
    if not 0 < ends[0] <= ends[1] < inf:
        return np.full(len(counts), nan)
    slope = (log(ends[1]) - log(ends[0])) / (high - low)
    residual = below - p * counts
    pulls: Floats = -(residual - residual.mean()) * (slope / n)
    return pulls


def upper_bound(values: Floats, p: float, confidence: float, effect: float = 1.0) -> float | None:
    """One-sided upper bound of the p-quantile: an order statistic, so that failed requests may stand in `values` as +inf.

    The smallest k with BinomCDF(k - 1; n, p) >= confidence gives x_(k). With a design effect above 1, n ÷ effect samples stand
    for the n.

    Returns:
        The bound, +inf where failures reach it; None where the samples are too few for any bound (59 are needed for p95 at 95
        %).

    Source: David and Nagaraja, Order Statistics, section 7.1.
    """
    from scipy.special import bdtr

    n = int(len(values) / max(effect, 1.0))
    if n < 1:
        return None
    ranks = range(ceil(n * p), n + 1)
    held = bisect_left(ranks, True, key=lambda rank: bool(bdtr(float(rank - 1), n, p) >= confidence))
    if held == len(ranks):
        return None
    rank = ranks[held]
    place = -(-rank * len(values) // n) - 1  # the same share of all samples, rounded up
    return float(np.partition(values, place)[place])


def _below(values: Floats, clusters: Ints, p: float) -> tuple[Floats, Floats]:
    """How many samples of each cluster lie at or below the p-quantile, and how many it has."""
    at_or_below = values <= quantiles(values, [p])[0]
    counts = np.bincount(clusters).astype(np.float64)
    below = np.bincount(clusters, weights=at_or_below, minlength=len(counts)).astype(np.float64)
    return below[counts > 0], counts[counts > 0]


def _share_error(below: Floats, counts: Floats, share: float) -> float:
    residual = below - share * counts
    n = len(counts)
    return float(np.sqrt(n / (n - 1) * ((residual - residual.mean()) ** 2).sum()) / counts.sum())
