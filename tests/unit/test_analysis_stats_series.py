"""Series in time: warm-up, drift and dependence, against known processes and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.tsa.stattools import acf

from specbench.analysis.events import Floats
from specbench.analysis.stats_series import autocorrelation, effective_samples, mser5, trend


def _ar1(seed: int, n: int, rho: float) -> Floats:
    """A stationary autoregressive series of order one and unit variance."""
    rng = np.random.default_rng(seed)
    values = np.empty(n)
    values[0] = rng.normal()
    for i in range(1, n):
        values[i] = rho * values[i - 1] + rng.normal() * (1 - rho**2) ** 0.5
    return values


def test_a_warm_up_is_cut_where_it_ends() -> None:
    """Twenty slow values before a hundred steady ones: the cut takes all of them and leaves most of the rest."""
    rng = np.random.default_rng(1)
    found = mser5(np.concatenate([rng.normal(30, 1, 20), rng.normal(10, 1, 100)]))

    assert found is not None
    assert found.steady is True
    assert 20 <= found.dropped <= 40


def test_a_series_without_warm_up_keeps_nearly_all_of_itself() -> None:
    """On steady noise the rule drops less than a fifth on average."""
    dropped = [truncation.dropped for seed in range(50) if (truncation := mser5(np.random.default_rng(seed).normal(0, 1, 200)))]

    assert len(dropped) == 50
    assert float(np.mean(dropped)) < 40


def test_a_series_that_never_settles_is_not_steady() -> None:
    """A steady decline asks for more than half to be cut."""
    found = mser5(np.linspace(100, 0, 100))

    assert found is not None
    assert found.steady is False


def test_too_short_a_series_has_no_cut() -> None:
    """Fewer than four batches of five say nothing."""
    assert mser5(np.arange(19.0)) is None


@given(st.lists(st.floats(-10, 10).map(lambda x: round(x, 4)), min_size=3, max_size=30).filter(lambda v: np.std(v) > 1e-3))
def test_the_trend_is_least_squares(values: list[float]) -> None:
    """Slope, its error and its p-value are those of scipy's linear regression over a span of one."""
    oracle = stats.linregress(np.linspace(0, 1, len(values)), values, alternative="greater")

    found = trend(np.array(values))

    assert found is not None
    assert found.mean == pytest.approx(oracle.slope, rel=1e-6, abs=1e-9)
    assert found.se == pytest.approx(oracle.stderr, rel=1e-6, abs=1e-6)
    if (found.se or 0) > 1e-6:
        assert found.p_above(0.0) == pytest.approx(oracle.pvalue, abs=1e-6)


def test_two_values_have_no_trend() -> None:
    """A line through two points fits whatever they are."""
    assert trend(np.array([1.0, 2.0])) is None


@given(st.integers(0, 50), st.integers(5, 60))
def test_autocorrelation_is_statsmodels(seed: int, n: int) -> None:
    """Every lag agrees to 1e-9."""
    values = _ar1(seed, n, 0.5)

    assert autocorrelation(values, 4) == pytest.approx(acf(values, nlags=4, fft=False), abs=1e-9)


def test_a_constant_series_correlates_with_nothing() -> None:
    """Without variance there is no correlation to speak of, and no division by zero."""
    assert autocorrelation(np.full(10, 3.0), 2).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_samples_are_those_of_a_known_process(rho: float) -> None:
    """n (1 - rho) ÷ (1 + rho) for an autoregressive series, within 15 % on average of 20 series of 4,000."""
    found = [effective_samples(_ar1(seed, 4000, rho)) / 4000 for seed in range(20)]

    assert float(np.mean(found)) == pytest.approx((1 - rho) / (1 + rho), rel=0.15)
