"""Content events of a cell as arrays, and the engine steps that they make up as the client sees them.

No metric is computed here; which events make one step was decided when the record was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from specbench.errors import InternalError
from specbench.model.data.packed_ints import PackedInts
from specbench.model.records import RequestRecord

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps that follow another one in their request, all (n_steps,), in the order of their events.

    `request` index; `began_ns` the time of the step before, on the generator's clock; `gap_ns` since then; `tokens` the step
    brought; `inside` where both ends lie in the steady window; `censored` where the time of either end is only an upper bound,
    `began_censored` where that of the step before is.
    """

    request: Ints
    began_ns: Ints
    gap_ns: Ints
    tokens: Ints
    inside: Bools
    censored: Bools
    began_censored: Bools

    def of(self, requests: Bools, renumbered: Ints) -> "Steps":
        """Only the steps of these requests, (n_requests,), which have these new numbers, (n_requests,)."""
        kept = requests[self.request]
        return Steps(
            renumbered[self.request[kept]],
            self.began_ns[kept],
            self.gap_ns[kept],
            self.tokens[kept],
            self.inside[kept],
            self.censored[kept],
            self.began_censored[kept],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The content events of a cell, all (n_events,), in the order of their requests.

    `request` index, `time_ns` on the generator's monotonic clock, `tokens`, `step` (a number that rises with each engine step),
    `inside` the steady window, `censored` (its time is only an upper bound).
    """

    request: Ints
    time_ns: Ints
    tokens: Ints
    step: Ints
    inside: Bools
    censored: Bools

    def of(self, requests: Bools, renumbered: Ints) -> "Events":
        """Only the events of these requests, (n_requests,), which have these new numbers, (n_requests,)."""
        kept = requests[self.request]
        return Events(
            renumbered[self.request[kept]],
            self.time_ns[kept],
            self.tokens[kept],
            self.step[kept],
            self.inside[kept],
            self.censored[kept],
        )


def events_of(records: Sequence[RequestRecord], opened: Ints, closed: Ints) -> Events:
    """The content events of these records, in their order.

    Args:
        opened: (n_records,) when the steady window of each record's block opened.
        closed: (n_records,) when it closed.

    Raises:
        InternalError: A record whose event columns differ in length.
    """
    for record in records:
        if len(record.event_tokens) != len(record.event_ns):
            raise InternalError(f"analysis: block {record.block!r} request {record.index}: token counts do not fit its events")
    counts = np.array([len(record.event_ns) for record in records], dtype=np.int64)
    sent = np.array([record.sent_ns for record in records], dtype=np.int64)
    request = np.repeat(np.arange(len(records)), counts)
    time_ns = _joined([record.event_ns for record in records]) + sent[request]
    return Events(
        request=request,
        time_ns=time_ns,
        tokens=_joined([record.event_tokens for record in records]),
        step=_steps(records),
        inside=(time_ns >= opened[request]) & (time_ns < closed[request]),
        censored=_censored(records, counts),
    )


def sum_by_request(of_events: Ints | Bools, first_event: Ints) -> Ints:
    """Sums of a per-event quantity (n_events,) over the events of each request, (n_requests,).

    Args:
        first_event: (n_requests + 1,) into events.
    """
    running = np.zeros(len(of_events) + 1, dtype=np.int64)
    np.cumsum(of_events, out=running[1:])
    return running[first_event[1:]] - running[first_event[:-1]]


def opening_of(events: Events, first_event: Ints) -> Bools:
    """Which events belong to the first engine step of their request, or share its first stamp, (n_events,)."""
    counts = np.diff(first_event)
    opening = first_event[:-1][counts > 0]
    step, time_ns = (np.repeat(column[opening], counts[counts > 0]) for column in (events.step, events.time_ns))
    together: Bools = (events.step == step) | (events.time_ns == time_ns)
    return together


def steps_of(events: Events) -> Steps:
    """The steps of these events.

    A step is stamped by its last event: that stamp is the same whether the kernel handed its events over in one read or in
    several. A step that brought no token passes its time on to the next one, so that gaps still sum to last minus first.
    """
    if not len(events.step):
        none, no = events.time_ns, events.censored
        return Steps(events.request, none, none, events.tokens, no, no, no)
    last = np.flatnonzero(np.append(events.step[1:] != events.step[:-1], True))
    tokens = np.diff(np.cumsum(events.tokens)[last], prepend=0)
    if not tokens.all():
        last, tokens = last[tokens > 0], tokens[tokens > 0]
    request, time_ns = events.request[last], events.time_ns[last]
    inside, censored = events.inside[last], events.censored[last]
    follows = request[1:] == request[:-1]
    return Steps(
        request=request[1:][follows],
        began_ns=time_ns[:-1][follows],
        gap_ns=np.diff(time_ns)[follows],
        tokens=tokens[1:][follows],
        inside=(inside[1:] & inside[:-1])[follows],
        censored=(censored[1:] | censored[:-1])[follows],
        began_censored=censored[:-1][follows],
    )


def _joined(parts: Sequence[Sequence[int]]) -> Ints:
    packed = [np.frombuffer(part.packed, dtype=np.int64) for part in parts if isinstance(part, PackedInts) and part]
    if packed and len(packed) == sum(map(bool, parts)):
        return np.concatenate(packed)
    return np.fromiter(chain.from_iterable(parts), dtype=np.int64, count=sum(map(len, parts)))


def _steps(records: Sequence[RequestRecord]) -> Ints:
    """The step number of each event: its own where the record has no steps of several events."""
    if all(record.step_events is None for record in records):
        return np.arange(sum(len(record.event_ns) for record in records))
    for record in records:
        if record.step_events is not None and sum(record.step_events) != len(record.event_ns):
            raise InternalError(f"analysis: block {record.block!r} request {record.index}: steps do not add up to its events")
    sizes = [(1,) * len(record.event_ns) if record.step_events is None else record.step_events for record in records]
    events_per_step = _joined(sizes)
    return np.repeat(np.arange(len(events_per_step)), events_per_step)


def _censored(records: Sequence[RequestRecord], counts: Ints) -> Bools:
    flags = np.zeros(int(counts.sum()), dtype=np.bool_)
    starts = np.cumsum(counts) - counts
    places = np.repeat(starts, [len(record.censored) for record in records])
    flags[places + _joined([record.censored for record in records])] = True
    return flags
