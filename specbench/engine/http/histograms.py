"""What vLLM observes per request and per step, as histograms with vLLM's names and edges.

Sums and counts only; when something is observed is decided in `endpoint.py`, how it is printed in `metrics_page.py`.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from specbench.engine.core.scheduler import Sequence as Running
from specbench.units import seconds

# Edges in seconds, from vllm/v1/metrics/loggers.py, release 0.33.
FIRST_TOKEN_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560)
TOKEN_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
REQUEST_S = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
STEP_TOKENS = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
COPIES = (1, 2, 5, 10, 20)
PREEMPTIONS = (1, 2, 3, 4, 5, 10, 20)


@dataclass(slots=True)
class Histogram:
    """Observations by upper edge; the last of `counts` holds those above every edge."""

    about: str
    edges: tuple[float, ...]
    counts: list[int] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.edges) + 1)

    def observe(self, value: float) -> None:
        """Counts the value in the first bucket whose edge it does not exceed."""
        self.counts[bisect_left(self.edges, value)] += 1
        self.total += value


def one_two_five(limit: int) -> tuple[float, ...]:
    """1, 2, 5, 10, 20, 50 and so on, up to `limit`: vLLM's edges for numbers of tokens."""
    edges = [mantissa * 10**exponent for exponent in range(len(str(limit))) for mantissa in (1, 2, 5)]
    return tuple(edge for edge in edges if edge <= limit)


@dataclass(slots=True)
class RequestTimes:
    """When one request reached what, on one clock; None until it did."""

    arrival_ns: int
    scheduled_ns: int | None = None
    first_ns: int | None = None
    last_ns: int | None = None


class Observations:
    """All histograms of one engine, by their name without the `vllm:`."""

    def __init__(self, max_model_len: int) -> None:
        tokens = one_two_five(max_model_len)
        self.by_name = {
            "time_to_first_token_seconds": Histogram("Arrival to first token.", FIRST_TOKEN_S),
            "inter_token_latency_seconds": Histogram("Between two outputs of a request: one step, not one token.", TOKEN_S),
            "request_time_per_output_token_seconds": Histogram("Decode time of a request per token after the first.", TOKEN_S),
            "e2e_request_latency_seconds": Histogram("Arrival to last token.", REQUEST_S),
            "request_queue_time_seconds": Histogram("Arrival to first taking part in a step.", REQUEST_S),
            "request_inference_time_seconds": Histogram("First taking part in a step to last token.", REQUEST_S),
            "request_prefill_time_seconds": Histogram("First taking part in a step to first token.", REQUEST_S),
            "request_decode_time_seconds": Histogram("First token to last token.", REQUEST_S),
            "iteration_tokens_total": Histogram("Tokens that went through the model in a step.", STEP_TOKENS),
            "request_prompt_tokens": Histogram("Prompt tokens of a request.", tokens),
            "request_generation_tokens": Histogram("Tokens of an answer.", tokens),
            "request_max_num_generation_tokens": Histogram("Tokens of the longest answer to a request.", tokens),
            "request_params_max_tokens": Histogram("Tokens that a request asked for at most.", tokens),
            "request_prefill_kv_computed_tokens": Histogram("Prompt tokens computed, those found in the cache left out.", tokens),
            "request_params_n": Histogram("Answers that a request asked for.", COPIES),
            "request_num_preemptions": Histogram("How often a request gave way to others.", PREEMPTIONS),
        }

    def output(self, moments: RequestTimes, due_ns: int) -> None:
        """One step made something for a request, due at that moment."""
        if moments.first_ns is None:
            moments.first_ns = due_ns
            self.by_name["time_to_first_token_seconds"].observe(seconds(due_ns - moments.arrival_ns))
        elif moments.last_ns is not None:
            self.by_name["inter_token_latency_seconds"].observe(seconds(due_ns - moments.last_ns))
        moments.last_ns = due_ns

    def ended(self, running: Running, moments: RequestTimes) -> None:
        """A request got its whole answer."""
        first, last, scheduled = moments.first_ns, moments.last_ns, moments.scheduled_ns
        if first is None or last is None or scheduled is None:
            return
        generated = running.answer.count
        values: dict[str, float] = {
            # As vLLM: an answer of one token counts as 0 here.
            "request_time_per_output_token_seconds": seconds(last - first) / (generated - 1) if generated > 1 else 0.0,
            "e2e_request_latency_seconds": seconds(last - moments.arrival_ns),
            "request_queue_time_seconds": seconds(scheduled - moments.arrival_ns),
            "request_inference_time_seconds": seconds(last - scheduled),
            "request_prefill_time_seconds": seconds(first - scheduled),
            "request_decode_time_seconds": seconds(last - first),
            "request_prompt_tokens": running.prompt_length,
            "request_generation_tokens": generated,
            "request_max_num_generation_tokens": generated,
            "request_params_max_tokens": running.request.limits.max_tokens,
            "request_prefill_kv_computed_tokens": running.prompt_length - running.cached,
            "request_params_n": 1,
            "request_num_preemptions": running.preemptions,
        }
        for name, value in values.items():
            self.by_name[name].observe(value)


def cumulative(histogram: Histogram) -> Sequence[tuple[str, int]]:
    """The buckets as Prometheus wants them: each with its upper edge and the number of observations up to it."""
    told: list[tuple[str, int]] = []
    below = 0
    for edge, count in zip((*histogram.edges, float("inf")), histogram.counts, strict=True):
        below += count
        told.append(("+Inf" if edge == float("inf") else str(float(edge)), below))
    return told
