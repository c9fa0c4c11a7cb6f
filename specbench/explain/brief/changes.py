"""Ratios to the baseline as people read them: changes in per cent, their limits, the ends of their intervals, p-values.

Parts of sentences, made from values; whether one of them holds may not be decided here.
"""

import math

from specbench.explain.numbers import figure, outward, ratio, short
from specbench.model.result import Finding

TIMES_FROM = 3.0  # a ratio from which on a change in per cent is hard to read
MOST_DECIMALS = 4
_UNITS = {"ms": "ms", "s": "s"}


def compared(value: float | None, decimals: int | None = None) -> str:
    """The ratio as a change: '54 % higher than the baseline's', '4.71 times the baseline's'."""
    if value is None:
        return "not comparable with the baseline's"
    if value >= TIMES_FROM:
        return f"{ratio(value) if decimals is None else f'{value:.{decimals + 2}f}'} times the baseline's"
    text = _size(value - 1, decimals)
    if not text.strip("0. %"):
        return "equal to the baseline's"
    return f"{text} {'higher' if value > 1 else 'lower'} than the baseline's"


def signed(fraction: float, decimals: int | None = None) -> str:
    """A change in per cent with its sign: '+10 %', '−5 %', '0 %'."""
    text = _size(fraction, decimals)
    return f"{'+' if fraction > 0 else '−'}{text}" if text.strip("0. %") else text


def beside_limit(value: float | None, bound: float | None) -> tuple[str, str]:
    """The change and its limit, with as many decimals as it takes that different ones look different."""
    if bound is None or value is None:
        return compared(value), "none" if bound is None else signed(bound - 1)
    for decimals in (None, *range(1, MOST_DECIMALS)):
        texts = signed(value - 1, decimals), signed(bound - 1, decimals)
        if texts[0] != texts[1] or value == bound:
            return compared(value, decimals), texts[1]
    return compared(value, MOST_DECIMALS), signed(bound - 1, MOST_DECIMALS)


def limit_words(finding: Finding, unit: str, limit: str) -> str:
    """The limit as it was asked for: '+10 %', or '+20 ms, here +31 %' where the absolute floor is the wider one."""
    if not floor_decides(finding) or unit not in _UNITS:
        return limit
    return f"{limit[0]}{short(finding.floor or 0.0)} {_UNITS[unit]}, here {limit}"


def floor_decides(finding: Finding) -> bool:
    """Whether the absolute floor is wider than the margin here, so that it was the limit."""
    if finding.bound is None or finding.margin is None or not finding.floor or finding.slo is not None:
        return False
    return abs(finding.bound - 1) > finding.margin * (1 + 1e-9)


def end(value: float | None, *, below: bool, beside: float | None = None) -> str:
    """A bound of the true ratio as a change: below 0.53 is 'at least 47 % lower', above 1.26 'at least 26 % higher'."""
    text = outward(value, up=below, beside=beside)
    if value is None:
        return "open"
    bound = float(text)
    if bound >= TIMES_FROM:
        return f"at {'most' if below else 'least'} {text} times as high"
    if bound == 1:
        return f"not {'higher' if below else 'lower'}"
    size = f"{abs(100 * bound - 100):.2f}".rstrip("0").rstrip(".")
    return f"at {'least' if (bound < 1) == below else 'most'} {size} % {'lower' if bound < 1 else 'higher'}"


def reach(value: float | None, *, up: bool, beside: float | None = None) -> str:
    """What is still possible, as the farthest change: 'up to +89 %'; 'any change' without an end."""
    if value is None:
        return "any change"
    bound = float(outward(value, up=up, beside=beside))
    text = f"{ratio(bound)} times" if bound >= TIMES_FROM else _exact(bound)
    return f"{'up' if up else 'down'} to {text}"


def span(low: float | None, high: float | None) -> str:
    """Both ends of an interval of ratios as changes, rounded outward: '+8 % to +19 %'."""
    ends = [one for one in (low, high) if one is not None]
    if len(ends) < 2:
        return "open"
    return f"{_exact(float(outward(min(ends), up=False)))} to {_exact(float(outward(max(ends), up=True)))}"


def p_value(p: float, *, adjusted: bool) -> str:
    """'adjusted p = 0.03'; 'p < 0.001' below that."""
    name = "adjusted p" if adjusted else "p"
    return f"{name} < 0.001" if p < 0.001 else f"{name} = {figure(float(f'{p:.2g}'))}"


def _exact(bound: float) -> str:
    if bound >= TIMES_FROM:
        return f"{ratio(bound)} times"
    size = f"{abs(100 * bound - 100):.2f}".rstrip("0").rstrip(".")
    return f"{'+' if bound > 1 else '−'}{size} %" if bound != 1 else "0 %"


def _size(fraction: float, decimals: int | None) -> str:
    """A change without its sign: whole from 10 % on, one decimal below, without trailing zeros."""
    value = abs(100 * fraction)
    if not math.isfinite(value):
        return "∞ %"
    text = f"{value:,.{(0 if value >= 9.95 else 1) if decimals is None else decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"
