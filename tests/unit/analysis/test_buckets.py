"""Shares over edges are exact, a quantile lies between two edges, and nothing is interpolated."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.buckets import added, bracket, mean, neighbours, resolving_edges, share_outside, share_over, variation
from specbench.engine.http.histograms import TOKEN_S
from specbench.model.live.live_period import BucketCounts
from tests.support.live import buckets

TEN = BucketCounts(edges=(0.01, 0.025, 0.05), up_to=(1.0, 9.0, 9.0), count=10.0, sum=0.25)


def test_a_share_is_exact_at_an_edge_and_unknown_beside_it() -> None:
    """Ten observations, one of which lies above 50 ms."""
    assert share_over(TEN, 0.05) == pytest.approx(0.1)
    assert share_over(TEN, 0.04) is None
    assert mean(TEN) == 0.025


def test_a_quantile_is_two_edges() -> None:
    """The median lies from 10 to 25 ms, the p90 too, the p99 above every edge."""
    assert bracket(TEN, 0.5) == (0.01, 0.025)
    assert bracket(TEN, 0.9) == (0.01, 0.025)
    assert bracket(TEN, 0.99) == (0.05, inf)


def test_nothing_observed_is_nothing_said() -> None:
    """No mean, share, bracket or sum of a histogram without an observation."""
    empty = BucketCounts(edges=(0.01,), up_to=(0.0,), count=0.0, sum=0.0)

    assert (mean(empty), share_over(empty, 0.01), bracket(empty, 0.5), added([empty])) == (None, None, None, None)
    assert share_outside(empty, 1, 2) is None


@given(st.lists(st.floats(0.0005, 100), min_size=1, max_size=300), st.sampled_from([0.01, 0.5, 0.9, 0.95, 0.99]))
def test_the_true_quantile_lies_in_its_bracket(values: list[float], quantile: float) -> None:
    """The smallest value with at least that share at or below it, whatever the values are."""
    found = bracket(buckets(values, TOKEN_S), quantile)
    true = sorted(values)[max(0, int(np.ceil(quantile * len(values) - 1e-9)) - 1)]

    assert found is not None
    assert found[0] <= true <= found[1]


def test_a_value_off_the_edges_has_neighbours() -> None:
    """Below the first and above the last edge there is one alone."""
    assert neighbours((0.01, 0.025), 0.02) == (0.01, 0.025)
    assert neighbours((0.01, 0.025), 0.025) == (0.025, 0.025)
    assert neighbours((0.01, 0.025), 0.005) == (None, 0.01)
    assert neighbours((0.01, 0.025), 0.5) == (0.025, None)


def test_histograms_add_up_and_those_of_other_edges_are_left_out() -> None:
    """An engine that was started with other edges begins anew."""
    old = BucketCounts(edges=(0.02,), up_to=(5.0,), count=5.0, sum=0.05)

    assert added([TEN, TEN]) == BucketCounts(edges=TEN.edges, up_to=(2.0, 18.0, 18.0), count=20.0, sum=0.5)
    assert added([old, TEN]) == TEN


def test_distributions_apart_and_alike() -> None:
    """Alike is 0, disjoint is 1; other edges cannot be compared."""
    low = BucketCounts(edges=(10.0, 20.0), up_to=(8.0, 8.0), count=8.0, sum=40.0)
    high = BucketCounts(edges=(10.0, 20.0), up_to=(0.0, 4.0), count=4.0, sum=60.0)

    assert variation(low, low) == 0
    assert variation(low, high) == 1
    assert variation(low, TEN) is None


def test_what_lies_outside_a_band_is_counted_at_widened_edges() -> None:
    """A band of 12 to 18 tokens is judged as 10 to 20: only what surely lies outside counts."""
    counts = BucketCounts(edges=(10.0, 20.0, 50.0), up_to=(1.0, 6.0, 9.0), count=10.0, sum=200.0)

    assert share_outside(counts, 12, 18) == pytest.approx(0.5)
    assert share_outside(counts, 12, 60) == pytest.approx(0.1)


def test_edges_that_resolve_a_margin() -> None:
    """Geometric by half the margin, the limit among them, never more than 24."""
    fine = resolving_edges(0.010, 0.020, 0.10, also=(0.05,))
    wide = resolving_edges(0.001, 10.0, 0.10, also=())

    assert fine[0] == 0.008
    assert fine[-1] == 0.05
    assert fine[-2] >= 0.026
    assert all(after / before < 1.07 for before, after in pairwise(fine[:-1]))
    assert len(wide) <= 24
    assert wide[-1] >= 13.0
