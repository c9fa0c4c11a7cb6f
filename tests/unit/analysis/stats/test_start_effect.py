"""What one start of each engine adds to an error, and what a test averaged over it may claim."""

from math import log, sqrt

import numpy as np
import pytest
from scipy import stats

from specbench.analysis.stats.paired import Estimate, pairs_needed, with_starts
from specbench.analysis.stats.percentile_ratio import Shares, SharesTest, Sorted
from specbench.analysis.stats.start_effect import differences, reach_of_starts, widened
from specbench.model.scenario import StartSd

STATED, MEASURED = StartSd(sd=0.015), StartSd(sd=0.015, df=4.0)


def test_two_starts_add_their_variances() -> None:
    """A pair spread of .02 ÷ √10 and two starts of 1.5 %: se² = 4e-5 + 4.5e-4, nearly all of it of known size."""
    se, df = with_starts(4e-5, 9, STATED)

    assert se == pytest.approx(sqrt(4.9e-4))
    assert df == pytest.approx(4.9e-4**2 / (4e-5**2 / 9))
    assert with_starts(4e-5, 9, None) == (sqrt(4e-5), 9)


def test_a_measured_figure_brings_its_own_degrees_of_freedom() -> None:
    """With 4 of them the comparison has hardly more."""
    assert with_starts(4e-5, 9, MEASURED)[1] == pytest.approx(4.9e-4**2 / (4e-5**2 / 9 + 4.5e-4**2 / 4))
    assert with_starts(4e-5, 9, MEASURED)[1] < 5


def test_an_absolute_limit_rests_on_one_start() -> None:
    """The speculative arm's own."""
    assert with_starts(0.0001, 9, STATED, starts=1)[0] == pytest.approx(sqrt(0.0001 + 0.015**2))


def test_both_errors_of_an_estimate_are_widened_and_an_unknown_one_stays_so() -> None:
    """Upward and downward alike."""
    found = widened(Estimate(0.1, 0.01, 9, 0.02), STATED)

    assert found.se == pytest.approx(sqrt(1e-4 + 4.5e-4))
    assert found.se_above == pytest.approx(sqrt(4e-4 + 4.5e-4))
    assert widened(Estimate(0.1, None, None), STATED).se is None
    assert widened(Estimate(0.1, 0.01, 9), None) == Estimate(0.1, 0.01, 9)


@pytest.mark.parametrize(("start", "variance"), [(STATED, 4.5e-4), (StartSd(sd=0.015, df=30.0), 4.5e-4 * 30 / 28)])
def test_the_points_have_the_variance_of_two_starts(start: StartSd, variance: float) -> None:
    """Normal where it is stated, t's where it was measured."""
    apart, weights = differences(start)

    assert weights.sum() == pytest.approx(1.0)
    assert (weights * apart**2).sum() == pytest.approx(variance, rel=0.01)


def test_what_starts_alone_leave_open_no_pair_closes() -> None:
    """1.645 · √2 · 2.2 % reaches the 5 % that output TPS may fall by."""
    assert reach_of_starts(StartSd(sd=0.022), 0.05) == pytest.approx(1.6449 * sqrt(2) * 0.022, abs=1e-5)
    assert reach_of_starts(StartSd(sd=0.022), 0.05) >= 0.05117
    assert reach_of_starts(None, 0.05) == 0.0
    assert pairs_needed(log(1 / 0.95), 0.02, 10, 0.05) is not None
    assert pairs_needed(log(1 / 0.95), 0.02, 10, 0.05, StartSd(sd=0.022)) is None


def _shares(rng: np.random.Generator, slower: float, start: float) -> Shares:
    """10 pairs of 30 requests that scatter by 5 %, blocks by 1 %, the speculative arm that much slower."""
    arms = []
    for factor in (1.0, slower):
        logs = rng.normal(0, 0.05, (10, 30)) + rng.normal(0, 0.01, (10, 1)) + log(factor) + rng.normal(0, start)
        order = np.argsort(logs, axis=None)
        arms.append(Sorted(logs.ravel()[order], np.repeat(np.arange(10), 30)[order]))
    return Shares(arms[0], arms[1], 10)


def test_the_averaged_test_errs_as_often_as_it_says() -> None:
    """At a true ratio of 1.1 it excludes 1.1 from below and above in 1 of 20 runs each; without the starts it errs far more."""
    rng, start = np.random.default_rng(11), StartSd(sd=0.02)
    runs = [_shares(rng, 1.1, 0.02) for _ in range(400)]
    nothing = Estimate(0.0, None, None)
    p = np.array([SharesTest(run, 0.95, start, nothing).p_above(log(1.1)) for run in runs])
    blind = np.array([SharesTest(run, 0.95, None, nothing).p_above(log(1.1)) for run in runs])

    for share in ((p < 0.05).mean(), (p > 0.95).mean()):
        assert stats.binom.sf(round(share * 400) - 1, 400, 0.05) > 1e-4
    assert (blind < 0.05).mean() > 0.1


def test_an_end_lies_where_the_test_says() -> None:
    """Just inside an end the test at 5 % does not exclude, just outside it does; on the side that was decided at 1.1."""
    test = SharesTest(_shares(np.random.default_rng(3), 1.3, 0.0), 0.95, STATED, Estimate(0.0, None, None))
    low, high = test.end(log(1.3), -1.0, 0.05, log(1.1)), test.end(log(1.3), 1.0, 0.05, log(1.1))

    assert log(1.1) < low < log(1.3) < high
    assert test.p_above(low - 0.003) < 0.05 <= test.p_above(low + 0.003)
    assert test.p_below(high + 0.003) < 0.05 <= test.p_below(high - 0.003)
    assert test.p_above(log(1.1)) < 0.05
