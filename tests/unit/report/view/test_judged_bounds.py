"""The bounds that a finding was judged by."""

from dataclasses import replace

import pytest
from scipy.special import stdtrit

from specbench.report.view.judged_bounds import judged_bounds, one_sided_t
from tests.support.result_parts import a_comparison, a_finding


@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 3.7, 9, 19, 40, 5000])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95, 0.9987])
def test_the_quantile_is_students(probability: float, df: float) -> None:
    """To eight digits, by another implementation; degrees of freedom need not be whole."""
    assert one_sided_t(probability, df) == pytest.approx(float(stdtrit(df, probability)), rel=1e-8, abs=1e-8)


def test_without_a_finding_both_ends_are_one_sided_bounds() -> None:
    """0.8 with an error of 0.1 in its logarithm, 3 degrees of freedom: t = 2.3534 on either side."""
    low, high = judged_bounds(a_comparison("tpot_p50", 0.8, se=0.1), None, 0.05) or (None, None)

    assert low == pytest.approx(0.63225, abs=1e-5)
    assert high == pytest.approx(1.01226, abs=1e-5)


def test_the_end_that_decided_is_the_findings_own() -> None:
    """A pass rests on the upper end, here at 0.9; the other end is as far away on the other side: 0.64 ÷ 0.9."""
    comparison = a_comparison("tpot_p95", 0.8, se=0.1)
    finding = replace(a_finding(comparison, "c1"), upper=0.9)

    low, high = judged_bounds(comparison, finding, 0.05) or (None, None)

    assert high == 0.9
    assert low == pytest.approx(0.64 / 0.9)


def test_where_higher_is_better_the_lower_end_decided() -> None:
    """Of throughput the harmful end is the low one."""
    comparison = a_comparison("output_tps", 0.8, se=0.1)
    finding = replace(a_finding(comparison, "c1"), upper=0.7)

    low, high = judged_bounds(comparison, finding, 0.05) or (None, None)

    assert low == 0.7
    assert high == pytest.approx(0.64 / 0.7)


def test_an_end_with_a_larger_error_lies_farther_off() -> None:
    """A percentile of few requests may lie farther above than below."""
    comparison = replace(a_comparison("ttft_p95", 1.0, se=0.1), se_log_above=0.2)

    low, high = judged_bounds(comparison, None, 0.05) or (None, None)

    assert low is not None
    assert high == pytest.approx(1 / low**2)


def test_an_absolute_limit_is_no_ratio() -> None:
    """Its bound is in milliseconds and must not be taken for an end of the change."""
    comparison = a_comparison("tpot_p95", 0.8, se=0.1)
    finding = replace(a_finding(comparison, "c1"), slo=50.0, upper=41.0)

    assert judged_bounds(comparison, finding, 0.05) == judged_bounds(comparison, None, 0.05)


@pytest.mark.parametrize("nothing", [{"ratio": None}, {"se_log": None}, {"df": None}, {"df": 0}, {"ratio": 0.0}])
def test_without_a_ratio_or_an_error_there_are_no_bounds(nothing: dict[str, float | None]) -> None:
    """None, never a number that nobody measured."""
    assert judged_bounds(replace(a_comparison("tpot_p50", 0.8), **nothing), None, 0.05) is None  # type: ignore[arg-type]


def test_an_end_beyond_every_number_is_open() -> None:
    """Two pairs that disagree by much leave the upper end open."""
    low, high = judged_bounds(replace(a_comparison("tpot_p50", 1.0), se_log=400.0, df=1), None, 0.05) or (1.0, 1.0)

    assert high is None
    assert low == 0.0
