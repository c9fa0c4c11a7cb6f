"""What a world and the two arms in it are like, as values; every number of a case stands in these."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from specbench.calibrate.simulators import NoiseModel

STEADY = NoiseModel()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The machines under both arms; whatever is "slower" is so in the time of steps and of prefills alike.

    `slow_share` of the blocks, drawn for each, are `slow_factor` times as slow. `second_block` is how much slower the second
    block of a pair is, whichever its arm; `after_speculative` how much slower a block of the baseline is that follows a block of
    the speculative arm in the run. Each start of an engine draws its own speed, with `start_sd` of the logarithm.
    `ttft_sd` is that of each prefill's own time. `prefills_at_once` wait in line for each other where it is set; `slots` are the
    answers at once of an open loop. In `freezes` of the blocks of an arm that stalls, all its streams stop at once.
    """

    noise: NoiseModel = STEADY
    ttft_sd: float = 0.10
    slow_share: float = 0.0
    slow_factor: float = 1.0
    second_block: float = 0.0
    after_speculative: float = 0.0
    start_sd: float = 0.0
    prefills_at_once: int | None = None
    slots: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What an arm does to the times of the world, as ratios; 1 or 0 leaves them as they are.

    `last_step_ratio`: the ratio of its steps in the last pair, reached evenly from `step_ratio` in the first one.
    `step_ratio_of` and `ttft_ratio_of` are of single bins, besides. `tail_share` of the answers are `tail_ratio` times as slow.
    `hung` of the requests never get a token. `stalled` of the answers stand still once for `stall_ms`; with `freeze` so do all
    streams of a block at once, in that share of the blocks. `slow_share` and `slow_factor` are of its own blocks, besides the
    world's; `last_third` is how much slower it is in the last third of each block. With `alpha` each step brings up to `gamma`
    accepted tokens more.
    """

    step_ratio: float = 1.0
    last_step_ratio: float | None = None
    ttft_ratio: float = 1.0
    step_ratio_of: Mapping[str, float] = field(default_factory=dict)
    ttft_ratio_of: Mapping[str, float] = field(default_factory=dict)
    tail_share: float = 0.0
    tail_ratio: float = 1.0
    hung: float = 0.0
    stalled: float = 0.0
    stall_ms: float = 2000.0
    freeze: float = 0.0
    slow_share: float = 0.0
    slow_factor: float = 1.0
    last_third: float = 0.0
    alpha: float | None = None
    gamma: int = 4
    text: str = "same"
    finish_reason: str = "stop"
    chars_per_token: float = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClass:
    """One bin of the workload: its share of requests, tokens of its answers, and milliseconds of a prefill in the middle."""

    name: str = "middle"
    weight: float = 1.0
    answer: tuple[int, int] = (24, 40)
    prefill_ms: float = 100.0


USUAL = World()
EQUAL = Behaviour()
ONE_CLASS = (RequestClass(),)
