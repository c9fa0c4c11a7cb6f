"""TPOT's ratio taken apart: the cost of a step, and the tokens that it brings."""

import pytest

from specbench.analysis.compare import cell_comparisons
from specbench.analysis.factors import factors_of
from tests.support.records import a_record, blocks_of


def test_the_two_factors_explain_the_ratio() -> None:
    """Steps 1.5 times as long that bring 3 tokens halve the time per token: 15 ÷ 10 ÷ 3."""
    baseline = blocks_of("baseline", [[a_record([10.0 * i for i in range(1, 31)])]] * 3)
    speculative = blocks_of("speculative", [[a_record([15.0 * i for i in range(1, 12)], [1] + [3] * 10)]] * 3)

    factors = factors_of(cell_comparisons(baseline, speculative))

    assert (factors.step_ms.baseline, factors.step_ms.speculative) == pytest.approx((10.0, 15.0))
    assert factors.step_ratio == pytest.approx(1.5)
    assert (factors.tokens_per_step.baseline, factors.tokens_per_step.speculative) == pytest.approx((1.0, 3.0))
    assert factors.tpot_ratio == pytest.approx(0.5)
    assert factors.residual == pytest.approx(0.0, abs=1e-9)
    assert factors.break_even == pytest.approx(1.5)


def test_what_was_not_measured_has_no_factor() -> None:
    """Without token counts the step ratio stands alone: nothing is made up for the rest."""
    plain = [a_record([10.0 * i for i in range(1, 5)], token_source="events")]
    factors = factors_of(cell_comparisons(blocks_of("baseline", [plain] * 2), blocks_of("speculative", [plain] * 2)))

    assert factors.step_ratio == 1.0
    assert (factors.tokens_per_step.speculative, factors.residual, factors.break_even) == (None, None, None)
    assert factors_of([]).step_ratio is None
