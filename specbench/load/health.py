"""Whether the load generator was in time, from the captures of a block alone. Pure."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from specbench.load.block_phases import LONGEST_PAUSE_S
from specbench.load.lag_histogram import LagHistogram
from specbench.load.messages import BlockClosed, BlockSpec
from specbench.model.captures import Capture
from specbench.model.records import GeneratorHealth, Outcome
from specbench.units import NS_PER_MS, ms, ns_of_s

LONGEST_PAUSE_NS = ns_of_s(LONGEST_PAUSE_S)
FIELD, LINE_ENDS = b"data:", (b"\n", b"\r")
GIVEN_UP: frozenset[Outcome | None] = frozenset(
    {"cut", "unanswered", "timeout_connect", "timeout_first_token", "stalled", "timeout_total"}
)
"""How a request ends of which it is for us to say that it is over: after its last token it kept its stream and no server busy."""


class HealthCounter:
    """What of each answer matters for the generator's health; a few numbers per request and one per read."""

    def __init__(self, order: BlockSpec) -> None:
        self._order = order
        self._lags = LagHistogram()
        self._spans = array("q")  # start and end by turns
        self._stuck = array("q")
        self._delays = array("q")
        self._free_since: dict[int, int] = {}
        self._paused_since: dict[int, int] = {}
        self._chunks = 0
        self._events = 0
        self._clock_steps = 0

    def add(self, answer: Capture) -> None:
        """Count one answer in; those of one stream come in the order in which they were sent."""
        self._chunks += len(answer.sizes) // 8
        self._events += events_in(answer.body)
        self._clock_steps += answer.clock_step
        alive_ns = _last_token_ns(answer) if answer.problem in GIVEN_UP else answer.end_ns
        self._spans.extend((answer.sent_ns, alive_ns))
        self._stuck.extend((alive_ns, answer.end_ns))
        if (lags_ns := _read_lags_ns(answer)) is not None:
            self._lags.add(lags_ns)
        if answer.scheduled_ns is not None:
            self._delays.append(answer.sent_ns - answer.scheduled_ns)
        elif (free_ns := self._free_since.pop(answer.stream, None)) is not None:
            self._delays.append(answer.sent_ns - free_ns - (answer.connect_ns or 0))
        if (paused_ns := self._paused_since.pop(answer.stream, None)) is not None:
            self._spans.extend((paused_ns, min(answer.sent_ns, paused_ns + LONGEST_PAUSE_NS)))
        since = self._paused_since if answer.failed else self._free_since
        since[answer.stream] = answer.end_ns + answer.think_ns
        self._spans.extend((answer.end_ns, answer.end_ns + answer.think_ns))  # who thinks holds a stream

    def health(self, closed: BlockClosed) -> GeneratorHealth:
        """The block's health.

        Returns: read lag, 99th percentile of read time minus kernel stamp (None without kernel stamps); send delay, 95th
        percentile of the time from a stream's becoming free (open loop: from the scheduled moment) to the next request, without
        that of opening a connection that the endpoint had closed, and not after a failure, where a stream waits on purpose;
        achieved concurrency, requests in flight and streams in such a wait, averaged over the window ÷ planned (None in the
        open loop, and without a stream); stuck share, streams that were in a request of which nothing more came, likewise.
        """
        return GeneratorHealth(
            cpu_share=closed.cpu_share,
            read_lag_ms_p99=None if (lag_ns := self._lags.percentile_ns(99)) is None else ms(lag_ns),
            send_delay_ms_p95=_percentile_ms(np.array(self._delays), 95) if self._delays else None,
            achieved_concurrency=self._achieved(closed, self._spans + self._pauses()),
            stuck_share=self._achieved(closed, self._stuck),
            chunks=self._chunks,
            clock_steps=self._clock_steps,
            machine_cpu_share=closed.machine_cpu_share,
            loop_lag_ms_p99=closed.loop_lag_ms_p99,
            events_per_stamp=self._events / self._chunks if self._events else None,
        )

    def _pauses(self) -> "array[int]":
        return array("q", (end for since in self._paused_since.values() for end in (since, since + LONGEST_PAUSE_NS)))

    def _achieved(self, closed: BlockClosed, spans: "array[int]") -> float | None:
        opened_ns, closed_ns = closed.window_open_ns, closed.window_close_ns
        if opened_ns is None or closed_ns is None or closed_ns <= opened_ns or not self._order.concurrency:
            return None  # in the open loop, and of a worker that has none of the few streams
        return sum(_overlaps(spans, opened_ns, closed_ns)) / (closed_ns - opened_ns) / self._order.concurrency


def _last_token_ns(answer: Capture) -> int:
    """When the last read came that held a `data:` line, or anything of a compressed body; the sending where none did."""
    encoded = "content-encoding" in answer.headers
    stamps, sizes = np.frombuffer(answer.stamps, np.int64), np.frombuffer(answer.sizes, np.int64)
    ends = np.cumsum(sizes)
    for place in reversed(range(len(stamps))):
        if encoded or FIELD in answer.body[ends[place] - sizes[place] : ends[place]]:
            return max(answer.sent_ns, int(stamps[place]))
    return answer.sent_ns


def latest_read_ms(answer: Capture) -> float | None:
    """How long after the kernel had stamped them the latest bytes of the answer were read; None without such stamps."""
    lags_ns = _read_lags_ns(answer)
    return None if lags_ns is None else ms(int(lags_ns.max()))


def _read_lags_ns(answer: Capture) -> npt.NDArray[np.int64] | None:
    """How long after the kernel's stamp each read came, (n_reads,); None without such stamps."""
    if answer.stamp_source != "kernel" or not answer.stamps:
        return None
    return np.frombuffer(answer.reads, np.int64) - np.frombuffer(answer.stamps, np.int64)


def events_in(body: bytes) -> int:
    """How many lines of the stream begin as data does; inside generated text the same word stands behind a quotation mark."""
    return body.startswith(FIELD) + sum(body.count(end + FIELD) for end in LINE_ENDS)


def _overlaps(spans: "array[int]", opened_ns: int, closed_ns: int) -> Iterator[int]:
    for sent_ns, end_ns in zip(spans[::2], spans[1::2], strict=True):
        yield max(0, min(end_ns, closed_ns) - max(sent_ns, opened_ns))


def _percentile_ms(values_ns: npt.NDArray[np.int64], rank: float) -> float:
    return float(np.percentile(values_ns, rank)) / NS_PER_MS


NO_HEALTH = GeneratorHealth(
    cpu_share=None,
    read_lag_ms_p99=None,
    send_delay_ms_p95=None,
    achieved_concurrency=None,
    chunks=0,
    clock_steps=0,
)


def merged_health(parts: Sequence[tuple[int, GeneratorHealth]]) -> GeneratorHealth:
    """The worst of every figure among the workers, given with their streams; shares of streams and counts are of them all."""
    of = partial(_worst, [health for _, health in parts])
    return GeneratorHealth(
        cpu_share=of(lambda health: health.cpu_share),
        read_lag_ms_p99=of(lambda health: health.read_lag_ms_p99),
        send_delay_ms_p95=of(lambda health: health.send_delay_ms_p95),
        achieved_concurrency=_of_streams([(streams, health.achieved_concurrency) for streams, health in parts]),
        chunks=sum(health.chunks for _, health in parts),
        clock_steps=sum(health.clock_steps for _, health in parts),
        machine_cpu_share=of(lambda health: health.machine_cpu_share),
        loop_lag_ms_p99=of(lambda health: health.loop_lag_ms_p99),
        events_per_stamp=of(lambda health: health.events_per_stamp),
        stuck_share=_of_streams([(streams, health.stuck_share) for streams, health in parts]),
    )


def _worst(parts: Sequence[GeneratorHealth], figure: Callable[[GeneratorHealth], float | None]) -> float | None:
    return max((value for health in parts if (value := figure(health)) is not None), default=None)


def _of_streams(parts: Sequence[tuple[int, float | None]]) -> float | None:
    known = [(streams, share) for streams, share in parts if share is not None]
    streams = sum(count for count, _ in known)
    return sum(count * share for count, share in known) / streams if streams else None
