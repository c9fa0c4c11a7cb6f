"""Lags of however many reads take the same memory, and their percentiles are true to a quarter of a percent."""

import sys

import numpy as np
import pytest

from specbench.load.lag_histogram import LagHistogram

LAGS_NS = np.random.default_rng(3).lognormal(12, 2, 20_000).astype(np.int64)


@pytest.mark.parametrize("rank", [0, 50, 95, 99, 99.9, 100])
def test_percentiles_are_those_of_the_values(rank: float) -> None:
    """From a microsecond to a second, added in parts."""
    held = LagHistogram()
    for part in np.split(LAGS_NS, 20):
        held.add(part)

    assert held.percentile_ns(rank) == pytest.approx(np.percentile(LAGS_NS, rank), rel=0.0025)


def test_it_grows_with_nothing() -> None:
    """Ten times as many reads, and days of lag."""
    held = LagHistogram()
    held.add(LAGS_NS)
    before = sys.getsizeof(vars(held)["_counts"])
    held.add(np.repeat(LAGS_NS, 10))
    held.add(np.array([0, -5, 10**15]))

    assert sys.getsizeof(vars(held)["_counts"]) == before
    assert held.percentile_ns(100) == pytest.approx(1e15, rel=0.0025)


def test_without_reads_there_is_no_percentile() -> None:
    """Nothing is not zero."""
    assert LagHistogram().percentile_ns(99) is None
