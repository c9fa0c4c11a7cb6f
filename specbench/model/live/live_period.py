"""One period of live traffic in one arm, as its engines counted it: what `periods.jsonl` holds, one line each."""

from dataclasses import dataclass, field

from specbench.model.records import Telemetry
from specbench.model.scenario import ArmName

SECONDS = ("ttft", "tpot", "e2e", "queue", "decode", "step_gap")
"""Histograms of times, in seconds; `step_gap` is between two outputs of a request: a step, not a token."""

TOKENS = ("prompt_tokens", "answer_tokens", "step_tokens")
"""Histograms of numbers of tokens, by request, and of the tokens that one engine step put through the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketCounts:
    """What one histogram observed: `up_to[i]` observations at or below `edges[i]`, the rest of `count` above all edges."""

    edges: tuple[float, ...]
    up_to: tuple[float, ...]
    count: float
    sum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePeriod:
    """One arm over one period (Unix seconds). Counts are differences, summed over the replicas that were there throughout.

    `seconds` sums the time between the first and the last page of each replica. `left_out`: how many replicas were not counted,
    by reason (restarted, came, went, unread). `observed` are its histograms by name, `absent` why one is not among them.
    `first_tokens` less `finished` less `running_rise` is how many requests were given up. `problem` says why nothing can be said.
    """

    arm: ArmName
    start_s: float
    end_s: float
    replicas: int
    hosts: tuple[str, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    seconds: float = 0.0
    told: Telemetry = field(default_factory=Telemetry)
    observed: dict[str, BucketCounts] = field(default_factory=dict)
    running_rise: float | None = None
    failed_share: float | None = None
    absent: dict[str, str] = field(default_factory=dict)
    problem: str | None = None

    @property
    def first_tokens(self) -> float | None:
        """Requests that got their first token."""
        return self.observed["ttft"].count if "ttft" in self.observed else None

    @property
    def finished(self) -> float | None:
        """Requests that were answered to their end."""
        return self.observed["e2e"].count if "e2e" in self.observed else None
