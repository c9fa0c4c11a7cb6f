"""The harm scale, on which every guardrail is judged, whichever way is better and whether its limit is relative or absolute.

θ is the log of the ratio speculative ÷ baseline (or of the speculative value ÷ its absolute limit), its sign turned where higher
is better, so that a positive θ is always harm (|θ| where the two should be equal). What a guardrail makes of it: `findings.py`.
"""

import math
from dataclasses import dataclass
from math import inf, isinf, sqrt

from specbench.analysis.stats.paired import STARTS, finite_exp, pairs_needed, t_quantile, t_tail, with_starts
from specbench.analysis.stats.percentile_ratio import SharesTest
from specbench.model.result import Comparison
from specbench.model.scenario import Guardrail, StartSd

AT_THE_BOUND = 1e-12  # a ratio of exactly 1.10 is at a limit of 1.10, whatever the last bit of its logarithm
_LEAST_LIMIT = 1e-9  # a floor above the baseline itself allows any loss, and the logarithm still needs a positive limit


@dataclass(frozen=True, slots=True)
class Inference:
    """What is known of a harm: `theta` with errors of t(df) · `se_more` toward more harm and t(df) · `se_less` toward less.

    It rests on `pairs` pairs; `falls` where harm is a ratio below 1. `start` is in the errors already, for so many `starts`: two
    of a comparison, one of an arm's own value.
    """

    theta: float
    se_less: float
    se_more: float
    df: float
    pairs: int
    falls: bool
    start: StartSd | None = None
    starts: int = STARTS

    @property
    def se(self) -> float:
        """The larger of the two errors, for planning: a plan should not count on the better side."""
        return max(self.se_less, self.se_more)

    def most(self, alpha: float, beside: float = 0.0) -> float:
        """The upper one-sided 1 − alpha bound of the harm; `beside` is a harm that a finding asks about."""
        return self.theta + t_quantile(1 - alpha, self.df) * self.se_more

    def least(self, alpha: float, beside: float = 0.0) -> float:
        """The lower one-sided 1 − alpha bound of the harm."""
        return self.theta - t_quantile(1 - alpha, self.df) * self.se_less

    def is_below(self, harm: float, alpha: float) -> bool:
        """Whether the harm is surely less than this."""
        return self.most(alpha) < harm

    def is_past(self, harm: float, alpha: float) -> bool:
        """Whether the harm is surely more than this; one that is exactly as much is not."""
        return self.least(alpha) > harm + AT_THE_BOUND

    def p_above_zero(self) -> float:
        """The probability of a harm at least this clear if there were none."""
        error = self.se_less if self.theta > 0 else self.se_more
        if error == 0.0:
            return 0.0 if self.theta > 0 else 1.0
        return t_tail(self.theta / error, self.df)

    def pairs_needed(self, gap: float, alpha: float) -> int | None:
        """The fewest pairs that would settle a question this far from the point; None beyond the budget."""
        known = 0.0 if self.start is None else self.starts * self.start.sd**2
        return pairs_needed(gap, sqrt(max(self.se**2 - known, 0.0)), self.pairs, alpha, self.start)

    def ratio_at(self, harm: float) -> float | None:
        """The ratio that is this much harm; None where it lies beyond every number."""
        return None if isinf(harm) else finite_exp(-harm if self.falls else harm)

    def margin_at(self, harm: float) -> float | None:
        """The margin whose limit lies exactly at this harm, at least 0; None where it lies beyond every number."""
        ratio = self.ratio_at(max(harm, 0.0))
        return None if ratio is None else abs(ratio - 1)


@dataclass(frozen=True, slots=True)
class PooledInference(Inference):
    """The same of a pooled percentile, whose tests are those of the shares: no end of an interval is carried on to another level.

    The errors serve planning alone.
    """

    test: SharesTest | None = None

    def most(self, alpha: float, beside: float = 0.0) -> float:
        """Where the test begins to exclude so much harm; by the spread of the pairs where it never does."""
        end = self._test.end(self.theta, 1.0, alpha, beside)
        return self._by_spread(alpha) if isinf(end) else end

    def least(self, alpha: float, beside: float = 0.0) -> float:
        """Where the test begins to exclude so little harm, infinite where it never does."""
        return self._test.end(self.theta, -1.0, alpha, beside)

    def is_below(self, harm: float, alpha: float) -> bool:
        """Whether the test at this harm says that there is less; where no harm is excluded by it, the spread of the pairs."""
        return self._test.p_below(harm) < alpha or self.most(alpha, harm) < harm

    def is_past(self, harm: float, alpha: float) -> bool:
        """Whether the test at this harm says that there is more."""
        return self._test.p_above(harm) < alpha

    def p_above_zero(self) -> float:
        """The probability of a harm at least this clear if there were none, by the test at no change."""
        return self._test.p_above(0.0)

    def _by_spread(self, alpha: float) -> float:
        bounds = self._test.spread.bounds(1 - 2 * alpha)
        return inf if bounds is None or self._test.spread.se == 0.0 else bounds[1]

    @property
    def _test(self) -> SharesTest:
        assert self.test is not None
        return self.test


def against_baseline(comparison: Comparison, test: SharesTest | None = None) -> Inference | None:
    """The harm against the baseline, by the test of its percentile if there is one; None where there is no ratio or interval."""
    ratio, se, df, start = comparison.ratio, comparison.se_log, comparison.df, comparison.start
    if not is_ratio(ratio) or ratio is None or se is None or df is None or df < 1:
        return None
    falls = comparison.direction == "higher" or (comparison.direction == "equal" and ratio < 1)
    above = se if comparison.se_log_above is None else comparison.se_log_above
    less, more = (above, se) if falls else (se, above)
    theta = -math.log(ratio) if falls else math.log(ratio)
    if test is not None and not falls:
        return PooledInference(theta, less, more, df, comparison.n_blocks, falls, start, test=test)
    return Inference(theta, less, more, df, comparison.n_blocks, falls, start)


def against_limit(comparison: Comparison, slo: float, pairs: int) -> Inference | None:
    """The harm against an absolute limit, from the speculative arm's own value and its one-sided bound.

    se = |log(bound ÷ value)| ÷ t(level; pairs − 1): exact for a mean of block logs, and on the safe side for an order statistic,
    whose bound lies farther out than the other end of the interval lies in. The arm's one start comes on top.

    Returns:
        None where the value, its bound or the limit is no positive number, or there are fewer than two pairs.
    """
    value, bound = comparison.value.speculative, comparison.bound.speculative
    if value is None or bound is None or min(value, bound, slo) <= 0 or pairs < 2:
        return None
    falls = comparison.direction == "higher"
    theta = math.log(value / slo)
    own = abs(math.log(bound / value)) / t_quantile(comparison.ci_level, pairs - 1)
    se, df = with_starts(own**2, pairs - 1, comparison.start, starts=1)
    return Inference(-theta if falls else theta, se, se, df, pairs, falls, comparison.start, starts=1)


def limit_of(guardrail: Guardrail, comparison: Comparison) -> float | None:
    """log B, the most harm against the baseline that is allowed; None where the guardrail is not relative.

    B = max(1 + margin, 1 + floor ÷ baseline) where lower is better; where higher is better 1 ÷ (1 − the larger share).
    """
    if guardrail.margin is None or guardrail.slo is not None:
        return None
    share = 0.0 if not comparison.value.baseline else guardrail.floor / comparison.value.baseline
    widest = max(guardrail.margin, share)
    return -math.log(max(1 - widest, _LEAST_LIMIT)) if comparison.direction == "higher" else math.log(1 + widest)


def is_ratio(value: float | None) -> bool:
    """Whether this is a positive finite number, whose logarithm can be taken."""
    return value is not None and 0 < value < math.inf
