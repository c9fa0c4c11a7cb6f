"""Percentiles whose samples hang together, and bounds for absolute limits."""

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from specbench.analysis.arrays.events import Floats, Ints
from specbench.analysis.stats.quantile import design_effect, log_quantile_influence, upper_bound


def _clustered(seed: int, clusters: int, size: int, shared: float) -> tuple[Floats, Ints]:
    """Log-normal samples; `shared` is the share of log variance that a cluster's samples have in common."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.5 * shared**0.5, clusters).repeat(size)
    return np.exp(common + rng.normal(0, 0.5 * (1 - shared) ** 0.5, clusters * size)), np.repeat(np.arange(clusters), size)


def test_independent_samples_have_a_design_effect_of_about_one() -> None:
    """200 clusters of 50 independent samples: their variance is that of 10,000 samples."""
    values, clusters = _clustered(1, 200, 50, 0.0)
    below = np.bincount(clusters, weights=values <= np.quantile(values, 0.95)).astype(np.float64)

    assert design_effect(below, np.full(200, 50.0)) == pytest.approx(1.0, abs=0.2)


def test_samples_that_hang_together_count_for_less() -> None:
    """Clusters that are wholly above or below q are worth one sample each: D is the cluster's size."""
    below = np.array([10.0, 10, 10, 0] * 25)

    assert design_effect(below, np.full(100, 10.0)) == pytest.approx(10.0, rel=0.02)


def test_a_design_effect_needs_two_clusters_and_both_sides() -> None:
    """One block, or nothing above q, says nothing of how samples hang together."""
    assert design_effect(np.array([5.0]), np.array([10.0])) is None
    assert design_effect(np.array([5.0, 5.0]), np.array([5.0, 5.0])) is None
    assert design_effect(np.array([5.0, 0.0]), np.array([10.0, 0.0])) is None


def test_the_influence_of_clusters_adds_up_to_the_error_of_the_quantile() -> None:
    """Its standard error of the log median of 100 single log-normal samples is 1.2533 sd ÷ sqrt n, within a fifth, on average."""
    errors = []
    for seed in range(40):
        values = np.random.default_rng(seed).lognormal(0, 0.5, 100)
        pulls = log_quantile_influence(values, np.arange(100), 0.5)
        errors.append((100 / 99 * (pulls**2).sum()) ** 0.5)

    assert float(np.mean(errors)) == pytest.approx(1.2533 * 0.5 / 10, rel=0.2)


def test_the_influence_is_open_next_to_failed_requests() -> None:
    """With 4 % of requests failed, p95 is finite but its upper neighbourhood is not."""
    values = np.array([*np.linspace(1, 2, 96), *[inf] * 4])

    assert np.isnan(log_quantile_influence(values, np.arange(100) % 5, 0.95)).all()


@given(st.integers(59, 400), st.sampled_from([0.5, 0.9, 0.95]), st.integers(0, 1000))
def test_the_upper_bound_is_scipys_order_statistic(n: int, p: float, seed: int) -> None:
    """scipy's quantile test has the same one-sided bound."""
    values = np.random.default_rng(seed).permutation(n).astype(float)
    oracle: Any = stats.quantile_test(values, p=p, alternative="less").confidence_interval(0.95)

    found = upper_bound(values, p, 0.95)

    assert found == oracle.high


def test_fifty_nine_samples_are_needed_to_bound_a_p95() -> None:
    """With 58 even the largest is below the true p95 with more than 5 % probability."""
    assert upper_bound(np.arange(58.0), 0.95, 0.95) is None
    assert upper_bound(np.arange(59.0), 0.95, 0.95) == 58.0
    assert upper_bound(np.arange(590.0), 0.95, 0.95, effect=10.1) is None
    assert upper_bound(np.zeros(0), 0.95, 0.95) is None


def test_failed_requests_may_reach_the_bound() -> None:
    """3 of 100 failed: p95 itself is finite and its bound is not."""
    assert upper_bound(np.array([1.0] * 97 + [inf] * 3), 0.95, 0.95) == inf


@pytest.mark.parametrize(("n", "most"), [(100, 1), (200, 4), (500, 16), (1000, 38), (5000, 224)])
def test_the_certifiable_counts_are_those_of_mlperf(n: int, most: int) -> None:
    """At 95 %, so many requests over a limit of 1 among n still bound the p95 by it, and one more does not."""
    for over, bound in ((most, 1.0), (most + 1, 2.0)):
        assert upper_bound(np.array([1.0] * (n - over) + [2.0] * over), 0.95, 0.95) == bound
