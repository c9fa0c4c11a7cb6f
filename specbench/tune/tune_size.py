"""How many starts and blocks a tune takes, and how long: before it begins, and once its first start was measured. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.analysis.selection import LEAST_SERIES
from specbench.model.scenario import Scenario
from specbench.model.tuning.tune_values import Candidate, TuneRules
from specbench.tune.predictions import screen_of
from specbench.units import S_PER_MIN

ASSUMED_START_S = 120.0  # until the engine serves; a large model on vLLM takes twice that


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneSize:
    """Starts and blocks from the fewest series to the most, and the minutes of both; `start_s` is of one start alone."""

    candidates: int
    starts: tuple[int, int]
    blocks: tuple[int, int]
    minutes: tuple[float, float]
    start_s: float


def starts_of(candidates: Sequence[Candidate], rules: TuneRules) -> tuple[int, int]:
    """The fewest starts and the most, the screen's among them; of many candidates it may leave one."""
    probes = screen_of(candidates, rules.metric)
    screen, left = (0, len(candidates)) if probes is None else (1 + len(probes), 1)
    return screen + (1 + left) * LEAST_SERIES, screen + (1 + len(candidates)) * rules.series


def tune_size(
    scenario: Scenario, candidates: Sequence[Candidate], rules: TuneRules, start_s: float = ASSUMED_START_S
) -> TuneSize:
    """The size of a tune of these candidates, where each block takes its least time and every load is measured to the end."""
    block, loads = scenario.matrix.block, len(scenario.matrix.concurrency)
    starts = starts_of(candidates, rules)
    each = loads * rules.blocks
    seconds = start_s + each * (block.min_s + block.ramp_s / 2)
    return TuneSize(
        candidates=len(candidates),
        starts=starts,
        blocks=(starts[0] * each, starts[1] * each),
        minutes=(starts[0] * seconds / S_PER_MIN, starts[1] * seconds / S_PER_MIN),
        start_s=start_s,
    )
