"""How many starts and blocks a tune takes, and how long: before it begins, and once its first start was measured. Pure."""

from dataclasses import dataclass

from specbench.analysis.selection import LEAST_SERIES
from specbench.model.scenario import Scenario
from specbench.model.tuning.tune_values import TuneRules
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


def tune_size(scenario: Scenario, candidates: int, rules: TuneRules, start_s: float = ASSUMED_START_S) -> TuneSize:
    """The size of a tune of so many candidates, each of whose blocks takes its least time."""
    block, loads = scenario.matrix.block, len(scenario.matrix.concurrency)
    starts = ((1 + candidates) * LEAST_SERIES, (1 + candidates) * rules.series)
    each = loads * rules.blocks
    seconds = start_s + each * (block.min_s + block.ramp_s / 2)
    return TuneSize(
        candidates=candidates,
        starts=starts,
        blocks=(starts[0] * each, starts[1] * each),
        minutes=(starts[0] * seconds / S_PER_MIN, starts[1] * seconds / S_PER_MIN),
        start_s=start_s,
    )
