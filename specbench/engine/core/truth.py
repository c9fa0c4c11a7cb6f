"""What the engine really did: sums since its start and the last requests one by one, for whoever measures it from outside.

Plain records and their JSON form; nothing here is estimated, and nothing here decides anything.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from specbench.engine.core.core import EngineCounts

# Enough for a block of a run; answers of a thousand events take 0.1 MB each.
REMEMBERED_REQUESTS = 1024


@dataclass(slots=True, eq=False)
class RequestTruth:
    """One request: when it came, when each event left and with how many tokens, and how each of its rounds went.

    Times are nanoseconds of CLOCK_MONOTONIC. `due_ns` are the moments at which the steps ended on the virtual accelerator.
    """

    id: str
    arrival_ns: int
    prompt_tokens: int
    scheduled_ns: int | None = None
    due_ns: list[int] = field(default_factory=list)
    sent_ns: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    cached_tokens: int = 0
    drafted: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    preemptions: int = 0
    finish: str | None = None


@dataclass(slots=True)
class Timing:
    """Sums over steps: how long they took on the virtual accelerator, and how many could not keep to it.

    `overrun_steps` were computed too slowly; `late_steps` were ready, but the machine stalled when they were due.
    """

    step_s: float = 0.0
    overrun_steps: int = 0
    late_steps: int = 0
    computing_s: float = 0.0


@dataclass(slots=True)
class Truth:
    """Everything that `/truth` tells."""

    counts: EngineCounts
    timing: Timing = field(default_factory=Timing)
    requests: int = 0
    finished: dict[str, int] = field(default_factory=lambda: {"stop": 0, "length": 0, "abort": 0})
    recent: deque[RequestTruth] = field(default_factory=lambda: deque(maxlen=REMEMBERED_REQUESTS))

    def totals(self, preemptions: int) -> dict[str, Any]:
        """The sums, as JSON values."""
        counts = self.counts
        return {
            "steps": counts.steps,
            "overrun_steps": self.timing.overrun_steps,
            "late_steps": self.timing.late_steps,
            "step_s": self.timing.step_s,
            "computing_s": self.timing.computing_s,
            "decodes": counts.decodes,
            "rounds": counts.rounds,
            "drafted": counts.drafted,
            "accepted": counts.accepted,
            "per_position": list(counts.per_position),
            "emitted_tokens": counts.emitted,
            "prompt_tokens": counts.prompt_tokens,
            "computed_tokens": counts.computed_tokens,
            "requests": self.requests,
            "finished": dict(self.finished),
            "preemptions": preemptions,
        }

    def last(self, count: int) -> list[dict[str, Any]]:
        """The last `count` requests, oldest first, as JSON values; those still running are among them."""
        chosen = list(self.recent)[-count:] if count > 0 else []
        return [{name: getattr(request, name) for name in RequestTruth.__slots__} for request in chosen]
