"""What a design can see: planned pairs do settle the question as often as they claim."""

import math

import numpy as np
import pytest

from specbench.analysis.stats.paired import detectable_effect, pairs_needed, t_quantile
from specbench.model.guardrails import BUDGET_PAIRS


def test_the_detectable_effect_of_ten_pairs() -> None:
    """(1.8331 + 0.8834) · 0.03: both from a table of t with 9 degrees of freedom."""
    assert detectable_effect(0.03, 9, 0.05) == pytest.approx((1.833113 + 0.883404) * 0.03, abs=1e-6)


def test_pairs_needed_shrink_with_the_distance_to_the_limit() -> None:
    """Twice as far takes about a quarter; at the limit itself nothing suffices."""
    assert pairs_needed(0.05, 0.02, 10, 0.05) == 12
    assert pairs_needed(0.025, 0.02, 10, 0.05) == 42
    assert pairs_needed(0.001, 0.02, 10, 0.05) is None
    assert pairs_needed(0.0, 0.02, 10, 0.05) is None
    assert pairs_needed(-0.1, 0.02, 10, 0.05) is None


def test_more_pairs_than_there_were_are_named() -> None:
    """What these pairs could not settle is never said to need fewer."""
    assert pairs_needed(1.0, 0.02, 10, 0.05) == 11
    assert pairs_needed(1.0, 0.02, BUDGET_PAIRS, 0.05) is None


def test_the_named_number_of_pairs_passes_in_four_of_five_runs() -> None:
    """Simulated: a true ratio of 1.05 against a limit of 1.10, pairs with a spread of 0.063; Monte-Carlo error 1.3 points."""
    gap, spread = math.log(1.10) - math.log(1.05), 0.063
    needed = pairs_needed(gap, spread / math.sqrt(4), 4, 0.05)
    assert needed is not None

    draws = np.random.default_rng(5).normal(math.log(1.05), spread, (1000, needed))
    reach = t_quantile(0.95, needed - 1) * draws.std(axis=1, ddof=1) / math.sqrt(needed)
    passed = (draws.mean(axis=1) + reach < math.log(1.10)).mean()

    assert 0.77 < passed < 0.86
