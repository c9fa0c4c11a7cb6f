"""Quantiles agree with numpy's where numpy has an answer, and stay true where requests failed."""

from math import inf, isinf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.arrays.samples import Totals, grouped, quantiles, unit_quantiles


@given(
    values=st.lists(st.floats(0, 1e9), min_size=1, max_size=60),
    points=st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
def test_quantiles_are_numpys(values: list[float], points: list[float]) -> None:
    """Linear interpolation between order statistics, numpy's default."""
    expected = np.quantile(np.array(values), points)

    assert quantiles(np.array(values), points) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_named_percentiles_of_six_values() -> None:
    """T-03: linear p95 of 100 to 600 is 575, p99 is 595."""
    assert quantiles(np.array([100.0, 200, 300, 400, 500, 600]), [0.95, 0.99]).tolist() == pytest.approx([575.0, 595.0])


def test_percentiles_are_taken_of_merged_values() -> None:
    """T-07: 1000 values of 10 and ten of 2000 have p95 and p99 of 10, whatever the means of two workers' percentiles say."""
    merged = np.array([10.0] * 1000 + [2000.0] * 10)

    assert quantiles(merged, [0.95, 0.99, 1.0]).tolist() == [10.0, 10.0, 2000.0]


def test_a_percentile_among_failed_requests_is_unbounded() -> None:
    """T-01: with 10 of 100 failed, p95 lies at +inf and p50 does not; numpy would say NaN at the edge."""
    values = np.array([1100.0] * 90 + [inf] * 10)

    assert quantiles(values, [0.5, 0.95]).tolist() == [1100.0, inf]
    assert quantiles(np.array([1.0, inf]), [0.25]).tolist() == [inf]
    assert quantiles(np.array([1.0, 2.0, inf]), [0.5]).tolist() == [2.0]


def test_nothing_has_no_percentile() -> None:
    """An empty sample answers NaN inside the arithmetic, never 0."""
    assert np.isnan(quantiles(np.zeros(0), [0.5])).all()


@given(st.lists(st.one_of(st.floats(0, 1e6), st.just(inf)), min_size=1, max_size=40), st.floats(0, 1))
def test_making_one_value_infinite_never_lowers_a_percentile(values: list[float], p: float) -> None:
    """A request that fails instead of succeeding cannot make an arm look faster."""
    before = quantiles(np.array(values), [p])[0]
    after = quantiles(np.array([inf, *values[1:]]), [p])[0]

    assert isinf(after) or after >= before


def test_units_are_judged_apart() -> None:
    """Each unit has its own quantile, and an empty one has none."""
    samples = grouped(np.array([1.0, 3.0, 10.0]), np.array([0, 0, 2]), 3)

    assert unit_quantiles(samples, [0.5])[:, 0].tolist() == pytest.approx([2.0, nan, 10.0], nan_ok=True)


def test_a_ratio_of_sums_has_no_value_where_nothing_was_counted() -> None:
    """0 of 0 is no value; 0 of 5 is 0."""
    totals = Totals(np.array([0.0, 0.0, 3.0]), np.array([0.0, 5.0, 2.0]))

    assert totals.by_unit().tolist() == pytest.approx([nan, 0.0, 1.5], nan_ok=True)
