"""A plan is read in one screen: what runs, how long it takes, and what it can tell apart."""

import pytest

from specbench.plan.plan_table import plan_table
from specbench.plan.power import stated_prior
from specbench.plan.trials import cells_of, trials_of
from specbench.plan.variance import PairVariance
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.goldens import same_text
from tests.support.scenarios import CODE, code


def test_loads_stand_with_their_blocks_and_minutes_metrics_with_limit_and_detectable_change() -> None:
    """Under the prior all loads are alike, so that a column stands for all."""
    scenario = code(profile="standard")

    same_text("standard", plan_table(scenario, trials_of(scenario, cells_of(scenario)), stated_prior(scenario)))


def test_an_earlier_run_gives_each_load_a_column_and_marks_limits_within_its_noise() -> None:
    """It knew nothing of 4 streams."""
    scenario = code()
    spreads = PairVariance(
        {("c1", "tpot_p95"): 0.02, ("c16", "tpot_p95"): 0.2, ("c1", "output_tps"): 0.01}, "the pairs of run r1"
    )

    same_text("like a run", plan_table(scenario, trials_of(scenario, cells_of(scenario)), spreads))


@pytest.mark.parametrize(
    "settings",
    [
        (("matrix.concurrency", "[1, 2, 4, 8, 16, 32, 64, 128]"),),
        (("matrix.rate", "[0.25, 2.5]"),),
        (("matrix.traffic", "separate"),),
        (("matrix.schedule", "restart"), ("matrix.pairs", "100")),
    ],
)
def test_no_line_is_wider_than_80_columns(settings: tuple[tuple[str, str], ...]) -> None:
    """Whatever the matrix."""
    scenario = parse_scenario(CODE.read_text(), "code.yaml", Overrides(profile="full", settings=settings))
    lines = plan_table(scenario, trials_of(scenario, cells_of(scenario)), stated_prior(scenario)).splitlines()

    assert [line for line in lines if len(line) > 80] == []
    assert len([line for line in lines if " to " in line]) == len(cells_of(scenario)) + 1


def test_nothing_known_of_the_spread_is_said() -> None:
    """A pilot whose blocks were too short leaves the table of loads alone."""
    scenario = code()
    text = plan_table(scenario, trials_of(scenario, cells_of(scenario)), PairVariance({}, "the pilot r1"))

    assert "limit" not in text
    assert "pilot" in text
