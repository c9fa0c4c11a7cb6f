"""Where a series changed its level: steps are found where they are, noise is not."""

from math import log

import numpy as np
import pytest

from specbench.analysis.stats.change_points import change_points

NOISE = (0.3, -0.4, 0.6, -0.1, -0.6, 0.2, 0.5, -0.3, 0.1, -0.5, 0.4, -0.2)


def steps(*levels: float, noise: float = 0.01) -> np.ndarray:
    """Logs of these levels, each with a noise of its own."""
    return np.array([log(level) + noise * NOISE[place % 12] for place, level in enumerate(levels)])


def test_a_step_is_found_where_it_is_with_both_levels() -> None:
    """Six values, then six that are 12 % higher."""
    (found,) = change_points(steps(*[1.0] * 6, *[1.12] * 6, noise=0.0))

    assert found.at == 6
    assert found.before == pytest.approx(0.0)
    assert found.after == pytest.approx(log(1.12))
    assert found.ratio == pytest.approx(1.12)
    assert found.p < 0.01  # 2 of 924 orders are as clear


@pytest.mark.parametrize(("first", "after"), [(3, 9), (6, 6), (9, 3), (5, 7)])
def test_a_step_need_not_be_in_the_middle(first: int, after: int) -> None:
    """Three values on a side suffice among twelve, also where the level falls."""
    assert [one.at for one in change_points(steps(*[1.0] * first, *[0.9] * after))] == [first]


def test_two_steps_are_two_changes() -> None:
    """Each with the level between them."""
    found = change_points(steps(*[1.0] * 10, *[1.2] * 10, *[1.5] * 10))

    assert [one.at for one in found] == [10, 20]
    assert found[0].after == found[1].before == pytest.approx(log(1.2), abs=0.01)


@pytest.mark.parametrize(
    "logs",
    [
        pytest.param(steps(*[0.5] * 12, noise=0.0), id="one value"),
        pytest.param(steps(*[0.5] * 12), id="noise"),
        pytest.param(steps(*[1.0] * 6, *[1.02] * 6, noise=0.0), id="a step of 2 %"),
        pytest.param(steps(*[1.0] * 3, *[2.0] * 4), id="seven values"),
        pytest.param(steps(*[1.0] * 10, *[2.0] * 2), id="two after the step"),
        pytest.param(steps(*[1.0] * 4, *[2.0] * 4), id="eight, of which two of seventy orders are as clear"),
        pytest.param(np.array([]), id="none"),
    ],
)
def test_nothing_is_found_where_nothing_is_shown(logs: np.ndarray) -> None:
    """Noise, steps that are too small, too few values."""
    assert change_points(logs) == ()


def test_ten_values_are_the_fewest_in_which_a_step_in_the_middle_is_rare_enough() -> None:
    """Of ten 2 orders in 252 are as clear, of nine 2 in 126."""
    assert [one.at for one in change_points(steps(*[1.0] * 5, *[1.5] * 5))] == [5]
    assert change_points(steps(*[1.0] * 4, *[1.5] * 5)) == ()


def test_of_unchanged_series_hardly_one_in_a_hundred_is_named() -> None:
    """Noise of 10 %, so that steps of 3 % are common: the permutation alone must refuse them."""
    rng = np.random.default_rng(7)
    named = sum(bool(change_points(rng.normal(0, 0.1, 12))) for _ in range(300))

    assert named <= 9  # 3 expected; 10 or more in 1 of 1,000 such tests


def test_the_same_series_always_has_the_same_answer() -> None:
    """The orders come from a seed."""
    logs = steps(*[1.0] * 6, *[1.1] * 6, noise=0.05)

    assert change_points(logs) == change_points(logs)
