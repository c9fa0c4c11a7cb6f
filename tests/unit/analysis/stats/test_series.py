"""Series in time: their drift, against scipy's regression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from specbench.analysis.stats.paired import trend


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
