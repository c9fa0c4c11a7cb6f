"""Every metric in one table: what it is and is called, in which unit, which way is better, how two arms are compared on it.

A new metric is one row here and one function in `analysis/metrics/registry.py`; a test holds the two together. Nothing may be
computed, estimated or judged in this module.
"""

from dataclasses import dataclass
from typing import Literal

from specbench.model.result import Direction

Kind = Literal["request", "token", "block", "rate"]
# pairs: one statistic per block, log ratios pair by pair with t. pooled: one percentile over the blocks of an arm, the error
# of its log ratio from pairs. share, count: one ratio, one sum over all blocks of an arm, judged by their values.
# prompts: one figure per pair of blocks, of the prompts that both arms answered in it, then as pairs.
Method = Literal["pairs", "prompts", "pooled", "share", "count"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A time of which percentiles are metrics, `<id>_p<point>` for each."""

    id: str
    kind: Kind
    points: tuple[int, ...]
    label: str  # its name in tables
    phrase: str  # what it measures, in a sentence
    below: str  # what a percentile divides, as in '19 of 20 requests are faster'
    definition: str


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `quantile` is set where it is a percentile of samples, `engine` where only the engine can tell it."""

    id: str
    unit: str
    direction: Direction
    label: str  # its name in tables
    phrase: str  # its name in a sentence, with what it measures
    definition: str
    kind: Kind = "block"
    method: Method = "pairs"
    quantile: float | None = None
    engine: bool = False

    @property
    def quantity(self) -> str:
        """What is measured: the `Quantity` of which it is a percentile, or itself."""
        return self.id if self.quantile is None else self.id.rpartition("_")[0]

    @property
    def is_measured(self) -> bool:
        """Whether it is a time or a rate: such numbers never repeat exactly, so that pairs without any spread are suspect."""
        return self.kind in ("request", "token", "rate") or self.unit == "ms"


TPOT_TOKENS = 8  # of an answer, below which its time per token is that of one or two engine steps
PACE_TOKENS = 8
_FASTER = "requests are faster"
_CLASSIC = "time per output token as other tools count it"
_PACE = "time per token over stretches of 8 tokens"
QUANTITIES: tuple[Quantity, ...] = (
    Quantity(
        *("ttft", "request", (50, 95), "TTFT", "time to the first token", _FASTER),
        "first content event minus the moment before the request is written (open loop: its scheduled moment)",
    ),
    Quantity(
        *("tpot", "request", (50, 95, 99), "TPOT", "time per output token", _FASTER),
        f"per answer of {TPOT_TOKENS} tokens or more: (last - first content event) ÷ (tokens - tokens of the first engine step)",
    ),
    Quantity(
        *("tpot_classic", "request", (50,), "classic TPOT", _CLASSIC, _FASTER),
        "per request: (last - first content event) ÷ (tokens - 1), as most tools print it",
    ),
    Quantity(
        *("e2e", "request", (50, 95), "E2E", "time to the whole answer", _FASTER),
        "last content event minus the moment before the request is written (open loop: its scheduled moment)",
    ),
    Quantity(
        *("stall", "request", (95,), "longest gap", "of an answer", "answers stay below it"),
        "longest gap between content events of a request",
    ),
    Quantity(
        *("itl", "token", (50, 95), "ITL", "time between tokens", "tokens are faster"),
        "a step gap g with k tokens gives k values of g ÷ k",
    ),
    Quantity(
        *("chunk_gap", "token", (50, 95, 99), "chunk gap", "gap between pieces of text", "gaps are shorter"),
        "time between consecutive content events",
    ),
    Quantity(
        *("pace", "token", (50, 95), "pace", _PACE, "stretches are faster"),
        "time for the next 8 tokens of a request ÷ 8",
    ),
)
_BELOW = {50: "half of the", 95: "19 of 20", 99: "99 of 100"}


def _percentile(of: Quantity, point: int) -> Metric:
    """A row for one percentile. A p95 of few requests is no statistic of a block: it is pooled over the blocks."""
    return Metric(
        id=f"{of.id}_p{point}",
        unit="ms",
        direction="lower",
        label=f"{of.label} p{point}",
        phrase=f"the {of.label} p{point} ({of.phrase}; {_BELOW[point]} {of.below})",
        definition=f"{of.definition}; {'median' if point == 50 else f'{point}th percentile'}",
        kind=of.kind,
        method="pooled" if of.kind == "request" and point > 50 else "pairs",
        quantile=point / 100,
    )


_BY_PROMPT = Metric(
    *("ttft_paired", "ms", "lower", "TTFT by prompt"),
    "the TTFT prompt by prompt (time to the first token, over the prompts that both arms answered)",
    "geometric mean of the TTFT of the prompts that both arms of a pair answered; its ratio is that of each prompt's two",
    kind="request",
    method="prompts",
)
_WHOLE: tuple[Metric, ...] = (
    Metric(
        *("output_tps", "tokens/s", "higher", "output TPS", "the output TPS (tokens per second)"),
        "tokens received inside the steady window ÷ its length",
        kind="rate",
    ),
    Metric(
        *("completed_rps", "requests/s", "higher", "completed req/s"),
        "the completed req/s (requests completed per second)",
        "sum over successful requests of the share of their tokens inside the steady window ÷ its length",
        kind="rate",
    ),
    Metric(
        *("error_rate", "share", "lower", "error rate", "the share of requests that failed"),
        "failed ÷ (failed + successful) requests",
        method="share",
    ),
    Metric(
        *("stalled_answers", "share", "lower", "stalled answers", "the share of answers that stalled"),
        "answers with a gap above max(1 s, 10 × the baseline's median gap) ÷ answers, of requests sent in the steady window",
        method="share",
    ),
    Metric(
        *("output_length", "tokens", "equal", "output length", "the mean length of an answer"),
        "mean output tokens of successful requests",
    ),
    Metric(
        *("acceptance_length", "tokens", "higher", "acceptance length", "the number of tokens per verification round"),
        "1 + accepted tokens ÷ verification rounds",
    ),
    Metric(
        *("alpha", "share", "higher", "alpha", "the chance that a drafted token is accepted (alpha)"),
        "accepted ÷ (accepted + rounds that ended in a rejection)",
    ),
    Metric(
        *("tokens_per_step", "tokens", "higher", "tokens per step", "the number of tokens per engine step"),
        "output tokens ÷ decode steps, drafted or not",
    ),
    Metric(
        *("step_time", "ms", "lower", "step time", "the time of an engine step"),
        "mean time between engine steps of a request, as the client sees it",
    ),
    Metric(
        *("batch_size", "requests", "equal", "batch size", "the number of requests in an engine step"),
        "requests that an engine step decoded or gave their first token, on average over the steps",
        engine=True,
    ),
    Metric(
        *("queue_time", "ms", "lower", "queue time", "the mean wait in the server's queue"),
        "mean wait before a request was scheduled",
        engine=True,
    ),
    Metric(
        *("kv_peak", "share", "lower", "KV peak", "the highest use of the KV cache"),
        "highest share of the KV cache in use",
        engine=True,
    ),
    Metric(
        *("memory", "bytes", "lower", "memory", "the highest use of GPU memory"),
        "highest accelerator memory in use",
        engine=True,
    ),
    Metric(
        *("preemptions", "requests", "lower", "preemptions", "the number of requests that the server had to set aside"),
        "requests put back to make room",
        method="count",
        engine=True,
    ),
    Metric(
        *("oom", "events", "lower", "out of memory", "the number of times that memory ran out"),
        "times the engine ran out of memory",
        method="count",
        engine=True,
    ),
    Metric(
        *("restarts", "events", "lower", "engine restarts", "the number of engine restarts"),
        "times the engine started anew",
        method="count",
        engine=True,
    ),
)

_OF_TTFT, *_PERCENTILES = [[_percentile(of, point) for point in of.points] for of in QUANTITIES]
METRICS: dict[str, Metric] = {
    metric.id: metric for metric in (*_OF_TTFT, _BY_PROMPT, *(row for rows in _PERCENTILES for row in rows), *_WHOLE)
}
