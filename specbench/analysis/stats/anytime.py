"""Bounds and alarms that hold at every look, however long the looking lasts: for windows of live traffic that come one by one.

Pure: series of numbers in, bounds or evidence out. What a series stands for is known to `analysis/live/`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats

LEAST_WINDOWS = 24
"""Before so many windows nothing is said: the bounds hold as windows grow many."""

TUNED_FOR = 48
"""Windows at which the bounds are narrowest; elsewhere they hold as well."""

CORRELATED = 0.5  # lag-1 correlation from which on windows are joined two by two


@dataclass(frozen=True, slots=True, kw_only=True)
class AnytimeMean:
    """The mean of a series with bounds that hold at every look.

    `correlation` is what was estimated between a window and the next, `joined` how many windows became one.
    """

    mean: float
    low: float
    high: float
    windows: int
    correlation: float
    joined: int


def anytime_mean(series: Sequence[float] | Floats, alpha: float, least_sd: float = 0.0) -> AnytimeMean | None:
    """The mean with two-sided bounds of error `alpha` over all looks together; None before LEAST_WINDOWS, or without any spread.

    mean ± s · sqrt(2 (t ρ² + 1) ÷ (t² ρ²) · log(sqrt(t ρ² + 1) ÷ alpha)), with s² times (1 + φ) ÷ (1 − φ): φ is the lag-1
    correlation plus one standard error, at least 0. Where it is CORRELATED or more, windows are joined two by two, as long as
    LEAST_WINDOWS are left.

    Args:
        series: One number per window, in order.
        alpha: The probability of ever being wrong.
        least_sd: What the spread is at least, where counts of few make it look like none.

    Source: Waudby-Smith et al. 2024, Annals of Statistics, arXiv 2103.06476, for independent windows; the
    inflation is that of the variance of a mean of a first-order autoregression.
    """
    values, joined = np.asarray(series, dtype=float), 1
    while len(values) >= 2 * LEAST_WINDOWS and lag_one(values) >= CORRELATED:
        even = len(values) - len(values) % 2
        values, joined, least_sd = values[:even].reshape(-1, 2).mean(axis=1), 2 * joined, least_sd / sqrt(2)
    t = len(values)
    if t < LEAST_WINDOWS:
        return None
    sd = max(float(values.std(ddof=1)), least_sd)
    if sd <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return None
    correlation = lag_one(values)
    phi = min(max(correlation + 1 / sqrt(t), 0.0), 0.95)
    rho2 = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / TUNED_FOR
    reach = sd * sqrt((1 + phi) / (1 - phi)) * sqrt(2 * (t * rho2 + 1) / (t * t * rho2) * log(sqrt(t * rho2 + 1) / alpha))
    mean = float(values.mean())
    return AnytimeMean(mean=mean, low=mean - reach, high=mean + reach, windows=t, correlation=correlation, joined=joined)


def lag_one(series: Sequence[float] | Floats) -> float:
    """The correlation of each value with the next; 0 where there is no spread."""
    values = np.asarray(series, dtype=float)
    away = values - values.mean()
    total = float((away**2).sum())
    return float((away[1:] * away[:-1]).sum()) / total if total > 0 else 0.0


def drift_evidence(series: Sequence[float], reference: float, sd: float, tolerance: float) -> tuple[float, ...]:
    """The log of the evidence, after each value, that the mean has fallen more than `tolerance` below the reference.

    Three detectors of Shiryaev-Roberts type, M ← (1 + M) · exp(λ (line − x) − λ² σ² ÷ 2), whose λ suit falls of ½, 1 and 2
    tolerances beyond the line; the evidence is that of the strongest. An alarm at log(N · 3) comes once in N values on average
    at the earliest, while each value's mean, given the past, lies at or above the line.

    Source: Shin, Ramdas and Rinaldo 2022, e-detectors, New England Journal of Statistics in Data Science.
    """
    line = reference - tolerance
    rates = [beyond * tolerance / sd**2 for beyond in (0.5, 1.0, 2.0)]
    logs, evidence = [float("-inf")] * len(rates), []
    for value in series:
        steps = [rate * (line - value) - (rate * sd) ** 2 / 2 for rate in rates]
        logs = [_log_of_one_more(held) + step for held, step in zip(logs, steps, strict=True)]
        evidence.append(max(logs))
    return tuple(evidence)


def alarm_level(run_length: float, detectors: int) -> float:
    """The log evidence of an alarm, with `detectors` series watched and one false alarm in `run_length` values allowed."""
    return log(run_length * 3 * detectors)


def _log_of_one_more(logarithm: float) -> float:
    """log(1 + exp(x)), for any x."""
    return logarithm + log(1 + exp(-logarithm)) if logarithm > 0 else log(1 + exp(logarithm))
