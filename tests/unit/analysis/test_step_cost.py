"""What a step costs by its tokens and its depth: recovered from lines, and held to the engine's roofline."""

from dataclasses import replace
from statistics import median

import pytest

from specbench.analysis.step_cost import StepPoint, fitted, points_of, ratio_at
from specbench.engine.core.setup import machine_of
from specbench.engine.options import speculation_of
from specbench.engine.timing.roofline import Part, step_s
from specbench.model.result import CellCoordinates, Factors, PerArm
from tests.support.result_parts import a_cell


def test_a_straight_cost_is_found_exactly() -> None:
    # V = 10 + 0.5 per token, D = 2 per depth: loads 1, 4 and 8 at depths 0 and 4.
    points = [StepPoint(c * (1 + d), d, 10 + 0.5 * c * (1 + d) + 2 * d) for c in (1, 4, 8) for d in (0, 4)]
    cost = fitted(points)
    assert cost is not None
    assert cost.depth_ms == pytest.approx(2.0)
    assert cost.step_ms(12, 2) == pytest.approx(10 + 6 + 4)


def test_nothing_is_known_past_the_largest_step() -> None:
    cost = fitted([StepPoint(c * (1 + d), d, 10 + c * (1 + d) + d) for c in (1, 4) for d in (0, 2)])
    assert cost is not None
    assert cost.step_ms(12.1, 2) is None


def test_one_load_cannot_tell_drafting_from_verifying() -> None:
    assert fitted([StepPoint(1, 0, 10.0), StepPoint(5, 4, 14.0)]) is None


def test_without_drafts_there_is_no_cost_of_depth() -> None:
    assert fitted([StepPoint(c, 0, 10.0 + c) for c in (1, 2, 4, 8)]) is None


def test_the_cost_of_verifying_never_falls() -> None:
    points = [StepPoint(1, 0, 12.0), StepPoint(2, 0, 11.0), StepPoint(3, 2, 13.0), StepPoint(6, 2, 12.0), StepPoint(8, 0, 14.0)]
    cost = fitted(points)
    assert cost is not None
    assert list(cost.base_ms) == sorted(cost.base_ms)


@pytest.mark.parametrize("run", [3, 4, 8])
def test_steps_of_the_roofline_at_other_depths_are_predicted_within_4_percent_in_the_median(run: int) -> None:
    loads = (1, 4, 16)
    cost = fitted([StepPoint(load * (1 + d), d, step_ms(load, d)) for load in loads for d in (0, run)])
    assert cost is not None
    found = [
        abs(predicted / step_ms(load, depth) - 1)
        for load in loads
        for depth in (1, 2, 3, 4, 5, 8)
        if (predicted := cost.step_ms(load * (1 + depth), depth)) is not None
    ]
    assert median(found) < 0.04
    assert max(found) < 0.15


def test_a_ratio_at_another_depth_starts_from_the_measured_one() -> None:
    cell = replace(
        a_cell(4, 0.6),
        axes=CellCoordinates(concurrency=4, rate=None, bin=None, sampling=None, running_mean=PerArm(None, None)),
        factors=Factors(
            step_ms=PerArm(12.0, 20.0),
            step_ratio=20 / 12,
            tokens_per_step=PerArm(1.0, 3.0),
            tpot_ratio=0.6,
            residual=0.08,
            break_even=20 / 12,
        ),
    )
    cost = fitted([StepPoint(c * (1 + d), d, 10 + 0.5 * c * (1 + d) + d) for c in (1, 4, 8) for d in (0, 4)])
    assert cost is not None
    here, there = 10 + 0.5 * 20 + 4, 10 + 0.5 * 12 + 2
    assert ratio_at(cost, cell, (4, 3.0), (2, 2.4)) == pytest.approx(0.6 * (there / 2.4) / (here / 3.0))
    assert [(point.verified, point.depth, point.step_ms) for point in points_of([cell], 4)] == [(4, 0, 12.0), (20, 4, 20.0)]


def step_ms(streams: int, depth: int) -> float:
    """A step of the embedded engine's machine with a draft model, 150 tokens of context each."""
    speculation = speculation_of({"method": "draft_model", "num_speculative_tokens": depth}) if depth else None
    part = Part(tokens=1 + depth, context=150, logits=1 + depth, drafts=depth, proposes=depth > 0)
    return 1000 * step_s(machine_of(speculation), [part] * streams)
