"""Several looks err no more often than one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from specbench.analysis.stats.alpha_spending import look_levels, spending
from specbench.errors import InternalError


@pytest.mark.parametrize(
    ("looks", "bounds"),
    [(1, (1.960,)), (4, (4.333, 2.963, 2.359, 2.014)), (5, (4.877, 3.357, 2.680, 2.290, 2.031))],
)
def test_bounds_are_the_published_ones(looks: int, bounds: tuple[float, ...]) -> None:
    """The O'Brien-Fleming-like bounds of Lan and DeMets for a one-sided 2.5 % and equally spaced looks."""
    levels = look_levels([(k + 1) / looks for k in range(looks)], 0.025)

    assert [float(stats.norm.isf(level)) for level in levels] == pytest.approx(bounds, abs=1e-3)


def test_all_of_alpha_is_spent_at_the_end_and_nearly_none_before() -> None:
    """A quarter of the data may spend less than a thousandth, all of it exactly alpha."""
    assert spending(0.05, 0.0) == 0.0
    assert spending(0.05, 0.25) < 1e-4
    assert spending(0.05, 1.0) == pytest.approx(0.05)


@settings(max_examples=8, deadline=None)
@given(st.sets(st.integers(1, 19), max_size=6))
def test_every_level_is_within_alpha_and_together_they_spend_it(looks: set[int]) -> None:
    """Whatever the spacing of the looks: the first spends what its time allows, none exceeds alpha, and by Bonferroni's
    inequality
    their sum is at least alpha."""
    times = [*(look / 20 for look in sorted(looks)), 1.0]

    levels = look_levels(times, 0.05)

    assert levels[0] == pytest.approx(spending(0.05, times[0]), rel=1e-6)
    assert all(0 < level <= 0.05 + 1e-6 for level in levels)
    assert sum(levels) >= 0.05 - 1e-6


def test_a_look_without_new_data_is_refused() -> None:
    """Looking twice at the same pairs has no second level."""
    with pytest.raises(InternalError, match="must rise"):
        look_levels([0.5, 0.5])


@pytest.mark.slow
def test_total_false_alarms_stay_within_alpha() -> None:
    """T6: 20,000 campaigns of 20 pairs without any effect, t-tested after 4, 6, .. 20 pairs (seed 2): no more than 5 % are
    stopped,
    give or take the simulation's own error; looking as often at plain 5 % stops more than twice as many."""
    rng = np.random.default_rng(2)
    looks = list(range(4, 21, 2))
    levels = look_levels([look / 20 for look in looks], 0.05)
    pairs = rng.normal(0, 1, (20_000, 20))
    stopped, naive = np.zeros(20_000, dtype=bool), np.zeros(20_000, dtype=bool)
    for look, level in zip(looks, levels, strict=True):
        seen = pairs[:, :look]
        p = stats.t.sf(seen.mean(axis=1) / (seen.std(axis=1, ddof=1) / look**0.5), look - 1)
        stopped |= p < level
        naive |= p < 0.05

    assert stopped.mean() <= 0.055
    assert naive.mean() > 0.11
