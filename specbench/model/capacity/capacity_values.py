"""What a search for capacity asked and found: limits, blocks at probed rates, the highest rate of each arm, machines, cost."""

from dataclasses import dataclass
from typing import Literal

from specbench.model.result import PerArm

# found: between two probed rates. no_rate: missed even at the lowest rate worth trying. not_reached: held at the highest probed.
# client: the load generator was too slow or had too many requests under way. too_little: too few blocks, or too uneven ones.
SearchEnd = Literal["found", "no_rate", "not_reached", "client", "too_little"]


@dataclass(frozen=True, slots=True)
class ServiceLimit:
    """One limit of service: so large a share of the requests has a figure of at most `limit`; failures are misses."""

    metric: str
    limit: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """What a search was asked: its limits, the traffic to be served in requests per second, how much of a machine stays free."""

    limits: tuple[ServiceLimit, ...]
    traffic: float | None
    headroom: float
    minutes: float


@dataclass(frozen=True, slots=True)
class BlockShare:
    """How many of the requests of one block were within one limit; `fit` where the client could send and read them in time."""

    block: str
    rate: float
    requests: int
    in_time: int
    fit: bool = True

    @property
    def share(self) -> float:
        """The share in time; 1 of no request at all."""
        return self.in_time / self.requests if self.requests else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """The rate up to which one limit holds, with its interval of 90 %; `tested` are the lowest and the highest probed rate."""

    limit: ServiceLimit
    end: SearchEnd
    rate: float | None
    low: float | None
    high: float | None
    tested: tuple[float, float]
    blocks: int
    se_log: float | None = None
    df: float | None = None


@dataclass(frozen=True, slots=True)
class Bracket:
    """For another limit: the highest probed rate that held, and the next one, which did not; None where there is none."""

    metric: str
    limit: float
    held: float | None
    missed: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCapacity:
    """One arm: the crossing of each limit, the one that binds, and what the same blocks say of other limits."""

    end: SearchEnd
    binding: str | None
    rate: float | None
    low: float | None
    high: float | None
    crossings: tuple[Crossing, ...]
    brackets: tuple[Bracket, ...]
    requests: int
    blocks: int
    lowest_rate: float | None
    highest_rate: float | None
    output_tokens_mean: float | None


@dataclass(frozen=True, slots=True)
class Band:
    """A figure from its lowest to its highest value."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """How many machines of one arm serve the traffic, and what they cost; money is None where the price is not known."""

    fewest: int
    most: int
    gpus: Band | None
    cost_month: Band | None
    cost_per_million_tokens: Band | None


Comparison = Literal["fewer", "more", "no_difference", "only_speculative", "only_baseline", "neither", "not_known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityResult:
    """`capacity.json`, schema version 1: the capacity of both arms, their ratio, and machines for the traffic."""

    schema_version: int
    tool_version: str
    name: str
    run_id: str
    started: str
    finished: str | None
    plan: CapacityPlan
    arms: PerArm[ArmCapacity]
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    machines: PerArm[Machines | None]
    comparison: Comparison
    currency: str
    virtual: bool
    problems: tuple[str, ...]
    sentences: tuple[str, ...]
    shares: PerArm[tuple[tuple[BlockShare, ...], ...]]
