"""Inference from pairs of blocks on the log ratio: Student's t, the jackknife over pairs, sign flips, the drift of a series;
and what a design of such pairs can see: the detectable effect, and the pairs that a decision needs.

Only arrays of numbers come in: no columns, no metrics. scipy is imported where it is needed, as most commands do without it.
"""

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.model.guardrails import BUDGET_PAIRS
from specbench.model.scenario import StartSd

# Beyond this many pairs the sums of all sign patterns no longer fit in memory; t alone speaks then.
MAX_FLIPPED_PAIRS = 36
POWER = 0.8  # in how many of such runs a true effect is to be found
STARTS = 2  # of engines behind a comparison: one of each arm
_MOST_DF = 1e6  # as good as normal, where the spread of the pairs is nothing beside that of starts
_MOST_LOG = 700.0  # e to a higher power is hardly a number of any machine, and none of any measurement


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate whose error follows t: `mean` ± t(df) · `se`; `se` None where fewer than two observations leave it open.

    Where the truth may lie farther off on one side than on the other, `se` is the error below and `se_above` the one above.
    """

    mean: float
    se: float | None
    df: float | None
    se_above: float | None = None

    def bounds(self, confidence: float) -> tuple[float, float] | None:
        """The two-sided interval, or None where there is no standard error."""
        if self.se is None or self.df is None:
            return None
        reach = t_quantile((1 + confidence) / 2, self.df)
        return self.mean - reach * self.se, self.mean + reach * self._above(self.se)

    def p_above(self, value: float) -> float | None:
        """One-sided p-value of the hypothesis that the truth is at most `value`; None without a standard error."""
        if self.se is None or self.df is None:
            return None
        error = self.se if self.mean > value else self._above(self.se)
        if error == 0.0:
            return 0.0 if self.mean > value else 1.0
        return t_tail((self.mean - value) / error, self.df)

    def _above(self, below: float) -> float:
        return below if self.se_above is None else self.se_above


def t_quantile(probability: float, df: float) -> float:
    """The quantile of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def t_tail(t: float, df: float) -> float:
    """The probability that Student's t with `df` degrees of freedom exceeds t."""
    from scipy.special import stdtr

    return float(stdtr(df, -t))


def mean_with_t(values: Floats) -> Estimate:
    """The mean of independent observations (n,) with its standard error sd ÷ sqrt(n) and n - 1 degrees of freedom.

    For paired blocks the observations are log(speculative) - log(baseline): margins are relative and noise is multiplicative.
    """
    n = len(values)
    mean = float(values.mean())
    if n < 2:
        return Estimate(mean, None, None)
    if float(np.ptp(values)) == 0.0:  # the mean of equal numbers may differ from them in the last bit
        return Estimate(float(values[0]), 0.0, n - 1)
    return Estimate(mean, float(values.std(ddof=1)) / sqrt(n), n - 1)


def jackknife(whole: float, left_out: Floats) -> Estimate:
    """An estimate from all pairs with its standard error from leaving out one pair at a time.

    se^2 = (n - 1) ÷ n · sum (theta_(i) - mean theta_(.))^2, n - 1 degrees of freedom. Whole pairs leave together, so that what
    is correlated inside a block stays together. Not for `left_out` with infinities: the error is unbounded then.

    Args:
        whole: The estimate from all pairs, such as the log ratio of two pooled percentiles.
        left_out: (n,) the same without pair i.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 11; Shao and Wu 1989 for quantiles and groups.
    """
    n = len(left_out)
    if n < 2 or not np.isfinite(left_out).all():
        return Estimate(whole, None, None)
    if float(np.ptp(left_out)) == 0.0:
        return Estimate(whole, 0.0, n - 1)
    return Estimate(whole, sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum())), n - 1)


def around(whole: float, differences: Floats) -> float | None:
    """Standard error of an estimate from all pairs, by how far the pairs' own log ratios (n,) lie around it.

    sqrt(sum (d_i - theta)^2 ÷ (n (n - 1))): sectioning. None where a pair's own ratio is not finite.

    Source: Asmussen and Glynn, Stochastic Simulation, section III.5.
    """
    n = len(differences)
    if n < 2 or not np.isfinite(differences).all():
        return None
    return sqrt(float(((differences - whole) ** 2).sum()) / (n * (n - 1)))


def sign_flip_p(values: Floats) -> float | None:
    """Exact one-sided p-value that observations (n,) symmetric around zero would have a mean at least this high.

    The share of all 2^n sign patterns whose sum reaches the observed one. The order inside each pair was random, so that under
    no effect each sign is as likely as the other. The patterns of two halves are summed apart and matched by sorting.

    Returns:
        A multiple of 2^-n; None for no observation or more than MAX_FLIPPED_PAIRS.

    Source: Fisher, The Design of Experiments, section 21.
    """
    n = len(values)
    if not 0 < n <= MAX_FLIPPED_PAIRS or not np.isfinite(values).all():
        return None
    left, right = _signed_sums(values[: n // 2]), np.sort(_signed_sums(values[n // 2 :]))
    # Sums of the same numbers in another order differ in their last bits; they are ties.
    reach = float(values.sum()) - 1e-9 * float(np.abs(values).sum())
    reached = len(right) - np.searchsorted(right, reach - left, side="left")
    return float(reached.sum()) / 2.0**n


def _signed_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums + value, sums - value))
    return sums


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


def with_starts(variance: float, df: float, start: StartSd | None, starts: int = STARTS) -> tuple[float, float]:
    """The standard error and the degrees of freedom of an estimate that holds so many starts besides.

    se² = v + k sd², df = se⁴ ÷ (v² ÷ df_v + (k sd²)² ÷ df_sd), the last term only where sd was measured.

    Source: Welch 1947, Biometrika 34, 28; Satterthwaite 1946, Biometrics Bulletin 2, 110.
    """
    if start is None:
        return sqrt(variance), df
    added = starts * start.sd**2
    spent = variance**2 / df + (0.0 if start.df is None else added**2 / start.df)
    return sqrt(variance + added), (variance + added) ** 2 / spent if spent > 0 else _MOST_DF


def detectable_effect(se_log: float, df: float, alpha: float) -> float:
    """The smallest true log ratio that a harm test of this precision finds in four of five runs.

    (t(1 − alpha; df) + t(.8; df)) · se

    Source: the usual minimal detectable effect, with t in the place of z as blocks are few.
    """
    return (t_quantile(1 - alpha, df) + t_quantile(POWER, df)) * se_log


def pairs_needed(gap: float, se_log: float, pairs: int, alpha: float, start: StartSd | None = None) -> int | None:
    """The fewest pairs that settle the question in four of five runs, given the spread seen so far; None beyond the budget.

    The smallest n with (t(1 − alpha; df) + t(.8; df)) · se_n ≤ gap. Without starts se_n = s ÷ √n, where s = se · √pairs is the
    spread of one pair, and df = n − 1; with them both are those of `with_starts`, and what starts leave open no pair closes.

    Args:
        gap: Distance on the log scale between the point and what it must clear.
        se_log: Standard error of the log ratio, from `pairs` pairs alone.
        pairs: Pairs behind `se_log`.
        alpha: One-sided level of the test.
        start: How far starts differ, None where that is nothing to this question.
    """
    if gap <= 0:
        return None
    spread = se_log * sqrt(pairs)
    for n in range(max(2, pairs + 1), BUDGET_PAIRS + 1):
        se, df = with_starts(spread**2 / n, n - 1, start)
        if detectable_effect(se, df, alpha) <= gap:
            return n
    return None


def finite_exp(log: float) -> float | None:
    """e to this power; None, an open end, where it lies beyond every number, as two pairs at a strict level may put it."""
    return exp(log) if log <= _MOST_LOG else None
