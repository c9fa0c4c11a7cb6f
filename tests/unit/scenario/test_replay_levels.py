"""Loads of replayed arrivals are called by their speed, and become rates once the trace's mean rate is known."""

from typing import Any

import pytest

from specbench.errors import ScenarioError
from specbench.plan.trials import cells_of
from specbench.scenario.parse import Overrides, parse_scenario

TEXT = """
name: replayed
arms:
  baseline: {engine: embedded}
  speculative: {engine: embedded, speculative: {method: draft_model, num_speculative_tokens: 4}}
workload:
  source: {dataset: log.jsonl}
  bins: [{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}]
matrix:
  arrivals: replay
  replay: {speed: [2, 1]}
  concurrency: [4]
  primary: x1
  optional: [x2]
guardrails: [{metric: ttft_p95, worse_by_at_most: 20%, cells: [x1]}]
"""


def replayed(rate: float, *settings: tuple[str, str]) -> Any:
    """The scenario with this mean rate."""
    return parse_scenario(TEXT, "replayed.yaml", Overrides(settings=settings), rate)


def test_speeds_are_rate_cells_of_the_mean_rate() -> None:
    """Ranges, caps and guardrails know them as rates; reports by their speed."""
    asked = replayed(2.5)

    assert asked.matrix.rate == (2.5, 5.0)
    assert (asked.matrix.primary, asked.matrix.optional, asked.matrix.gain_by_rate) == (2.5, (5.0,), True)
    assert [cell.id for cell in cells_of(asked)] == ["c4", "x1", "x2"]
    assert next(rule.cells for rule in asked.guardrails if rule.metric == "ttft_p95") == (2.5,)


def test_a_mean_rate_with_many_digits_keeps_its_speeds() -> None:
    """One request each 0.7 s, one and three times as fast."""
    asked = replayed(1 / 0.7, ("matrix.replay.speed", "[1, 3]"), ("matrix.optional", "[]"))

    assert asked.matrix.rate == (1.42857, 4.28571)
    assert [cell.id for cell in cells_of(asked)] == ["c4", "x1", "x3"]


DRAWN = (("matrix.arrivals", "poisson"), ("matrix.primary", "4"), ("matrix.optional", "[]"), ("guardrails", "[]"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((("matrix.replay.speed", "[0]"),), "matrix.replay.speed[0]: must be greater than 0"),
        ((("matrix.primary", "x3"),), "matrix.primary: 3 is not a configured level"),
        (DRAWN, "matrix.replay: says how arrivals are replayed"),
        ((("workload.source", "{corpus: python}"),), "replay needs the moments of a dataset"),
        ((("matrix.in_flight", "0"),), "matrix.in_flight: must be greater than or equal to 1"),
    ],
)
def test_what_cannot_be_replayed_is_one_line(settings: tuple[tuple[str, str], ...], said: str) -> None:
    """With the key."""
    with pytest.raises(ScenarioError) as refused:
        replayed(1.0, *settings)

    assert said in str(refused.value)
