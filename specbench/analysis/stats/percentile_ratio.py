"""The interval of a ratio of two percentiles, by asking at which ratios the two arms' shares of slow requests still agree.

No density is estimated and no percentile's own error is needed, so that it holds where a distribution has a gap beside the
percentile. Only arrays of numbers come in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats, Ints
from specbench.analysis.stats.paired import Estimate, t_tail
from specbench.analysis.stats.start_effect import differences
from specbench.model.scenario import StartSd

_FIRST_STEP, _GROWTH = 0.01, 1.6  # of the search for an end, on the log scale
_FARTHEST = 10.0  # a ratio of 22,000: whoever gets there has no end
_HALVINGS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """One arm's samples as logs, ascending, and the place of each one's pair, 0 to n_pairs - 1: both (n,)."""

    logs: Floats
    pair: Ints

    def beyond(self, top: Floats, limit: float, per_pair: Sequence[int]) -> tuple[float, list[float]]:
        """The share of the samples that lie beyond the limit, and how far each pair pulls it, (n_pairs,).

        Args:
            top: The largest of the samples, those beyond the limit among them, moved as the limit is.
            per_pair: (n_pairs,) samples of each pair.
        """
        n, count = len(self.logs), len(top) - int(top.searchsorted(limit, side="right"))
        share = count / n
        found = np.bincount(self.pair[n - count :], minlength=len(per_pair)).tolist()
        return share, [(slow - share * held) / n for slow, held in zip(found, per_pair, strict=True)]


class Shares:
    """Two arms of the same pairs, to be asked at which ratios as many of both lie beyond their common percentile."""

    def __init__(self, baseline: Sorted, speculative: Sorted, pairs: int) -> None:
        self.pairs = pairs
        self._arms = baseline, speculative
        self._counts = tuple(np.bincount(arm.pair, minlength=pairs).tolist() for arm in self._arms)

    def t_at(self, log_ratio: float, p: float) -> float:
        """How clearly more of the speculative samples than of the baseline's lie beyond their common p-quantile, as a t.

        The baseline's samples are taken times the ratio first. With S and B the shares beyond q, t = (S - B) ÷ se, and
        se^2 = G ÷ (G - 1) · sum ((s_g - S n_g) ÷ N_s - (b_g - B m_g) ÷ N_b)^2 over the G pairs: what a pair's samples have in
        common, in one arm or in both, is in it. 0 where neither share differs nor varies.
        """
        baseline, speculative = self._arms
        total = len(baseline.logs) + len(speculative.logs)
        # So many lie at the percentile or beyond; no others need be looked at.
        slowest = total - max(ceil(p * total - 1e-9) - 1, 0)
        tops = baseline.logs[-slowest:] + log_ratio, speculative.logs[-slowest:]
        both = np.concatenate(tops)
        both.partition(len(both) - slowest)
        limit = float(both[len(both) - slowest])
        base_share, base_pulls = baseline.beyond(tops[0], limit, self._counts[0])
        share, pulls = speculative.beyond(tops[1], limit, self._counts[1])
        difference = share - base_share
        apart = sum((after - before) ** 2 for before, after in zip(base_pulls, pulls, strict=True))
        error = sqrt(self.pairs / (self.pairs - 1) * apart)
        if error == 0.0:
            return inf if difference > 0 else -inf if difference < 0 else 0.0
        return difference / error


@dataclass(frozen=True, slots=True, eq=False)
class SharesTest:
    """The test of one percentile at any ratio, with what one start of each engine leaves open.

    `spread` is the log ratio with an error that needs no share: a pass may rest on it where the shares have no end, as the few
    requests beyond the percentile came in one or two pairs. No harm ever does.
    """

    shares: Shares
    p: float  # which percentile
    start: StartSd | None
    spread: Estimate

    def p_above(self, log_ratio: float) -> float:
        """The probability of so many more slow speculative requests, or more, if the percentiles had this log ratio.

        The mean of t's upper tail over the differences that two starts may have, which is exact where both are as assumed.
        """
        apart, weights = differences(self.start)
        tails = [t_tail(self.shares.t_at(log_ratio + each, self.p), self.shares.pairs - 1) for each in apart.tolist()]
        return float(np.dot(weights, tails))

    def p_below(self, log_ratio: float) -> float:
        """The probability of so few more, or fewer."""
        return 1.0 - self.p_above(log_ratio)

    def _excludes(self, log_ratio: float, side: float, alpha: float) -> bool:
        """Whether `p_below` (side 1) or `p_above` (side −1) is less than alpha, by as many starts as tell, likely ones first."""
        apart, weights = differences(self.start)
        least, rest = 0.0, 1.0  # of `p_above`: what the starts so far add up to, and the weight of the others
        for place in np.argsort(-weights, kind="stable").tolist():
            weight = float(weights[place])
            tail = t_tail(self.shares.t_at(log_ratio + float(apart[place]), self.p), self.shares.pairs - 1)
            least, rest = least + weight * tail, rest - weight
            low, high = (1 - least - rest, 1 - least) if side > 0 else (least, least + rest)
            if high < alpha or low >= alpha:
                return high < alpha
        return (1 - least if side > 0 else least) < alpha

    def end(self, point: float, side: float, alpha: float, beside: float) -> float:
        """The first log ratio on that side of the point (1 above, −1 below) that is excluded at alpha; infinite where none is.

        Args:
            beside: A log ratio of which a decision was taken: the end lies on the side of it that the test there says.
        """

        def excluded(log_ratio: float) -> bool:
            return self._excludes(log_ratio, side, alpha)

        farther = side * (beside - point) > 0
        if excluded(beside):
            return _between(point, beside, excluded) if farther else beside
        found = first_outside(beside if farther else point, side, excluded)
        return side * inf if found is None else found


def log_ratio_ends(shares: Shares, p: float, point: float, reach: float) -> tuple[float, float] | None:
    """The least and the largest log ratio of the p-quantiles at which the shares beyond differ by less than `reach` in t.

    Args:
        point: The log ratio of the two percentiles, from which the ends are sought outward.
        reach: The quantile of t with pairs - 1 degrees of freedom at the level that is wanted.

    Returns:
        None where a side has no end: too few samples lie beyond the percentile for their number to tell (of 4 pairs, about
        ten in each arm are needed), or so many requests failed that the percentile may lie beyond every measured time.

    Source: Woodruff 1952, J. Am. Stat. Assoc. 47, 635, for one percentile; test inversion as in Lehmann and Romano, Testing
    Statistical Hypotheses, section 3.5; the error of a share in clusters as in `quantile.design_effect`.
    """
    if shares.pairs < 2 or abs(shares.t_at(point, p)) > reach:
        return None
    low = first_outside(point, -1.0, lambda log_ratio: shares.t_at(log_ratio, p) > reach)
    high = first_outside(point, 1.0, lambda log_ratio: shares.t_at(log_ratio, p) < -reach)
    return None if low is None or high is None else (low, high)


def first_outside(point: float, side: float, excluded: Callable[[float], bool]) -> float | None:
    """The first log ratio on this side of the point that is excluded, to a thousandth of the last step; None if none is."""
    inside, step = 0.0, _FIRST_STEP
    while not excluded(point + side * (inside + step)):
        inside += step
        step *= _GROWTH
        if inside > _FARTHEST:
            return None
    return _between(point + side * inside, point + side * (inside + step), excluded)


def _between(inside: float, outside: float, excluded: Callable[[float], bool]) -> float:
    """Where exclusion begins between one log ratio that is not excluded and one that is, by bisection."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if excluded(middle) else (middle, outside)
    return outside
