"""How slow each block of a run is."""

from dataclasses import replace

import numpy as np
import pytest

from specbench.calibrate.simulators import NoiseModel, random_of
from specbench.calibrate.worlds.courses import slowness_of, step_ratio_in
from specbench.calibrate.worlds.setting import EQUAL, Behaviour, World
from specbench.model.records import Cell
from specbench.model.scenario import ArmName
from specbench.plan.trials import Trial

STILL = World(noise=NoiseModel(block_sd=0.0))


def a_block(order: int, pair: int, arm: ArmName, cell: str = "c1", launch: int = 0) -> Trial:
    """One block of the plan."""
    where = Cell(id=cell, concurrency=1, rate=None, bin=None, sampling=None, required=True, traffic_share=None)
    return Trial(order=order, cell=where, pair=pair, arm=arm, launch=launch)


# Baseline, speculative; speculative, baseline; and a pair of another cell that begins with the baseline.
PLAN = (
    a_block(0, 0, "baseline"),
    a_block(1, 0, "speculative"),
    a_block(2, 1, "speculative"),
    a_block(3, 1, "baseline"),
    a_block(4, 0, "baseline", "c8"),
    a_block(5, 0, "speculative", "c8"),
)


def course(world: World, arm: Behaviour = EQUAL) -> list[float]:
    """How slow each block of PLAN is, in its order."""
    found = slowness_of(world, arm, PLAN, random_of(1, "course"))
    return [round(found[trial.block_id], 3) for trial in PLAN]


def test_without_noise_every_block_is_alike() -> None:
    """Nothing else slows it."""
    assert course(STILL) == [1.0] * 6


def test_the_second_block_of_a_pair_is_slower_whichever_its_arm() -> None:
    """The second of each pair, also where the arms have changed places."""
    assert course(replace(STILL, second_block=0.1)) == [1.0, 1.1, 1.0, 1.1, 1.0, 1.1]


def test_a_baseline_block_is_slower_after_the_other_arm() -> None:
    """After another block of its own arm it is not, in whichever cell that was."""
    assert course(replace(STILL, after_speculative=0.15)) == [1.0, 1.0, 1.0, 1.15, 1.0, 1.0]


def test_drift_goes_evenly_over_the_run() -> None:
    """From the first block to the last."""
    drifting = replace(STILL, noise=NoiseModel(block_sd=0.0, drift=0.5))

    assert np.log(course(drifting)) == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], abs=0.001)


def test_slow_blocks_are_a_share_of_all_or_of_one_arm() -> None:
    """All of them, or those of the speculative arm."""
    assert course(replace(STILL, slow_share=1.0, slow_factor=3.0)) == [3.0] * 6
    assert course(STILL, Behaviour(slow_share=1.0, slow_factor=2.0)) == [1.0, 2.0, 2.0, 1.0, 1.0, 2.0]


def test_an_engine_that_started_once_has_one_speed() -> None:
    """All blocks of an arm share it; with a start for each pair each pair has its own."""
    once = course(replace(STILL, start_sd=0.05))
    assert once[0] == once[3] == once[4] != once[1] == once[2] == once[5]

    plan = [a_block(2 * pair, pair, "baseline", launch=pair) for pair in range(4)]
    restarted = slowness_of(replace(STILL, start_sd=0.05), EQUAL, plan, random_of(1, "course"))
    assert len(set(restarted.values())) == 4


def test_a_gain_that_fades_goes_evenly_from_the_first_pair_to_the_last() -> None:
    """0.64 and 1.0 have 0.8 in the middle."""
    fading = Behaviour(step_ratio=0.64, last_step_ratio=1.0)

    assert [round(step_ratio_in(fading, pair, 3), 3) for pair in range(3)] == [0.64, 0.8, 1.0]
    assert step_ratio_in(Behaviour(step_ratio=0.7), 2, 3) == 0.7
