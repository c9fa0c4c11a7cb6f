"""Content events of a cell as arrays, and the engine steps that they make up as the client sees them.

No metric is computed here; which events make one step was decided when the record was made.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps that follow another one in their request, all (n_steps,), in the order of their events.

    `request` index; `gap_ns` since the step before; `tokens` the step brought; `inside` where both ends lie in the steady
    window; `censored` where the time of either end is only an upper bound.
    """

    request: Ints
    gap_ns: Ints
    tokens: Ints
    inside: Bools
    censored: Bools

    def of(self, requests: Bools, renumbered: Ints) -> "Steps":
        """Only the steps of these requests, (n_requests,), which have these new numbers, (n_requests,)."""
        kept = requests[self.request]
        return Steps(renumbered[self.request[kept]], self.gap_ns[kept], self.tokens[kept], self.inside[kept], self.censored[kept])


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


def steps_of(events: Events) -> Steps:
    """The steps of these events.

    A step is stamped by its last event: that stamp is the same whether the kernel handed its events over in one read or in
    several. A step that brought no token passes its time on to the next one, so that gaps still sum to last minus first.
    """
    if not len(events.step):
        return Steps(events.request, events.time_ns, events.tokens, events.inside, events.censored)
    last = np.flatnonzero(np.append(events.step[1:] != events.step[:-1], True))
    tokens = np.diff(np.cumsum(events.tokens)[last], prepend=0)
    if not tokens.all():
        last, tokens = last[tokens > 0], tokens[tokens > 0]
    request, time_ns = events.request[last], events.time_ns[last]
    inside, censored = events.inside[last], events.censored[last]
    follows = request[1:] == request[:-1]
    return Steps(
        request=request[1:][follows],
        gap_ns=np.diff(time_ns)[follows],
        tokens=tokens[1:][follows],
        inside=(inside[1:] & inside[:-1])[follows],
        censored=(censored[1:] | censored[:-1])[follows],
    )
