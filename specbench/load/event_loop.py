"""Reads an answer on the event loop's own turn, which saves most of what a read costs. Nothing is decoded here.

A blocking read under gevent tries, fails, makes a waiter and a timer, and switches greenlets twice. Here one watcher per
answer calls the transport whenever bytes have come, and one timer keeps the deadlines.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gevent import get_hub, monkey
from gevent.hub import Waiter

from specbench.stream.connection import now_ns
from specbench.stream.exchange import Exchange
from specbench.stream.transport import StampingTransport
from specbench.units import ns_of_ms, seconds

READABLE = 1
BLANK = b"\n\n"  # what ends an event; one that is not at the end of a frame has another event behind it
NEVER_NS = 1 << 63

CLOSE_NS = ns_of_ms(1.0)
"""How closely the first bytes of a read must be known to be timed by the look that found them: a tenth of an engine's step.
It is only asked where a read holds several events, which is rare; the last of them has the kernel's own stamp."""

WITNESSES = 4
"""Reads of one look that vouch for each other: had the loop been late by a whole gap, the others would have come all along it."""

MANY = 32
GATHER_S = 0.0005
"""From so many answers on, bytes gather for so long before the next look at the sockets, which stays a close one."""


class PollTimes:
    """When the event loop looked at the sockets, and with it when the first bytes of a read were there.

    What is readable at a look, and was not before, has come since the look before; and if the loop slept in between, not
    before the earliest arrival that this look found, as that would have woken it. Where that leaves little room, the first
    bytes of every read are timed by the look, whatever came on top before they were read.
    """

    def __init__(self) -> None:
        self._before_ns = self._at_ns = now_ns()
        self._reads = 0
        self._earliest_ns = NEVER_NS
        self._several: list[Exchange] = []

    def note(self, exchange: Exchange) -> None:
        """A frame was read in consequence of the last look; only one with several events asks for more than its stamp."""
        self._reads += 1
        stamp_ns = exchange.stamps[-1]
        if stamp_ns < self._earliest_ns:
            self._earliest_ns = stamp_ns
        if exchange.pieces[-1].find(BLANK, 0, -1) >= 0:
            self._several.append(exchange)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """While this is open, looks are noted."""
        after_looking = get_hub().loop.check()
        after_looking.priority = 2  # type: ignore[attr-defined] # libev's highest: before anything is read
        after_looking.start(lambda: self.look(now_ns()))
        try:
            yield
        finally:
            after_looking.stop()
            after_looking.close()

    def look(self, at_ns: int) -> None:
        """The loop has looked just now; what was read since the look before is timed by that one, if it can be."""
        if self._several:
            since_ns = self._before_ns
            if self._reads >= WITNESSES:
                since_ns = max(since_ns, self._earliest_ns)
            if self._at_ns - since_ns <= CLOSE_NS:
                for exchange in self._several:
                    exchange.firsts[-1] = self._at_ns
            self._several.clear()
        self._reads, self._earliest_ns = 0, NEVER_NS
        self._before_ns, self._at_ns = self._at_ns, at_ns


class StreamReader:
    """One answer being read by the event loop; `to_end` returns when it has ended, well or not."""

    def __init__(self, transport: StampingTransport, exchange: Exchange, looks: PollTimes) -> None:
        self._looks = looks
        self._transport = transport
        self._exchange = exchange
        self._waiter: Waiter[None] = Waiter()
        loop = get_hub().loop
        self._readable = loop.io(transport.watch(), READABLE)
        self._alarm = loop.timer(self._left_s())

    def to_end(self) -> None:
        """Wait until nothing more is to be read; other streams are read meanwhile."""
        if self._exchange.finished:
            return
        self._readable.start(self._read)
        self._alarm.start(self._check)
        try:
            self._waiter.get()
        finally:
            for watcher in (self._readable, self._alarm):
                watcher.stop()
                watcher.close()

    def _read(self) -> None:
        try:
            if self._transport.read_ready(self._exchange):
                self._looks.note(self._exchange)
        except BaseException:  # noqa: BLE001 - on the event loop nobody else would hear of it
            self._waiter.throw(*sys.exc_info())
        else:
            if self._exchange.finished:
                self._waiter.switch(None)

    def _check(self) -> None:
        """The deadline moves with every token: the alarm is set anew when it rings, not when a token comes.

        With the first token it may come nearer, so that the alarm rings at least as often as tokens must come.
        """
        deadline_ns, late = self._exchange.deadline()
        if now_ns() >= deadline_ns:
            self._exchange.fail(late, "nothing came in time")
            self._waiter.switch(None)
        else:
            self._alarm.stop()
            self._alarm.close()
            self._alarm = get_hub().loop.timer(self._left_s())
            self._alarm.start(self._check)

    def _left_s(self) -> float:
        left_s = seconds(self._exchange.deadline()[0] - now_ns())
        return max(0.0, min(left_s, self._transport.timeouts.between_tokens_s))


@contextmanager
def coalesced_reads(enough: Callable[[], bool]) -> Iterator[None]:
    """While this is open and `enough()`, bytes gather for a moment before each look at the sockets.

    To wake up for every chunk alone is a third of what a chunk costs. The kernel has stamped what waits, so that no time is
    lost, as long as nothing waits until the next chunk of its own stream.
    """
    pause = monkey.get_original("time", "sleep")
    before_looking = get_hub().loop.prepare()
    before_looking.start(lambda: pause(GATHER_S) if enough() else None)
    try:
        yield
    finally:
        before_looking.stop()
        before_looking.close()
