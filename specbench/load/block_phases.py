"""When a block's steady window opens and closes, when the block is over, and how long a stream waits after failures.

Pure: it is told the time.
"""

from typing import Protocol

from specbench.load.messages import BlockSpec
from specbench.units import ns_of_s

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 0.25
DEAD_S = 1.0
DEAD_RUN = 20
SLOWEST_ANSWERS = 4
"""A drain that need not be whole lasts so many times the block's slowest answer, as others may be slower still."""

START_SPREAD_S = 0.001
"""A request takes a quarter of a millisecond to begin: streams start at least so far apart, or they leave late."""


class WindowLike(Protocol):
    """The course of a block as those who drive it know it: a `Window`, or what a fleet's master tells of its own."""

    opened_ns: int | None
    closed_ns: int | None
    short: bool
    reason: str

    def sent(self, stream: int, sent_ns: int) -> None:
        """A stream is about to send a request."""

    def ended(self, stream: int, now_ns: int, failed: bool) -> None:
        """The request of a stream has ended."""

    def no_more_work(self, now_ns: int) -> None:
        """No further request will be handed over."""

    def stop(self, now_ns: int, reason: str) -> None:
        """The block ends now."""

    def over(self, now_ns: int) -> bool:
        """Whether nothing that counts is in flight any more."""

    def holds(self, sent_ns: int) -> bool:
        """Whether a request that was sent at this moment was sent inside the window, which has closed."""


class Window:
    """The course of one block: ramp, steady window, drain, end.

    It opens when every stream has finished one request or after `ramp_s`; it closes when `min_requests` requests have
    ended well since it opened and `min_s` have passed, or after `max_s` (then it is short), or when the work is done, or
    when the endpoint is dead: the last max(20, 2 × streams) requests all failed, and a second has passed. The block is
    over once every request that was sent inside the window has ended, at most `drain_s` later (`BlockSpec`). In the open loop
    a request counts as sent at the moment for which it was scheduled.
    """

    def __init__(self, order: BlockSpec, start_ns: int) -> None:
        self._order = order
        self._start_ns = start_ns
        self._dead_run = max(DEAD_RUN, 2 * (order.concurrency or 0))
        self._finished_one: set[int] = set()
        self._in_flight: dict[int, int] = {}
        self._failed_in_a_row = 0
        self._ended_well = 0
        self._slowest_ns = 0
        self._enough_requests_ns: int | None = start_ns if order.min_requests == 0 else None
        self._work_done = False
        self._over_ns: int | None = None
        self.opened_ns: int | None = None
        self.closed_ns: int | None = None
        self.short = False
        self.reason = ""

    def sent(self, stream: int, sent_ns: int) -> None:
        """A stream is about to send a request; its moment is now, or in the open loop the one for which it was scheduled."""
        self.advance(sent_ns)
        self._in_flight[stream] = sent_ns

    def ended(self, stream: int, now_ns: int, failed: bool) -> None:
        """The request of a stream has ended."""
        self.advance(now_ns)
        sent_ns = self._in_flight.pop(stream, now_ns)
        if not failed:
            self._slowest_ns = max(self._slowest_ns, now_ns - sent_ns)
        self._finished_one.add(stream)
        self._failed_in_a_row = self._failed_in_a_row + 1 if failed else 0
        if self.opened_ns is not None and not failed:
            self._ended_well += 1
            if self._ended_well == self._order.min_requests:
                self._enough_requests_ns = now_ns
        self.advance(now_ns)

    def no_more_work(self, now_ns: int) -> None:
        """No further request will be handed to this block."""
        self._work_done = True
        self.advance(now_ns)

    def stop(self, now_ns: int, reason: str) -> None:
        """The block ends now, whatever is in flight."""
        if self.closed_ns is None:
            self._close(now_ns, reason, short=True)
        self._over_ns = now_ns

    def over(self, now_ns: int) -> bool:
        """Whether nothing that counts is in flight any more: what still is may be cut."""
        self.advance(now_ns)
        return self._over_ns is not None

    def advance(self, now_ns: int) -> None:
        """Let the time pass; bounds that a clock sets are kept exactly, however late this is called."""
        if self.opened_ns is None and self.closed_ns is None:
            self._try_open(now_ns)
        if self.closed_ns is None:
            self._try_close(now_ns)
        if self.closed_ns is not None and self._over_ns is None:
            drained = now_ns >= self.closed_ns + self._drain_ns() or self.reason == "endpoint_dead"
            if drained or not any(map(self.holds, self._in_flight.values())):
                self._over_ns = now_ns

    def holds(self, sent_ns: int) -> bool:
        """Whether a request that was sent at this moment was sent inside the window, which has closed."""
        return self.opened_ns is not None and self.closed_ns is not None and self.opened_ns <= sent_ns < self.closed_ns

    def _drain_ns(self) -> int:
        whole_ns, shorter_s = ns_of_s(self._order.drain_s), self._order.shorter_drain_s
        if shorter_s is None or not self._slowest_ns:
            return whole_ns
        return min(whole_ns, max(ns_of_s(shorter_s), SLOWEST_ANSWERS * self._slowest_ns))

    def _try_open(self, now_ns: int) -> None:
        ramp_end = self._start_ns + ns_of_s(self._order.ramp_s)
        if now_ns >= ramp_end:
            self.opened_ns = ramp_end
        elif self._order.concurrency is not None and len(self._finished_one) >= self._order.concurrency:
            self.opened_ns = now_ns

    def _try_close(self, now_ns: int) -> None:
        if self._failed_in_a_row >= self._dead_run and now_ns >= self._start_ns + ns_of_s(DEAD_S):
            self._close(now_ns, "endpoint_dead", short=True)
        elif self._work_done and not self._in_flight:
            self._close(now_ns, "work_done", short=False)
        elif self.opened_ns is not None:
            latest_ns = self.opened_ns + ns_of_s(self._order.max_s)
            if self._enough_requests_ns is not None:
                enough_ns = max(self.opened_ns + ns_of_s(self._order.min_s), self._enough_requests_ns)
                if enough_ns <= min(now_ns, latest_ns):
                    self._close(enough_ns, "complete", short=False)
            if self.closed_ns is None and now_ns >= latest_ns:
                self._close(latest_ns, "max_time", short=True)

    def _close(self, now_ns: int, reason: str, *, short: bool) -> None:
        self.closed_ns = now_ns
        self.reason = reason
        self.short = short


def spread_s(least_s: float, fullest: int) -> float:
    """Over how many seconds streams start, where the process that carries the most of them carries so many."""
    return max(least_s, START_SPREAD_S * fullest)


def pause_s(failures: int) -> float:
    """The pause after so many failures in a row: it doubles up to the longest."""
    return min(FIRST_PAUSE_S * (1 << min(failures - 1, 8)), LONGEST_PAUSE_S)
