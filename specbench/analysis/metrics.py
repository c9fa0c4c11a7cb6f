"""Every metric in one table: what it is, in which unit, which way is better, and how two arms are compared on it.

A new metric is one function in the module of its kind and one row here. Nothing is estimated or judged in this module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from specbench.analysis import acceptance, cadence, latency, tallies
from specbench.analysis.columns import Columns
from specbench.analysis.samples import Samples, Totals
from specbench.model.judged import Direction

Kind = Literal["request", "token", "block", "rate"]
# pairs: one statistic per block, log ratios pair by pair with t. pooled: one percentile over the blocks of an arm, the error
# of its log ratio from pairs. share, count: one ratio, one sum over all blocks of an arm, judged by their values.
Method = Literal["pairs", "pooled", "share", "count"]
Source = Callable[[Columns], Samples | Totals]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric. `quantile` is set where `source` gives samples, `engine` where only the engine can tell it."""

    id: str
    unit: str
    direction: Direction
    kind: Kind
    method: Method
    definition: str
    source: Source
    quantile: float | None
    engine: bool

    @property
    def is_measured(self) -> bool:
        """Whether it is a time or a rate: such numbers never repeat exactly, so that pairs without any spread are suspect."""
        return self.kind in ("request", "token", "rate") or self.unit == "ms"


def _percentiles(name: str, kind: Kind, source: Source, definition: str, *points: int) -> list[Metric]:
    """Rows for percentiles of one quantity. A p95 of few requests is no statistic of a block: it is pooled over the blocks."""
    return [
        Metric(
            id=f"{name}_p{point}",
            unit="ms",
            direction="lower",
            kind=kind,
            method="pooled" if kind == "request" and point > 50 else "pairs",
            definition=f"{definition}; {'median' if point == 50 else f'{point}th percentile'}",
            source=source,
            quantile=point / 100,
            engine=False,
        )
        for point in points
    ]


def _whole(
    name: str,
    unit: str,
    direction: Direction,
    source: Source,
    definition: str,
    *,
    kind: Kind = "block",
    method: Method = "pairs",
    engine: bool = False,
) -> Metric:
    """A row for a count, a rate or a gauge of a block."""
    return Metric(
        id=name,
        unit=unit,
        direction=direction,
        kind=kind,
        method=method,
        definition=definition,
        source=source,
        quantile=None,
        engine=engine,
    )


_TTFT = "first content event minus the moment before the request is written (open loop: its scheduled moment)"
_TPOT = "per request: (last - first content event) ÷ (tokens - tokens of the first engine step)"
_CLASSIC = "per request: (last - first content event) ÷ (tokens - 1), as most tools print it"
_E2E = "last content event minus the moment before the request is written (open loop: its scheduled moment)"
_STALL = "longest gap between content events of a request"
_ITL = "a step gap g that brings k tokens gives k values of g ÷ k"
_GAP = "time between consecutive content events"
_PACE = "time for the next 8 tokens of a request ÷ 8"

_ROWS: tuple[Metric, ...] = (
    *_percentiles("ttft", "request", latency.ttft, _TTFT, 50, 95),
    *_percentiles("tpot", "request", latency.tpot, _TPOT, 50, 95, 99),
    *_percentiles("tpot_classic", "request", latency.classic_tpot, _CLASSIC, 50),
    *_percentiles("e2e", "request", latency.e2e, _E2E, 50, 95),
    *_percentiles("stall", "request", latency.stall, _STALL, 95),
    *_percentiles("itl", "token", cadence.itl, _ITL, 50, 95),
    *_percentiles("chunk_gap", "token", cadence.chunk_gap, _GAP, 50, 95, 99),
    *_percentiles("pace", "token", cadence.pace, _PACE, 50, 95),
    _whole(
        "output_tps",
        "tokens/s",
        "higher",
        tallies.output_tps,
        "tokens received inside the steady window ÷ its length",
        kind="rate",
    ),
    _whole(
        "completed_rps",
        "requests/s",
        "higher",
        tallies.completed_rps,
        "sum over successful requests of the share of their tokens inside the steady window ÷ its length",
        kind="rate",
    ),
    _whole("error_rate", "share", "lower", tallies.error_rate, "failed ÷ (failed + successful) requests", method="share"),
    _whole("output_length", "tokens", "equal", tallies.output_length, "mean output tokens of successful requests"),
    _whole("acceptance_length", "tokens", "higher", acceptance.acceptance_length, "1 + accepted tokens ÷ verification rounds"),
    _whole("alpha", "share", "higher", acceptance.alpha, "accepted ÷ (accepted + rounds that ended in a rejection)"),
    _whole("tokens_per_step", "tokens", "higher", cadence.tokens_per_step, "output tokens ÷ decode steps, drafted or not"),
    _whole("step_time", "ms", "lower", cadence.step_time, "mean time between engine steps of a request, as the client sees it"),
    _whole("queue_time", "ms", "lower", tallies.queue_time, "mean wait before a request was scheduled", engine=True),
    _whole("kv_peak", "share", "lower", tallies.kv_peak, "highest share of the KV cache in use", engine=True),
    _whole("memory", "bytes", "lower", tallies.memory, "highest accelerator memory in use", engine=True),
    _whole(
        "preemptions", "requests", "lower", tallies.preemptions, "requests put back to make room", method="count", engine=True
    ),
    _whole("oom", "events", "lower", tallies.oom, "times the engine ran out of memory", method="count", engine=True),
    _whole("restarts", "events", "lower", tallies.restarts, "times the engine started anew", method="count", engine=True),
)

METRICS: dict[str, Metric] = {metric.id: metric for metric in _ROWS}
