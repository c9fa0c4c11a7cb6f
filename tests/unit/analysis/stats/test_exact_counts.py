"""Exact tests of few events, against values from tables and by counting."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.stats.exact_counts import at_least_by_chance, mcnemar, paired_excess_bound


@pytest.mark.parametrize(("hits", "judged", "share"), [(0, 10, 0.3), (3, 10, 0.3), (8, 256, 0.01), (10, 10, 0.5), (11, 10, 0.5)])
def test_a_binomial_tail_is_the_sum_of_its_terms(hits: int, judged: int, share: float) -> None:
    """P(X ≥ hits), term by term."""
    by_terms = sum(comb(judged, k) * share**k * (1 - share) ** (judged - k) for k in range(hits, judged + 1))

    assert at_least_by_chance(hits, judged, share) == pytest.approx(by_terms, abs=1e-12)


@pytest.mark.parametrize(
    ("only_speculative", "only_baseline", "exact", "middle"),
    [(0, 0, 1.0, 1.0), (4, 0, 0.0625, 0.03125), (5, 0, 0.03125, 0.015625), (8, 5, 0.29053, 0.211975), (0, 4, 1.0, 0.96875)],
)
def test_mcnemar(only_speculative: int, only_baseline: int, exact: float, middle: float) -> None:
    """One-sided; the mid-p leaves out half of the probability of what was seen."""
    assert mcnemar(only_speculative, only_baseline) == pytest.approx(exact, abs=1e-5)
    assert mcnemar(only_speculative, only_baseline, mid_p=True) == pytest.approx(middle, abs=1e-5)


@pytest.mark.parametrize(
    ("only_speculative", "only_baseline", "prompts", "high"),
    [(0, 0, 150, 0.01977), (0, 0, 148, 0.02004), (14, 0, 300, 0.071994), (0, 0, 0, 1.0), (0, 20, 300, 0.0)],
)
def test_the_bound_of_an_excess(only_speculative: int, only_baseline: int, prompts: int, high: float) -> None:
    """With none in the baseline alone it is the exact bound of one share."""
    if only_baseline:
        assert paired_excess_bound(only_speculative, only_baseline, prompts, 0.05) < high
    else:
        assert paired_excess_bound(only_speculative, only_baseline, prompts, 0.05) == pytest.approx(high, abs=1e-5)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 400))
def test_the_bound_lies_above_the_excess_and_grows_with_it(only_speculative: int, only_baseline: int, more: int) -> None:
    """One more event in the speculative arm alone never lowers it."""
    prompts = only_speculative + only_baseline + more
    bound = paired_excess_bound(only_speculative, only_baseline, prompts, 0.05)

    assert (only_speculative - only_baseline) / prompts <= bound <= 1.0 + 1e-9
    assert bound <= paired_excess_bound(only_speculative + 1, only_baseline, prompts, 0.05) + 1e-9


def test_the_bound_holds_in_nineteen_of_twenty_samples() -> None:
    """Drawn from shares of 3 % in either arm alone: an excess of 0 lies below the bound nearly always."""
    import numpy as np

    drawn = np.random.default_rng(1).multinomial(300, [0.03, 0.03, 0.94], size=2000)
    covered = [paired_excess_bound(int(b), int(c), 300, 0.05) >= 0.0 for b, c, _ in drawn]

    assert sum(covered) / len(covered) >= 0.95
