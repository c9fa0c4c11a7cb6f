"""What a block shows, at its end and each second, in a few numbers for people who wait. Nothing of it is ever judged.

The figures of the verdict come from `analysis/`, from the files; these are made while requests end, at a fixed cost for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median

from specbench.model.records import RequestRecord
from specbench.units import NS_PER_MS, ms, seconds

PULSE_S = 1.0


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """When the tokens of one request arrived (generator's clock), how many, and its time per token; None where it has none."""

    first_ns: int
    last_ns: int
    tokens: int
    tpot_ms: float | None


@dataclass(frozen=True, slots=True)
class RunningFigures:
    """One block: the median TPOT of its requests, and tokens per second in its steady window; None where it has none.

    `workers`: how many drove it, None where one process did; `lag_ms`: how late the worst of them read.
    """

    ok: int
    failed: int
    tpot_ms: float | None
    tokens_per_s: float | None
    workers: int | None = None
    lag_ms: float | None = None


def request_figures(record: RequestRecord) -> RequestFigures | None:
    """The figures of a request that brought text; None of one that did not.

    TPOT = (last - first content event) ÷ (tokens - tokens of the first engine step)
    """
    if record.outcome not in ("ok", "cut") or not record.event_ns:
        return None
    first = record.step_events[0] if record.step_events else 1
    tokens = sum(record.event_tokens)
    after = tokens - sum(record.event_tokens[:first])
    took_ms = (record.event_ns[-1] - record.event_ns[0]) / NS_PER_MS
    at = record.sent_ns
    return RequestFigures(
        at + record.event_ns[0], at + record.event_ns[-1], tokens, took_ms / after if after > 0 and took_ms > 0 else None
    )


def tokens_per_s(found: Sequence[RequestFigures], opened_ns: int | None, closed_ns: int | None) -> float | None:
    """Tokens that arrived between both moments, per second, each request's spread evenly over its own time."""
    if opened_ns is None or closed_ns is None or closed_ns <= opened_ns or not found:
        return None
    return sum(one.tokens * _share_inside(one, opened_ns, closed_ns) for one in found) / seconds(closed_ns - opened_ns)


def _share_inside(one: RequestFigures, opened_ns: int, closed_ns: int) -> float:
    if one.last_ns <= one.first_ns:
        return float(opened_ns <= one.first_ns < closed_ns)
    return max(0, min(one.last_ns, closed_ns) - max(one.first_ns, opened_ns)) / (one.last_ns - one.first_ns)


def running_figures(
    ok: int, failed: int, found: Sequence[RequestFigures], window: tuple[int | None, int | None]
) -> RunningFigures:
    """The figures of a block from those of its requests; `window` is when its steady window opened and closed."""
    times = [one.tpot_ms for one in found if one.tpot_ms is not None]
    return RunningFigures(ok, failed, median(times) if times else None, tokens_per_s(found, *window))


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the answers showed that ended within the last second or so; None where they do not tell.

    `tokens_per_s`: their tokens by the time since the pulse before. `ttft_ms`, `itl_ms`: medians over answers, from the scheduled
    moment where there is one, and of the gaps between steps. `acceptance_length`: by what answers count of themselves. `lag_ms`:
    how late the latest read was.
    """

    tokens_per_s: float
    ttft_ms: float | None
    itl_ms: float | None
    acceptance_length: float | None
    lag_ms: float | None
    workers: int | None = None


class PulseCounter:
    """Takes each answer of a block as it is decoded; gives a pulse with the first one after each second."""

    def __init__(self, workers: int | None, now_s: float) -> None:
        self._workers = workers
        self._lag_ms: float | None = None
        self._begin(now_s)

    def add(self, record: RequestRecord, lag_ms: float | None, now_s: float) -> Pulse | None:
        """The pulse that is due with this answer; None before its time."""
        if lag_ms is not None:
            self._lag_ms = max(lag_ms, self._lag_ms or 0.0)
        if record.outcome in ("ok", "cut") and record.event_ns:
            self._count(record)
        if now_s - self._since_s < PULSE_S or not self._firsts_ms:
            return None
        pulse = Pulse(
            tokens_per_s=self._tokens / (now_s - self._since_s),
            ttft_ms=median(self._firsts_ms),
            itl_ms=median(self._gaps_ms) if self._gaps_ms else None,
            acceptance_length=1 + self._accepted / self._rounds if self._rounds else None,
            lag_ms=self._lag_ms,
            workers=self._workers,
        )
        self._begin(now_s)
        return pulse

    def _begin(self, now_s: float) -> None:
        self._since_s = now_s
        self._tokens = self._rounds = self._accepted = 0
        self._firsts_ms: list[float] = []
        self._gaps_ms: list[float] = []
        self._lag_ms = None

    def _count(self, record: RequestRecord) -> None:
        waited_ns = 0 if record.scheduled_ns is None else record.sent_ns - record.scheduled_ns
        self._firsts_ms.append(ms(waited_ns + record.event_ns[0]))
        self._tokens += sum(record.event_tokens)
        steps = (record.event_ns[place] for place in _beginnings(record))
        if gaps := [later - earlier for earlier, later in pairwise(steps)]:
            self._gaps_ms.append(ms(median(gaps)))
        if (counts := record.acceptance) is not None and counts.rounds and counts.accepted is not None:
            self._rounds += counts.rounds
            self._accepted += counts.accepted


def _beginnings(record: RequestRecord) -> Sequence[int]:
    """The places of the events with which engine steps begin."""
    if record.step_events is None:
        return range(len(record.event_ns))
    return (0, *accumulate(record.step_events[:-1]))
