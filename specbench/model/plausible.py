"""Whether a line of a run's facts can be one: no time or count below zero, as many of each as belong together. Pure.

A line that cannot be read is damage, as a killed run leaves it. One that can be read and says what no run writes was edited or
mixed up, and nothing is judged on it.
"""

from collections.abc import Hashable, Iterator

from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.records import Block, RequestRecord, SpeculationCounts

MOST = 1 << 53
"""Nanoseconds: a hundred days. Counts stay far below; beyond it floating point would round them."""

MOST_TOKENS = 1 << 31


def fault_of(found: Block | RequestRecord | ComparedAnswers) -> str | None:
    """What cannot be in this line, as a clause; None where nothing is wrong."""
    if isinstance(found, ComparedAnswers):
        return _answers_fault(found)
    return _block_fault(found) if isinstance(found, Block) else _record_fault(found)


def identities_of(found: Block | RequestRecord | ComparedAnswers) -> Iterator[Hashable]:
    """By what this line is known again: its name, and for a request its moments and its end, which no other can have.

    A copy under another name has the same moments to the nanosecond.
    """
    if isinstance(found, Block):
        yield found.id
        return
    if isinstance(found, ComparedAnswers):
        yield found.sampling, found.cell, found.pair, found.index
        return
    yield found.block, found.index
    if found.sent_ns and found.end_ns:
        yield found.stream, found.sent_ns, found.end_ns, tuple(found.event_ns), found.outcome, found.reason


def _record_fault(record: RequestRecord) -> str | None:
    times = {
        "sent_ns": record.sent_ns,
        "scheduled_ns": record.scheduled_ns,
        "connect_ns": record.connect_ns,
        "first_answer_ns": record.first_answer_ns,
        "end_ns": record.end_ns,
        "event_ns": min(record.event_ns, default=0),
        "the last event_ns": max(record.event_ns, default=0),
    }
    steps = record.step_events
    counts = {
        "index": record.index,
        "stream": record.stream,
        "retries": record.retries,
        "max_tokens": record.max_tokens,
        "prompt_tokens": record.prompt_tokens,
        "output_tokens": record.output_tokens,
        "cached_tokens": record.cached_tokens,
        "text_chars": record.text_chars,
        "event_tokens": min(record.event_tokens, default=0),
        "the largest of event_tokens": max(record.event_tokens, default=0),
        "censored": min(record.censored, default=0),
        **_counts_of("acceptance", record.acceptance),
    }
    if (fault := _beyond("time", times, MOST) or _beyond("count", counts, MOST_TOKENS)) is not None:
        return fault
    events = len(record.event_ns)
    if len(record.event_tokens) != events:
        return f"{events} times of events and {len(record.event_tokens)} counts of their tokens"
    if steps is not None and (sum(steps) != events or min(steps, default=1) < 1):
        return f"steps of {sum(steps)} events where there are {events}"
    return "a censored event that is not there" if max(record.censored, default=-1) >= events else None


def _block_fault(block: Block) -> str | None:
    opened, closed = block.window_open_ns, block.window_close_ns
    told = block.telemetry
    counts = {
        "pair": block.pair,
        "order": block.order,
        "launch": block.launch,
        "concurrency": block.concurrency,
        "chunks": block.health.chunks,
        **_counts_of("telemetry.acceptance", None if told is None else told.acceptance),
    }
    times = {"window_open_ns": opened, "window_close_ns": closed}
    if (fault := _beyond("time", times, 1 << 62) or _beyond("count", counts, MOST)) is not None:
        return fault
    return "a window that closes before it opens" if opened is not None and closed is not None and closed < opened else None


def _answers_fault(found: ComparedAnswers) -> str | None:
    counts = {
        "index": found.index,
        "pair": found.pair,
        "concurrency": found.concurrency,
        "first_difference": found.first_difference,
        "tokens.baseline": found.tokens.baseline,
        "tokens.speculative": found.tokens.speculative,
    }
    if (fault := _beyond("count", counts, MOST_TOKENS)) is not None:
        return fault
    if found.equal != (found.first_difference is None):
        return "a first difference of equal answers" if found.equal else "unlike answers without a first difference"
    gaps = (found.gap_nats, found.widest_gap_nats)
    below = any(gap is not None and min(gap.baseline, gap.speculative) < 0 for gap in gaps)
    return "a log probability above that of the best token" if below else None


def _counts_of(where: str, told: SpeculationCounts | None) -> dict[str, int | None]:
    if told is None:
        return {}
    positions = told.per_position or ()
    return {
        f"{where}.rounds": told.rounds,
        f"{where}.drafted": told.drafted,
        f"{where}.accepted": told.accepted,
        f"{where}.per_position": min(positions, default=0),
        f"the largest of {where}.per_position": max(positions, default=0),
    }


def _beyond(kind: str, values: dict[str, int | None], most: int) -> str | None:
    """Which of these values is below zero or absurdly large; None where none is."""
    for name, value in values.items():
        if value is not None and not 0 <= value <= most:
            return f"a {kind} {'below zero' if value < 0 else 'beyond reason'} ({name} is {value})"
    return None
