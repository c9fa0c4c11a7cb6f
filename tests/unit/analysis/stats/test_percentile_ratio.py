"""The interval of a ratio of percentiles: the ratios at which as many requests of both arms are slow."""

from math import inf, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.paired import t_quantile
from specbench.analysis.stats.percentile_ratio import Shares, Sorted, log_ratio_ends

REACH = t_quantile(0.975, 9)


def _sorted(values: Floats, pairs: int) -> Sorted:
    """The samples of `pairs` equally large blocks, in their order."""
    place = np.arange(len(values)) * pairs // len(values)
    order = np.argsort(values, kind="stable")
    return Sorted(np.log(values[order]), place[order])


def _shares(baseline: Floats, speculative: Floats, pairs: int = 10) -> Shares:
    return Shares(_sorted(baseline, pairs), _sorted(speculative, pairs), pairs)


def _times(seed: int, n: int = 400) -> Floats:
    return np.random.default_rng(seed).lognormal(0.0, 0.2, n)


def test_shares_that_agree_have_t_zero() -> None:
    """The same ten times in both arms: as many lie beyond the common median, and every pair pulls alike."""
    shares = _shares(np.arange(1.0, 11.0), np.arange(1.0, 11.0))

    assert shares.t_at(0.0, 0.5) == 0.0


def test_t_is_the_difference_of_shares_over_its_error_by_pairs() -> None:
    """Four pairs of two: 0, 0, 0 and 1 of the baseline and 1, 1, 1 and 2 of the other lie beyond the 37.5th percentile of 3.

    S = 5/8 and B = 1/8. The pulls ((s - 2 S) ÷ 8) - ((b - 2 B) ÷ 8) are 0 in every pair: the difference is certain.
    """
    baseline = np.array([1.0, 1, 1, 1, 1, 1, 1, 9])
    speculative = np.array([2.0, 9, 2, 9, 2, 9, 9, 9])
    certain = _shares(baseline, speculative, 4)
    # The last pair's baseline is slow as a whole: 0, 0, 0, 2 and 1, 1, 1, 2 lie beyond; pulls of 1/32 three times and -3/32.
    varying = _shares(np.array([1.0, 1, 1, 1, 1, 1, 9, 9]), speculative, 4)

    assert certain.t_at(0.0, 0.625) == inf
    assert varying.t_at(0.0, 0.5625) == pytest.approx((5 / 8 - 2 / 8) / (4 / 3 * (3 * (1 / 32) ** 2 + (3 / 32) ** 2)) ** 0.5)


def test_the_interval_holds_the_point_and_the_truth() -> None:
    """400 times an arm, the speculative ones exactly 30 % longer draws of the same kind."""
    baseline, speculative = _times(11), 1.3 * _times(12)
    point = log(np.quantile(speculative, 0.95) / np.quantile(baseline, 0.95))

    ends = log_ratio_ends(_shares(baseline, speculative), 0.95, point, REACH)

    assert ends is not None
    assert ends[0] < point < ends[1]
    assert ends[0] < log(1.3) < ends[1]


@given(seed=st.integers(0, 40), factor=st.floats(0.2, 5.0))
def test_the_interval_moves_with_the_unit(seed: int, factor: float) -> None:
    """All speculative times taken `factor` times as long: both ends move by its logarithm."""
    baseline, speculative = _times(seed), _times(seed + 1000)
    point = log(np.quantile(speculative, 0.95) / np.quantile(baseline, 0.95))

    ends = log_ratio_ends(_shares(baseline, speculative), 0.95, point, REACH)
    moved = log_ratio_ends(_shares(baseline, factor * speculative), 0.95, point + log(factor), REACH)

    assert ends is not None
    assert moved == pytest.approx((ends[0] + log(factor), ends[1] + log(factor)), abs=1e-6)


def test_where_the_percentile_lies_beside_a_gap_the_interval_spans_it() -> None:
    """About 5 % of the requests take ten times as long, in one arm 17 of 400 and in the other 23: their percentiles lie on the
    two sides of the gap, yet six requests more prove nothing, and a ratio of 1 is not excluded."""
    baseline, speculative = _times(3), _times(4)
    baseline[np.random.default_rng(5).choice(400, 17, replace=False)] *= 10
    speculative[np.random.default_rng(6).choice(400, 23, replace=False)] *= 10
    point = log(np.quantile(speculative, 0.95) / np.quantile(baseline, 0.95))

    ends = log_ratio_ends(_shares(baseline, speculative), 0.95, point, REACH)

    assert point > log(4)
    assert ends is not None
    assert ends[0] <= 0.0 < point <= ends[1]


def test_too_few_slow_requests_leave_no_interval() -> None:
    """4 pairs of 12 have two or three requests an arm beyond the 95th percentile: their number excludes no ratio."""
    baseline, speculative = _times(5, 48), _times(6, 48)

    assert log_ratio_ends(_shares(baseline, speculative, 4), 0.95, 0.0, t_quantile(0.975, 3)) is None


def test_failed_requests_lie_beyond_every_ratio() -> None:
    """With 6 % failures in one arm its percentile is above all times that were measured: there is no upper end."""
    speculative = np.where(np.arange(400) % 17 == 3, inf, _times(7))

    assert log_ratio_ends(_shares(_times(8), speculative), 0.95, 0.0, REACH) is None


def test_one_pair_has_no_interval() -> None:
    """One pair shows no spread."""
    assert log_ratio_ends(_shares(_times(9), _times(10), 1), 0.95, 0.0, nan) is None
