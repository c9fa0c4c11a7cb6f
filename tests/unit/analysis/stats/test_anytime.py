"""Bounds that hold at every look: seldom wrong for equal arms, quick for clear harm; and drift that seldom alarms falsely."""

from math import log

import numpy as np
import pytest

from specbench.analysis.stats.anytime import LEAST_WINDOWS, alarm_level, anytime_mean, drift_evidence, lag_one


def series(rng: np.random.Generator, windows: int, memory: float, sd: float) -> np.ndarray:
    """Windows around 0, each of which remembers that share of the one before."""
    values = np.empty(windows)
    values[0] = rng.normal(0, sd)
    for place in range(1, windows):
        values[place] = memory * values[place - 1] + rng.normal(0, sd * np.sqrt(1 - memory**2))
    return values


def test_nothing_is_said_before_24_windows() -> None:
    """However clear they are."""
    values = list(np.random.default_rng(1).normal(1.0, 0.01, 30))

    assert anytime_mean(values[: LEAST_WINDOWS - 1], 0.05) is None
    found = anytime_mean(values[:LEAST_WINDOWS], 0.05)
    assert found is not None
    assert found.low > 0.9


def test_no_spread_is_no_certainty() -> None:
    """Twenty-four equal numbers give no bounds of width 0."""
    assert anytime_mean([0.1] * 30, 0.05) is None


def test_the_least_spread_holds_where_counts_of_few_show_none() -> None:
    """No exceedance in 24 windows is no proof that the share is 0."""
    found = anytime_mean([0.0] * 24, 0.05, least_sd=0.01)

    assert found is not None
    assert found.high > 0.005


@pytest.mark.parametrize("memory", [0.0, 0.3, 0.6])
def test_equal_arms_are_seldom_called_harmful_at_any_look(memory: float) -> None:
    """At most 5 % of 120 runs of 400 windows, looked at every tenth window."""
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(120):
        values = series(rng, 400, memory, 0.1)
        bounds = [anytime_mean(values[:end], 0.05) for end in range(LEAST_WINDOWS, 400, 10)]
        wrong += any(found is not None and found.low > 0 for found in bounds)

    assert wrong <= 6


def test_harm_of_15_percent_is_seen_at_window_24() -> None:
    """With windows that scatter by 8 %, in each of 30 runs."""
    rng = np.random.default_rng(3)
    found = [anytime_mean(log(1.15) + series(rng, LEAST_WINDOWS, 0.0, 0.08), 0.05) for _ in range(30)]

    assert all(one is not None and one.low > 0 for one in found)


def test_correlated_windows_are_joined_two_by_two() -> None:
    """Until their correlation is below a half, or too few would be left."""
    values = series(np.random.default_rng(5), 800, 0.9, 0.1)
    found = anytime_mean(values, 0.05)

    assert lag_one(values) > 0.8
    assert found is not None
    assert found.joined >= 4
    assert found.correlation < 0.5


def test_evidence_of_a_drift_grows_below_the_line_alone() -> None:
    """A fall of .10 alarms within a day; .02 of a tolerated .03 never does in 90 days."""
    rng, level = np.random.default_rng(11), alarm_level(2160, 2)
    fallen = drift_evidence(list(rng.normal(0.70, 0.02, 48)), 0.80, 0.02, 0.03)
    tolerated = drift_evidence(list(rng.normal(0.78, 0.02, 2160)), 0.80, 0.02, 0.03)

    assert next(hour for hour, value in enumerate(fallen) if value >= level) < 24
    assert max(tolerated) < level


def test_a_rhythm_of_the_day_is_no_drift() -> None:
    """± .02 over 24 hours, for 90 days."""
    hours = np.arange(2160)
    values = 0.80 + 0.02 * np.sin(2 * np.pi * hours / 24) + np.random.default_rng(2).normal(0, 0.01, 2160)

    assert max(drift_evidence(list(values), 0.80, 0.02, 0.03)) < alarm_level(2160, 2)
