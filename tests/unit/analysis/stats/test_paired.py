"""Inference from pairs agrees with scipy and statsmodels, and covers the truth as often as it says."""

from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from specbench.analysis.stats.paired import (
    MAX_FLIPPED_PAIRS,
    Estimate,
    around,
    jackknife,
    mean_with_t,
    sign_flip_p,
    t_quantile,
    t_tail,
)

OBSERVATIONS = st.lists(st.floats(-2, 2).map(lambda x: round(x, 6)), min_size=2, max_size=12)


def test_t_is_scipys() -> None:
    """Quantiles and tails of Student's t."""
    assert t_quantile(0.95, 9) == pytest.approx(stats.t.ppf(0.95, 9), abs=1e-12)
    assert t_tail(2.5, 4) == pytest.approx(stats.t.sf(2.5, 4), abs=1e-12)


@given(OBSERVATIONS.filter(lambda values: np.std(values) > 1e-6))
def test_interval_and_p_value_are_those_of_a_one_sample_t_test(values: list[float]) -> None:
    """Mean, interval and one-sided p-value as scipy has them, to 1e-6."""
    oracle = stats.ttest_1samp(values, 0.1, alternative="greater")
    interval = stats.ttest_1samp(values, 0.1).confidence_interval(0.9)

    estimate = mean_with_t(np.array(values))

    assert estimate.bounds(0.9) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-9)
    assert estimate.p_above(0.1) == pytest.approx(oracle.pvalue, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("margin", [0.01, 0.03, 0.2])
def test_an_interval_inside_the_margins_is_equivalence_as_two_one_sided_tests_have_it(margin: float) -> None:
    """The 90 % interval of a length ratio lies within ± 3 % exactly where statsmodels' TOST on logarithms has p below 5 %."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        before = rng.lognormal(4, 0.05, 8)
        after = before * rng.lognormal(0.01, 0.03, 8)
        oracle = ttost_paired(after, before, 1 / (1 + margin), 1 + margin, transform=np.log)[0]
        bounds = mean_with_t(np.log(after) - np.log(before)).bounds(0.9)

        assert bounds is not None
        assert (log(1 / (1 + margin)) < bounds[0] and bounds[1] < log(1 + margin)) is bool(oracle < 0.05)


def test_equal_observations_have_no_spread_and_one_has_no_error() -> None:
    """Equal numbers give exactly 0, not the rounding of a sum; a single number leaves its error open."""
    equal = mean_with_t(np.array([0.1] * 7))

    assert (equal.mean, equal.se, equal.df) == (0.1, 0.0, 6)
    assert (equal.p_above(0.0), equal.p_above(0.1)) == (0.0, 1.0)
    assert mean_with_t(np.array([0.3])) == Estimate(0.3, None, None)
    assert Estimate(0.3, None, None).bounds(0.95) is None
    assert Estimate(0.3, None, None).p_above(0.0) is None


@given(OBSERVATIONS)
def test_the_jackknife_of_a_mean_is_its_standard_error(values: list[float]) -> None:
    """Where the closed form is known the jackknife equals it: sd ÷ sqrt n."""
    data = np.array(values)
    left_out = np.array([np.delete(data, i).mean() for i in range(len(data))])

    estimate = jackknife(float(data.mean()), left_out)

    assert estimate.se == pytest.approx(data.std(ddof=1) / sqrt(len(data)), rel=1e-6, abs=1e-12)
    assert estimate.df == len(data) - 1


def test_the_jackknife_stays_open_where_a_leave_out_is_infinite() -> None:
    """A percentile that is finite only thanks to one pair has no standard error."""
    assert jackknife(0.1, np.array([0.1, np.inf, 0.2])).se is None
    assert jackknife(0.1, np.array([0.1])).se is None


@given(OBSERVATIONS)
def test_the_spread_around_the_mean_is_its_standard_error(values: list[float]) -> None:
    """Around their own mean the observations spread as the mean errs; around any other point they spread more."""
    data = np.array(values)
    own = around(float(data.mean()), data)

    assert own == pytest.approx(data.std(ddof=1) / sqrt(len(data)), abs=1e-12)
    assert (around(float(data.mean()) + 1.0, data) or 0.0) > (own or 0.0)
    assert around(0.0, np.array([0.1, np.inf])) is None


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=1, max_size=9))
def test_sign_flips_count_every_pattern(values: list[float]) -> None:
    """The share of all sign patterns whose sum reaches the observed one, by plain enumeration."""
    sums = [
        sum(sign * abs(value) for sign, value in zip(signs, values, strict=True))
        for signs in product((-1, 1), repeat=len(values))
    ]
    expected = sum(total >= sum(values) - 1e-9 for total in sums) / 2 ** len(values)

    assert sign_flip_p(np.array(values)) == expected


def test_sign_flips_agree_with_scipys_permutation_test() -> None:
    """scipy's exact permutation test of paired samples gives the same p-value."""
    differences = np.array([0.08, -0.02, 0.11, 0.05, 0.07, -0.01, 0.09, 0.02])
    oracle = stats.permutation_test((differences,), np.mean, permutation_type="samples", alternative="greater", n_resamples=2**8)

    assert sign_flip_p(differences) == pytest.approx(oracle.pvalue)


def test_sign_flips_speak_of_twenty_pairs_and_not_of_a_hundred() -> None:
    """All of 20 pairs on one side have p = 2^-20; beyond the limit there is no answer rather than a sample of one."""
    assert sign_flip_p(np.full(20, 0.1)) == 2.0**-20
    assert sign_flip_p(np.full(MAX_FLIPPED_PAIRS + 1, 0.1)) is None
    assert sign_flip_p(np.zeros(0)) is None


@settings(max_examples=30)
@given(OBSERVATIONS, st.floats(0.001, 1))
def test_a_more_harmful_estimate_is_never_less_significant(values: list[float], shift: float) -> None:
    """Adding harm to every pair lowers the p-value and raises the bound."""
    before, after = mean_with_t(np.array(values)), mean_with_t(np.array(values) + shift)

    assert (after.p_above(0.0) or 0.0) <= (before.p_above(0.0) or 0.0) + 1e-12
    bounds = before.bounds(0.9), after.bounds(0.9)
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[1][1] >= bounds[0][1] - 1e-9


@pytest.mark.slow
def test_intervals_of_block_ratios_cover_the_truth() -> None:
    """T3: nominal 95 % intervals of 4 and of 10 pairs cover the true ratio in 93 to 97 % of 4,000 campaigns (seed 11)."""
    rng = np.random.default_rng(11)
    for pairs in (4, 10):
        covered = 0
        for _ in range(4000):
            bounds = mean_with_t(log(0.8) + rng.normal(0, 0.05, pairs)).bounds(0.95)
            assert bounds is not None
            covered += exp(bounds[0]) <= 0.8 <= exp(bounds[1])
        assert 0.93 <= covered / 4000 <= 0.97
