"""The harm scale, on which every guardrail is judged, whichever way is better and whether its limit is relative or absolute.

θ is the log of the ratio speculative ÷ baseline (or of the speculative value ÷ its absolute limit), its sign turned where higher
is better, so that a positive θ is always harm (|θ| where the two should be equal). What a guardrail makes of it: `findings.py`.
"""

import math
from dataclasses import dataclass

from specbench.analysis.stats.paired import finite_exp, t_quantile, t_tail
from specbench.model.result import Comparison
from specbench.model.scenario import Guardrail

AT_THE_BOUND = 1e-12  # a ratio of exactly 1.10 is at a limit of 1.10, whatever the last bit of its logarithm
_LEAST_LIMIT = 1e-9  # a floor above the baseline itself allows any loss, and the logarithm still needs a positive limit


@dataclass(frozen=True, slots=True)
class Inference:
    """What is known of a harm: `theta` with errors of t(df) · `se_more` toward more harm and t(df) · `se_less` toward less.

    It rests on `pairs` pairs; `falls` where harm is a ratio below 1.
    """

    theta: float
    se_less: float
    se_more: float
    df: int
    pairs: int
    falls: bool

    @property
    def se(self) -> float:
        """The larger of the two errors, for planning: a plan should not count on the better side."""
        return max(self.se_less, self.se_more)

    def most(self, alpha: float) -> float:
        """The upper one-sided 1 − alpha bound of the harm."""
        return self.theta + t_quantile(1 - alpha, self.df) * self.se_more

    def least(self, alpha: float) -> float:
        """The lower one-sided 1 − alpha bound of the harm."""
        return self.theta - t_quantile(1 - alpha, self.df) * self.se_less

    def p_above_zero(self) -> float:
        """The probability of a harm at least this clear if there were none."""
        error = self.se_less if self.theta > 0 else self.se_more
        if error == 0.0:
            return 0.0 if self.theta > 0 else 1.0
        return t_tail(self.theta / error, self.df)

    def ratio_at(self, harm: float) -> float | None:
        """The ratio that is this much harm; None where it lies beyond every number."""
        return finite_exp(-harm if self.falls else harm)

    def margin_at(self, harm: float) -> float | None:
        """The margin whose limit lies exactly at this harm, at least 0; None where it lies beyond every number."""
        ratio = self.ratio_at(max(harm, 0.0))
        return None if ratio is None else abs(ratio - 1)


def against_baseline(comparison: Comparison) -> Inference | None:
    """The harm against the baseline; None where the comparison has no ratio or no interval."""
    ratio, se, df = comparison.ratio, comparison.se_log, comparison.df
    if not is_ratio(ratio) or ratio is None or se is None or df is None or df < 1:
        return None
    falls = comparison.direction == "higher" or (comparison.direction == "equal" and ratio < 1)
    above = se if comparison.se_log_above is None else comparison.se_log_above
    less, more = (above, se) if falls else (se, above)
    return Inference(-math.log(ratio) if falls else math.log(ratio), less, more, df, comparison.n_blocks, falls)


def against_limit(comparison: Comparison, slo: float, pairs: int) -> Inference | None:
    """The harm against an absolute limit, from the speculative arm's own value and its one-sided bound.

    se = |log(bound ÷ value)| ÷ t(level; pairs − 1): exact for a mean of block logs, and on the safe side for an order statistic,
    whose bound lies farther out than the other end of the interval lies in.

    Returns:
        None where the value, its bound or the limit is no positive number, or there are fewer than two pairs.
    """
    value, bound = comparison.value.speculative, comparison.bound.speculative
    if value is None or bound is None or min(value, bound, slo) <= 0 or pairs < 2:
        return None
    falls = comparison.direction == "higher"
    theta = math.log(value / slo)
    se = abs(math.log(bound / value)) / t_quantile(comparison.ci_level, pairs - 1)
    return Inference(-theta if falls else theta, se, se, pairs - 1, pairs, falls)


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
