"""The harm scale and Holm's adjustment, against values worked by hand and against statsmodels."""

import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from specbench.analysis.comparison.harm_scale import against_baseline, against_limit, limit_of
from specbench.analysis.stats.alpha_spending import holm
from specbench.analysis.stats.paired import finite_exp
from specbench.model.result import PerArm
from tests.support.judging import a_comparison, a_guardrail


def test_harm_is_positive_whichever_way_is_better() -> None:
    """Twice the latency, half the throughput, and twice or half the length are all a harm of log 2."""
    worse = [a_comparison("tpot_p95", 2.0), a_comparison("output_tps", 0.5)]
    moved = [a_comparison("output_length", 2.0), a_comparison("output_length", 0.5)]

    for comparison in (*worse, *moved):
        inference = against_baseline(comparison)
        assert inference is not None
        assert inference.theta == pytest.approx(math.log(2))
        assert inference.ratio_at(inference.theta) == pytest.approx(comparison.ratio)


def test_the_limit_is_the_margin_or_the_floor_whichever_is_wider() -> None:
    """20 ms on 100 ms is 20 %, wider than 15 %; on 400 ms it is 5 %."""
    rule = a_guardrail("ttft_p95", 0.15, floor=20.0)

    assert limit_of(rule, a_comparison("ttft_p95", baseline=100.0)) == pytest.approx(math.log(1.20))
    assert limit_of(rule, a_comparison("ttft_p95", baseline=400.0)) == pytest.approx(math.log(1.15))
    assert limit_of(a_guardrail("output_tps", 0.05), a_comparison("output_tps")) == pytest.approx(-math.log(0.95))
    assert limit_of(a_guardrail(slo=5.0), a_comparison()) is None


def test_an_absolute_limit_gives_back_the_bound_it_was_made_from() -> None:
    """The bound of the value is the one-sided end of the inference: value · exp(t · se)."""
    comparison = a_comparison("ttft_p95", value=PerArm(None, 150.0), bound=PerArm(None, 180.0))

    inference = against_limit(comparison, 200.0, 10)

    assert inference is not None
    assert inference.ratio_at(inference.theta) == pytest.approx(150.0 / 200.0)
    assert inference.ratio_at(inference.most(0.05)) == pytest.approx(180.0 / 200.0)


@pytest.mark.parametrize(("value", "bound"), [(None, 1.0), (1.0, None), (0.0, 1.0), (1.0, 0.0)])
def test_no_inference_against_a_limit_without_positive_numbers(value: float | None, bound: float | None) -> None:
    """A logarithm of nothing is nothing."""
    comparison = a_comparison("ttft_p95", value=PerArm(None, value), bound=PerArm(None, bound))

    assert against_limit(comparison, 200.0, 10) is None
    assert against_limit(a_comparison("ttft_p95", bound=PerArm(None, 25.0)), 200.0, 1) is None


def test_a_ratio_beyond_every_number_is_none() -> None:
    """e to the 700 is a number, e to the 710 is not; toward 0 the end is 0."""
    inference = against_baseline(a_comparison(ratio=1.0))

    assert (finite_exp(0.0), finite_exp(710.0), finite_exp(math.inf), finite_exp(math.nan)) == (1.0, None, None, None)
    assert finite_exp(-1e4) == 0.0
    assert inference is not None
    assert (inference.ratio_at(1e4), inference.margin_at(1e4), inference.margin_at(-1e4)) == (None, None, 0.0)


def test_holm_on_a_textbook_case() -> None:
    """0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()


def test_holm_agrees_with_statsmodels() -> None:
    """To the last digits, ties and all, on 40 families of up to 30 tests."""
    draw = np.random.default_rng(3)
    for size in draw.integers(1, 30, 40):
        p_values = draw.choice([0.0, 0.01, 0.05, 0.2, 1.0, *draw.random(20)], size)
        assert np.allclose(holm(p_values.tolist()), multipletests(p_values, method="holm")[1], atol=1e-12)
