"""The interval of a ratio of two percentiles, by asking at which ratios the two arms' shares of slow requests still agree.

No density is estimated and no percentile's own error is needed, so that it holds where a distribution has a gap beside the
percentile. Only arrays of numbers come in.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from specbench.analysis.events import Floats, Ints

_FIRST_STEP, _GROWTH = 0.01, 1.6  # of the search for an end, on the log scale
_FARTHEST = 10.0  # a ratio of 22,000: whoever gets there has no end
_HALVINGS = 14


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Both arms' samples as logs, and the place of each one's pair: (n,) and (m,) each; pairs are 0 to `pairs` - 1."""

    baseline: Floats
    baseline_pair: Ints
    speculative: Floats
    speculative_pair: Ints
    pairs: int

    def t_at(self, log_ratio: float, p: float) -> float:
        """How clearly more of the speculative samples than of the baseline's lie beyond their common p-quantile, as a t.

        The baseline's samples are taken times the ratio first. With S and B the shares beyond q, t = (S - B) ÷ se, and
        se^2 = G ÷ (G - 1) · sum ((s_g - S n_g) ÷ N_s - (b_g - B m_g) ÷ N_b)^2 over the G pairs: what a pair's samples have in
        common, in one arm or in both, is in it. 0 where neither share differs nor varies.
        """
        moved = self.baseline + log_ratio
        beyond = float(np.quantile(np.concatenate((moved, self.speculative)), p, method="inverted_cdf"))
        share, pull = _beyond(self.speculative > beyond, self.speculative_pair, self.pairs)
        base_share, base_pull = _beyond(moved > beyond, self.baseline_pair, self.pairs)
        difference = share - base_share
        error = sqrt(self.pairs / (self.pairs - 1) * float(((pull - base_pull) ** 2).sum()))
        if error == 0.0:
            return inf if difference > 0 else -inf if difference < 0 else 0.0
        return difference / error


def _beyond(is_beyond: "np.ndarray[tuple[int], np.dtype[np.bool_]]", pair: Ints, pairs: int) -> tuple[float, Floats]:
    """The share of an arm's samples that lie beyond, and how far each pair pulls it, (pairs,)."""
    counts = np.bincount(pair, minlength=pairs)
    share = float(is_beyond.mean())
    pulls: Floats = (np.bincount(pair, weights=is_beyond, minlength=pairs) - share * counts) / len(pair)
    return share, pulls


def log_ratio_ends(shares: Shares, p: float, point: float, reach: float) -> tuple[float, float] | None:
    """The least and the largest log ratio of the p-quantiles at which the shares beyond differ by less than `reach` in t.

    Args:
        point: The log ratio of the two percentiles, from which the ends are sought outward.
        reach: The quantile of t with pairs - 1 degrees of freedom at the level that is wanted.

    Returns:
        None where a side has no end: too few samples lie beyond the percentile for their number to tell (of 4 pairs, about
        ten in each arm are needed), or so many requests failed that the percentile may lie beyond every measured time.

    Source: Woodruff 1952, J. Am. Stat. Assoc. 47, 635, for one percentile; test inversion as in Lehmann and Romano, Testing
    Statistical Hypotheses, section 3.5; the error of a share in clusters as in `stats_quantile.design_effect`.
    """
    if shares.pairs < 2 or abs(shares.t_at(point, p)) > reach:
        return None
    low = _end(shares, p, point, -1.0, reach)
    high = _end(shares, p, point, 1.0, reach)
    return None if low is None or high is None else (low, high)


def _end(shares: Shares, p: float, point: float, side: float, reach: float) -> float | None:
    """The first log ratio on this side of the point that the shares exclude, to a ten-thousandth of its distance."""
    inside, step = 0.0, _FIRST_STEP
    while side * shares.t_at(point + side * (inside + step), p) >= -reach:
        inside += step
        step *= _GROWTH
        if inside > _FARTHEST:
            return None
    outside = inside + step
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if side * shares.t_at(point + side * middle, p) < -reach:
            outside = middle
        else:
            inside = middle
    return point + side * outside
