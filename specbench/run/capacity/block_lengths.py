"""How long the blocks of a search last, and how many there are, so that both arms fit into the minutes that were given. Pure."""

from dataclasses import dataclass, replace

from specbench.errors import ScenarioError
from specbench.model.scenario import BlockSize, Limits, Scenario

LONGEST_S, RAMP_SHARE = 150.0, 0.2  # 30 s of ramp and 120 s that count
LEAST_MINUTES, MOST_MINUTES = 4.0, 10_080.0
PROBES = 7  # blocks, of half the length, that find a bracket, as a rule
LEAST_BLOCKS = 8
START_S, BESIDE_S = 20.0, 3.0  # of each arm, and of each block: starts, drains, what is asked of the engine between blocks
LEAST_REQUESTS = 12  # of a block, on average
LEAST_TOTAL_S = 10.0
ALONE_REQUESTS, ALONE_S = 4, 60.0


@dataclass(frozen=True, slots=True)
class BlockLengths:
    """Seconds of a block around the crossing, ramp included, and how many of them each arm gets."""

    block_s: float
    blocks: int

    @property
    def probe_s(self) -> float:
        """Seconds of a block that looks for the bracket."""
        return self.block_s / 2


def lengths_for(minutes: float) -> BlockLengths:
    """Blocks of 150 s where the minutes allow, more of them where they allow more, shorter ones where they do not.

    Raises:
        ScenarioError: fewer minutes than a search can use, or more than a week.
    """
    if not minutes >= LEAST_MINUTES:
        raise ScenarioError(f"--minutes {minutes:g}: a search takes at least {LEAST_MINUTES:g}; 60 is the default")
    if not minutes <= MOST_MINUTES:
        raise ScenarioError(f"--minutes {minutes:g}: is more than a week ({MOST_MINUTES:g}); 60 is the default")
    of_arm_s = 60 * minutes / 2 - START_S
    block_s = min(LONGEST_S, (of_arm_s - BESIDE_S * (PROBES + LEAST_BLOCKS)) / (PROBES / 2 + LEAST_BLOCKS))
    around_s = of_arm_s - PROBES * (block_s / 2 + BESIDE_S)
    return BlockLengths(block_s, max(LEAST_BLOCKS, int(around_s / (block_s + BESIDE_S))))


def seconds_for(rate: float, seconds: float) -> float:
    """How long a block at this rate lasts: longer than asked where else too few requests would count."""
    return max(seconds, LEAST_REQUESTS / rate / (1 - RAMP_SHARE))


def of_length(scenario: Scenario, seconds: float) -> Scenario:
    """The scenario with open-loop blocks that last this long in all, whatever ends in them.

    A request that is still open as long after the window as the block was is a miss of every limit.
    """
    ramp_s = RAMP_SHARE * seconds
    block = BlockSize(min_requests=0, min_s=seconds - ramp_s, max_s=seconds - ramp_s, ramp_s=ramp_s)
    before = scenario.matrix.limits
    total_s = min(before.total_s, max(LEAST_TOTAL_S, seconds))
    limits = Limits(first_token_s=min(before.first_token_s, total_s), stall_s=min(before.stall_s, total_s), total_s=total_s)
    return replace(scenario, matrix=replace(scenario.matrix, block=block, limits=limits, arrivals="poisson"))


def alone(scenario: Scenario) -> Scenario:
    """The scenario with a block of a few requests one after the other: how long an answer takes that has the server to itself."""
    block = BlockSize(min_requests=ALONE_REQUESTS, min_s=0.0, max_s=ALONE_S, ramp_s=0.0)
    return replace(scenario, matrix=replace(scenario.matrix, block=block))
