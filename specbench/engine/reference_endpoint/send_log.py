"""What an endpoint really sent, and how it tells it. No sockets."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class SendLog:
    """What was really sent: milliseconds between writes, and counts.

    `gap_end_ns` is when each gap ended, `asked_ns` when the request of each `ttft_ms` arrived, on the monotonic clock.
    """

    gap_ms: "array[float]" = field(default_factory=lambda: array("d"))
    gap_end_ns: "array[int]" = field(default_factory=lambda: array("q"))
    asked_ns: "array[int]" = field(default_factory=lambda: array("q"))
    ttft_ms: "array[float]" = field(default_factory=lambda: array("d"))
    e2e_ms: "array[float]" = field(default_factory=lambda: array("d"))
    asked: int = 0
    never_answered: int = 0
    requests: int = 0
    tokens: int = 0
    rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    first_ns: int = 0
    last_ns: int = 0
    most_in_flight: int = 0

    def truth(self) -> dict[str, object]:
        """The log as `/truth` answers it."""
        wall_s = (self.last_ns - self.first_ns) / 1e9
        return {
            "requests": self.requests,
            "never_answered": self.never_answered,
            "tokens": self.tokens,
            "most_in_flight": self.most_in_flight,
            "wall_s": wall_s,
            "chunks_per_s": (len(self.gap_ms) + len(self.ttft_ms)) / wall_s if wall_s > 0 else 0.0,
            **{name: percentiles(getattr(self, name)) for name in ("gap_ms", "ttft_ms", "e2e_ms")},
        }

    def inside(self, opened_ns: int, closed_ns: int) -> dict[str, list[float]]:
        """The values of a window: gaps with both ends in it, and times to the first chunk of requests that came in it."""
        gaps = zip(self.gap_ms, self.gap_end_ns, strict=True)
        firsts = zip(self.ttft_ms, self.asked_ns, strict=True)
        return {
            "gap_ms": [gap for gap, end_ns in gaps if end_ns < closed_ns and end_ns - gap * 1e6 >= opened_ns],
            "ttft_ms": [first for first, asked_ns in firsts if opened_ns <= asked_ns < closed_ns],
        }

    def metrics(self) -> str:
        """The counters under vLLM's names."""
        counters = {
            "spec_decode_num_drafts": self.rounds,
            "spec_decode_num_draft_tokens": self.drafted,
            "spec_decode_num_accepted_tokens": self.accepted,
            "generation_tokens": self.tokens,
        }
        return "".join(
            f'# TYPE vllm:{name}_total counter\nvllm:{name}_total{{engine="0",model_name="truth"}} {value}\n'
            for name, value in counters.items()
        )


def percentiles(values: Sequence[float]) -> dict[str, float] | None:
    """Count, mean and percentiles (linear interpolation), None without values."""
    if not values:
        return None
    ordered = sorted(values)
    told = {"n": float(len(ordered)), "mean": sum(ordered) / len(ordered), "max": ordered[-1]}
    for point in (50, 90, 95, 99):
        place = (len(ordered) - 1) * point / 100
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        told[f"p{point}"] = ordered[low] + (ordered[high] - ordered[low]) * (place - low)
    return told
