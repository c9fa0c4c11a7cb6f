"""The difference of two failure shares: textbook intervals, a textbook test, and bursts that count once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.rates import rate_difference, share_upper_bound


def _spread(failed: int, judged: int, blocks: int) -> tuple[Floats, Floats]:
    """Failures as even over blocks as they can be, so that they do not come in bursts."""
    return (
        np.array([failed // blocks + (i < failed % blocks) for i in range(blocks)], dtype=float),
        np.array([judged // blocks + (i < judged % blocks) for i in range(blocks)], dtype=float),
    )


@pytest.mark.parametrize(("before", "after"), [(0, 3), (3, 0), (4, 4), (2, 30), (0, 0), (150, 200)])
def test_bounds_and_p_value_are_statsmodels_and_scipys(before: int, after: int) -> None:
    """Newcombe's interval and Fisher's exact test on 600 and 500 requests, to 1e-6."""
    interval = confint_proportions_2indep(after, 500, before, 600, method="newcomb", compare="diff", alpha=0.10)
    fisher = stats.fisher_exact(np.array([[after, 500 - after], [before, 600 - before]]), alternative="greater")

    found = rate_difference(_spread(before, 600, 5), _spread(after, 500, 5))

    assert found is not None
    assert found.design_effect == 1.0
    assert (found.low, found.high) == pytest.approx(interval, abs=1e-6)
    assert found.p_excess == pytest.approx(fisher.pvalue, abs=1e-6)


def test_a_burst_in_one_block_is_one_accident() -> None:
    """30 failures spread over ten blocks are a significant excess; the same 30 in one block of ten are not."""
    clean = _spread(0, 1000, 10)
    burst = (np.array([30.0] + [0.0] * 9), np.full(10, 100.0))

    even, lumped = rate_difference(clean, _spread(30, 1000, 10)), rate_difference(clean, burst)

    assert even is not None
    assert lumped is not None
    assert even.p_excess < 1e-6
    assert lumped.design_effect > 20
    assert lumped.p_excess > 0.2
    assert lumped.high > even.high


def test_an_arm_that_fails_throughout_is_beyond_doubt() -> None:
    """Every request failed in one arm, none in the other: no burst, and no chance."""
    found = rate_difference(_spread(0, 200, 4), _spread(200, 200, 4))

    assert found is not None
    assert found.difference == 1.0
    assert found.p_excess < 1e-50


def test_an_arm_without_requests_allows_no_difference() -> None:
    """Nothing judged is no share of 0."""
    assert rate_difference(_spread(0, 100, 2), (np.zeros(2), np.zeros(2))) is None


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 20))
def test_more_failures_never_look_better(before: int, after: int, more: int) -> None:
    """Additional failures of the speculative arm raise the difference and both bounds, and never the p-value."""
    lesser = rate_difference(_spread(before, 200, 5), _spread(after, 200, 5))
    greater = rate_difference(_spread(before, 200, 5), _spread(after + more, 200, 5))

    assert lesser is not None
    assert greater is not None
    assert greater.difference >= lesser.difference
    assert greater.high >= lesser.high - 1e-12
    assert greater.p_excess <= lesser.p_excess + 1e-12


@pytest.mark.parametrize(("n", "bound"), [(60, 0.0487), (300, 0.0099), (3000, 0.001)])
def test_no_failure_in_n_bounds_the_share(n: int, bound: float) -> None:
    """1 - .05^(1 / n): 60 clean requests leave room for 4.9 %, 300 for 1 %, 3000 for .1 %."""
    assert share_upper_bound(0, n) == pytest.approx(bound, abs=5e-5)


@given(st.integers(1, 300), st.data())
def test_the_bound_of_a_share_is_clopper_and_pearsons(n: int, data: st.DataObject) -> None:
    """statsmodels has the same one-sided exact bound."""
    failed = data.draw(st.integers(0, n))
    oracle = proportion_confint(failed, n, alpha=0.10, method="beta")[1]

    assert share_upper_bound(failed, n) == pytest.approx(oracle, abs=1e-9)
    assert share_upper_bound(0, 0) is None


@pytest.mark.slow
def test_bursts_do_not_make_false_alarms() -> None:
    """Both arms fail alike, in bursts of 5 to 20 in about one block of three: an excess is called significant at 5 % in no more
    than
    8 % of 1,000 campaigns; the same test on single requests does so in more than twice as many."""
    rng = np.random.default_rng(5)
    alarms = naive = 0
    for _ in range(1000):
        arms = [(np.where(rng.random(10) < 0.3, rng.integers(5, 20, 10), 0).astype(float), np.full(10, 60.0)) for _ in range(2)]
        found = rate_difference(arms[0], arms[1])
        assert found is not None
        alarms += found.p_excess < 0.05
        table = [[arms[1][0].sum(), 600 - arms[1][0].sum()], [arms[0][0].sum(), 600 - arms[0][0].sum()]]
        naive += stats.fisher_exact(np.array(table, dtype=int), alternative="greater").pvalue < 0.05

    assert alarms / 1000 <= 0.08
    assert naive > 2 * alarms
