"""What one block showed, in a few numbers for people who wait: TPOT, tokens per second, failures. Nothing of it is ever judged.

The figures of the verdict come from `analysis/`, from the files; these are made while requests end, at a fixed cost for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from specbench.model.records import RequestRecord
from specbench.units import NS_PER_MS, seconds


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
