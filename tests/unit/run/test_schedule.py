"""Which half of a fleet drives which arm."""

from specbench.plan.trials import cells_of, trials_of
from specbench.run.schedule import lane_of
from tests.support.scenarios import code


def test_both_arms_of_a_pair_have_a_half_each_and_swap_them_from_pair_to_pair() -> None:
    """So that no arm has the better one; a pair that is measured again keeps its halves."""
    scenario = code(
        ("matrix.schedule", "simultaneous"), ("matrix.pairs", "3"), ("matrix.concurrency", "[4]"), ("matrix.primary", "4")
    )
    lanes = {(trial.pair, trial.arm): lane_of(trial) for trial in trials_of(scenario, cells_of(scenario))}

    assert [(lanes[pair, "baseline"], lanes[pair, "speculative"]) for pair in range(3)] == [(0, 1), (1, 0), (0, 1)]
