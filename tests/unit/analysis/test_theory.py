"""The model of the gain: formulas, their inverses, and what was quoted."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.comparison.compare import cell_comparisons
from specbench.analysis.theory import best_gamma, crossing, expected_tokens, factors_of, gain_ends, speed_up, theory_of
from specbench.model.result import AcceptanceSummary, Factors, PerArm
from tests.support.records import a_record, blocks_of

SUMMARY = AcceptanceSummary(
    length=3.0,
    length_low=2.9,
    length_high=3.1,
    rate=0.5,
    alpha=0.8,
    per_position=(0.8, 0.6, 0.4, 0.2),
    conditional=(0.8, 0.75, 0.67, 0.5),
    rejection_frequency=0.8,
    rounds=100,
    source="per-request counts",
    reason=None,
)
FACTORS = Factors(
    step_ms=PerArm(10.0, 14.0),
    step_ratio=1.4,
    tokens_per_step=PerArm(1.0, 3.0),
    tpot_ratio=0.5,
    residual=0.07,
    break_even=1.4,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A speed-up as quoted by a source: quoted, not as fact. `cost` is draft parameters ÷ target parameters (70 billion)."""

    task: str
    draft: str
    gamma: int
    cost: float
    alpha: float | None
    speed_up: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What the model says of a quotation: at a draft cost by parameter count, at no cost, and what the quotation implies."""

    quotation: Quotation
    expected_tokens: float | None
    speed_up: float | None
    ceiling: float | None
    implied_cost: float | None
    implied_alpha: float | None


GUIDE = "a guide to serving with speculative decoding"
PAPER = "arXiv 2302.01318, as far as known"
QUOTED: tuple[Quotation, ...] = (
    Quotation(task="XSum", draft="7B", gamma=5, cost=0.100, alpha=0.72, speed_up=2.5, source=GUIDE),
    Quotation(task="HumanEval", draft="7B", gamma=5, cost=0.100, alpha=0.85, speed_up=3.5, source=GUIDE),
    Quotation(task="WMT", draft="4B", gamma=5, cost=0.057, alpha=0.65, speed_up=2.1, source=GUIDE),
    Quotation(task="XSum", draft="4B", gamma=4, cost=0.057, alpha=None, speed_up=1.95, source=PAPER),
    Quotation(task="HumanEval", draft="4B", gamma=4, cost=0.057, alpha=None, speed_up=2.5, source=PAPER),
)


def predicted(quotation: Quotation) -> Prediction:
    """The quotation beside what the model predicts from its alpha; the alpha that it implies at a cost by parameter count."""
    alpha, gamma = quotation.alpha, quotation.gamma
    return Prediction(
        quotation=quotation,
        expected_tokens=None if alpha is None else expected_tokens(alpha, gamma),
        speed_up=None if alpha is None else speed_up(alpha, gamma, quotation.cost),
        ceiling=None if alpha is None else speed_up(alpha, gamma, 0.0),
        implied_cost=None if alpha is None else implied_cost(alpha, gamma, quotation.speed_up),
        implied_alpha=implied_alpha(quotation.speed_up * (1 + gamma * quotation.cost), gamma),
    )


def implied_alpha(tokens: float, gamma: int) -> float | None:
    """The alpha at which a round of this depth is expected to bring so many tokens; None outside [1, gamma + 1]."""
    if gamma < 1 or not 1 <= tokens <= gamma + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(60):  # halves to the last bit of a double
        middle = (low + high) / 2
        low, high = (middle, high) if expected_tokens(middle, gamma) < tokens else (low, middle)
    return (low + high) / 2


def implied_cost(alpha: float, gamma: int, gain: float) -> float:
    """The draft cost at which the model would predict this speed-up; below 0 where even free drafts could not explain it."""
    return (expected_tokens(alpha, gamma) / gain - 1) / gamma


@pytest.mark.parametrize(
    ("alpha", "gamma", "tokens"), [(0.0, 5, 1.0), (1.0, 5, 6.0), (0.5, 1, 1.5), (0.8, 4, 3.3616), (0.72, 5, 3.0739)]
)
def test_expected_tokens_of_a_round(alpha: float, gamma: int, tokens: float) -> None:
    """(1 - alpha^(gamma + 1)) ÷ (1 - alpha), with the bonus token; gamma + 1 where everything is accepted."""
    assert expected_tokens(alpha, gamma) == pytest.approx(tokens, abs=5e-5)


@given(st.floats(0, 0.99), st.integers(1, 8))
def test_expected_tokens_are_what_independent_acceptance_brings(alpha: float, gamma: int) -> None:
    """One for the round itself, and alpha^i for each position i."""
    assert expected_tokens(alpha, gamma) == pytest.approx(1 + sum(alpha**i for i in range(1, gamma + 1)), rel=1e-9)


def test_simulated_rounds_bring_as_many_tokens() -> None:
    """50,000 rounds of four drafts accepted with .7 each (seed 1) average the formula within four standard errors."""
    accepted = np.cumprod(np.random.default_rng(1).random((50_000, 4)) < 0.7, axis=1).sum(axis=1)

    assert 1 + accepted.mean() == pytest.approx(expected_tokens(0.7, 4), abs=4 * accepted.std() / sqrt(50_000))


@given(st.floats(0.05, 0.98), st.integers(1, 8))
def test_alpha_can_be_read_back_from_tokens(alpha: float, gamma: int) -> None:
    """The inverse of the formula, to the last digits."""
    assert implied_alpha(expected_tokens(alpha, gamma), gamma) == pytest.approx(alpha, abs=1e-9)


def test_tokens_that_no_alpha_brings_have_none() -> None:
    """Fewer than one token a round, or more than gamma + 1, lie outside the model."""
    assert implied_alpha(0.9, 4) is None
    assert implied_alpha(5.1, 4) is None


def test_speed_up_pays_for_its_drafts() -> None:
    """Four free drafts at .8 are 3.36 times as fast; at a tenth of a target pass each, 2.40 times."""
    assert speed_up(0.8, 4, 0.0) == pytest.approx(3.3616)
    assert speed_up(0.8, 4, 0.1) == pytest.approx(3.3616 / 1.4)
    assert implied_cost(0.8, 4, speed_up(0.8, 4, 0.1)) == pytest.approx(0.1)


@given(st.floats(0, 0.95), st.floats(0.001, 1.5))
def test_no_depth_beats_the_best_one(alpha: float, cost: float) -> None:
    """The best depth is at least as fast as any other, not drafting included."""
    best = best_gamma(alpha, cost)

    assert all(speed_up(alpha, best, cost) >= speed_up(alpha, gamma, cost) for gamma in range(17))
    assert (best == 0) is all(speed_up(alpha, gamma, cost) <= 1 for gamma in range(1, 17))


def test_the_load_at_which_the_gain_ends_lies_between_cells() -> None:
    """A ratio of .5 at 4 streams and 2 at 16: linear in logarithms, it crosses 1 at 8."""
    assert gain_ends([(1.0, 0.4), (4.0, 0.5), (16.0, 2.0)]) == pytest.approx(8.0)
    assert gain_ends([(1.0, 0.4), (4.0, 0.5)]) is None
    assert gain_ends([(1.0, 1.2), (4.0, 1.5)]) == 1.0
    assert gain_ends([(2.0, 1.1)]) == 2.0
    assert gain_ends([]) is None


def test_the_crossing_lies_between_the_loads_where_the_ratio_passes_one() -> None:
    """On logarithmic axes: from 0.5 at 1 to 2 at 16 it passes 1 at 4, and back; without a change of side, nowhere."""
    assert crossing([(1, 0.5), (16, 2.0)]) == crossing([(1, 2.0), (16, 0.5)]) == pytest.approx(4.0)
    assert crossing([(1, 0.5), (16, 0.9)]) is None
    assert crossing([(1, 2.0)]) is None


def test_a_cell_shows_prediction_and_measurement_side_by_side() -> None:
    """Alpha .8, gamma 4, steps 1.4 times as long: 3.36 tokens and 2.40 times as fast predicted, 3.0 and 2.0 measured."""
    told = theory_of(SUMMARY, FACTORS, 4)

    assert told["expected_tokens_per_round"] == pytest.approx(3.3616)
    assert told["measured_tokens_per_round"] == 3.0
    assert told["effective_draft_cost"] == pytest.approx(0.1)
    assert told["expected_speed_up"] == pytest.approx(3.3616 / 1.4)
    assert told["measured_speed_up"] == 2.0
    assert told["best_gamma"] == best_gamma(0.8, 0.1)


def test_a_cell_without_counts_shows_no_prediction() -> None:
    """Without alpha or depth there is nothing to predict, and nothing is made up."""
    told = theory_of(replace(SUMMARY, alpha=None, per_position=None), FACTORS, None)

    assert [name for name, value in told.items() if value is not None] == ["measured_tokens_per_round", "measured_speed_up"]


def test_quotations_stand_beside_what_the_model_says() -> None:
    """The guide's three figures lie between a cost by parameter count and no cost at all: possible, and optimistic."""
    rows = {(row.quotation.task, row.quotation.draft, row.quotation.gamma): row for row in map(predicted, QUOTED)}

    xsum, code, wmt = rows["XSum", "7B", 5], rows["HumanEval", "7B", 5], rows["WMT", "4B", 5]
    assert (xsum.speed_up, code.speed_up, wmt.speed_up) == pytest.approx((2.049, 2.768, 2.056), abs=1e-3)
    assert (xsum.ceiling, code.ceiling, wmt.ceiling) == pytest.approx((3.074, 4.152, 2.642), abs=1e-3)
    for row in (xsum, code, wmt):
        assert row.speed_up is not None
        assert row.ceiling is not None
        assert row.speed_up < row.quotation.speed_up < row.ceiling


def test_a_quotation_without_alpha_implies_one() -> None:
    """The paper's speed-ups say no alpha; at a draft cost by parameter count they need .62 and .75."""
    implied = [row.implied_alpha for row in map(predicted, QUOTED) if row.quotation.alpha is None]

    assert implied == pytest.approx([0.621, 0.753], abs=1e-3)


def test_the_two_factors_explain_the_ratio() -> None:
    """Steps 1.5 times as long that bring 3 tokens halve the time per token: 15 ÷ 10 ÷ 3."""
    baseline = blocks_of("baseline", [[a_record([10.0 * i for i in range(1, 31)])]] * 3)
    steps = [[a_record([15.0 * i for i in range(1, 12)], [1] + [3] * 10)]] * 3
    speculative = blocks_of("speculative", steps, speculates=True)

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
