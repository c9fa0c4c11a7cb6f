"""The interval that a finding was judged by: one-sided bounds on both sides, of which one decided. Pure arithmetic.

A PASS says that the harmful end stays inside the limit, a FAIL that the other end lies past it, so that a table and a chart which
show these ends show why. The two-sided interval of `result.json` is a little wider on each side.
"""

import math
from functools import lru_cache

from specbench.model.result import Comparison, Finding

_MOST_LOG = 700.0


def judged_bounds(comparison: Comparison, finding: Finding | None, alpha: float) -> tuple[float | None, float | None] | None:
    """Both one-sided 1 − alpha bounds of the ratio; None where there is no interval, an end None where it has no bound.

    The ends that the finding has are the finding's own; where it has one alone, the other mirrors it, by the error on its side.
    """
    ratio, below, df = comparison.ratio, comparison.se_log, comparison.df
    if ratio is None or ratio <= 0 or below is None or df is None or df < 1:
        return None
    above = below if comparison.se_log_above is None else comparison.se_log_above
    judged = _end(finding, "upper")
    other = _end(finding, "lower")  # findings of older results have none
    if judged is not None and other is not None:
        return min(judged, other), max(judged, other)
    rises = judged is not None and judged > ratio
    error = above if rises else below
    reach = abs(math.log(judged / ratio)) / error if judged is not None and error > 0 else one_sided_t(1 - alpha, df)
    low, high = _exp(math.log(ratio) - reach * below), _exp(math.log(ratio) + reach * above)
    if judged is None:
        return low, high
    return (low, judged) if rises else (judged, high)


def _end(finding: Finding | None, name: str) -> float | None:
    """That end of a finding on the scale of the ratio; None where its limit is absolute, or it has no such end."""
    value: float | None = None if finding is None or finding.slo is not None else getattr(finding, name, None)
    return value if value is not None and value > 0 else None


@lru_cache(maxsize=64)
def one_sided_t(probability: float, df: float) -> float:
    """The quantile of Student's t, for a probability from one half on, to nine digits; degrees of freedom need not be whole.

    What prints a report need not load a library for one number.
    """
    low, high = 0.0, math.pi / 2  # t = tan(angle) · √df
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - _outside(math.tan(middle) ** 2, df) < 2 * probability - 1 else (low, middle)
    return math.tan(low) * math.sqrt(df)


def _outside(square: float, df: float) -> float:
    """The probability beyond ±√(square · df): the incomplete beta function of 1 ÷ (1 + square) with df ÷ 2 and a half."""
    x, a, b = 1 / (1 + square), df / 2, 0.5
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(max(1 - x, 1e-300))
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes, 6.4)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 300):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + factor * d), 1 + factor / c
            total *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return total


def _exp(value: float) -> float | None:
    return math.exp(value) if value < _MOST_LOG else None
