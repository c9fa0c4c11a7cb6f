"""The interval that a finding was judged by: one-sided bounds on both sides, of which one decided. Pure arithmetic.

A PASS says that the harmful end stays inside the limit, a FAIL that the other end lies past it, so that a table and a chart which
show these ends show why. The two-sided interval of `result.json` is a little wider on each side.
"""

import math

from specbench.model.result import Comparison, Finding

_MOST_LOG = 700.0


def judged_bounds(comparison: Comparison, finding: Finding | None, alpha: float) -> tuple[float | None, float | None] | None:
    """Both one-sided 1 − alpha bounds of the ratio; None where there is no interval, an end None where it has no bound.

    The end on which the finding rests is the finding's own; the other one mirrors it, by the error on its side.
    """
    ratio, below, df = comparison.ratio, comparison.se_log, comparison.df
    if ratio is None or ratio <= 0 or below is None or df is None or df < 1:
        return None
    above = below if comparison.se_log_above is None else comparison.se_log_above
    upper = finding.upper if finding is not None and finding.slo is None else None
    upper = upper if upper is not None and upper > 0 else None
    rises = upper is not None and upper > ratio
    error = above if rises else below
    reach = abs(math.log(upper / ratio)) / error if upper is not None and error > 0 else one_sided_t(1 - alpha, df)
    low, high = _exp(math.log(ratio) - reach * below), _exp(math.log(ratio) + reach * above)
    if upper is None:
        return low, high
    return (low, upper) if rises else (upper, high)


def one_sided_t(probability: float, df: int) -> float:
    """The quantile of Student's t, for a probability from one half on, to ten digits.

    By the finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4): what prints a report need not
    load a library for one number.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _between(middle, df) < 2 * probability - 1 else (low, middle)
    return math.tan(low) * math.sqrt(df)


def _between(angle: float, df: int) -> float:
    """The probability between −t and t, with t = tan(angle) · √df."""
    cosine, odd = math.cos(angle), df % 2
    term = cosine if odd else 1.0
    total = term if df > 1 else 0.0
    for step in range(2 + odd, df - 1, 2):
        term *= (step - 1) / step * cosine * cosine
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _exp(value: float) -> float | None:
    return math.exp(value) if value < _MOST_LOG else None
