"""How slow each block of a run is: its own noise, its place in the run, what ran before it, and the start of its engine."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from specbench.calibrate.worlds.setting import Behaviour, World
from specbench.model.scenario import ARMS
from specbench.plan.trials import Trial


def slowness_of(world: World, speculative: Behaviour, trials: Sequence[Trial], draw: Generator) -> dict[str, float]:
    """How many times as slow each block is, by its id, in the order in which the plan runs them."""
    launches = {(trial.arm, trial.launch): 0.0 for trial in trials}
    starts = {launch: draw.normal(0.0, world.start_sd) for launch in sorted(launches)}
    found = {}
    before: Trial | None = None
    for trial in trials:
        log = draw.normal(0.0, world.noise.block_sd) + world.noise.drift * trial.order / max(len(trials) - 1, 1)
        log += starts[trial.arm, trial.launch]
        slow, own = draw.random(2)
        if slow < world.slow_share:
            log += np.log(world.slow_factor)
        if trial.arm == ARMS[1] and own < speculative.slow_share:
            log += np.log(speculative.slow_factor)
        if before is not None and (before.cell, before.pair) == (trial.cell, trial.pair):
            log += np.log1p(world.second_block)
        if before is not None and trial.arm == ARMS[0] and before.arm == ARMS[1]:
            log += np.log1p(world.after_speculative)
        found[trial.block_id] = float(np.exp(log))
        before = trial
    return found


def step_ratio_in(arm: Behaviour, pair: int, pairs: int) -> float:
    """The ratio of an arm's steps in this pair: it goes evenly, in its logarithm, from the first one's to the last one's."""
    if arm.last_step_ratio is None:
        return arm.step_ratio
    return float(arm.step_ratio * (arm.last_step_ratio / arm.step_ratio) ** (pair / max(pairs - 1, 1)))
