"""Reads an answer on the event loop's own turn, which saves most of what a read costs. Nothing is decoded here.

A blocking read under gevent tries, fails, makes a waiter and a timer, and switches greenlets twice. Here one watcher per
answer calls the transport whenever bytes have come, and one timer keeps the deadlines.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gevent import get_hub, monkey
from gevent.hub import Waiter

from specbench.stream.clock import now_ns
from specbench.stream.exchange import Exchange
from specbench.stream.transport import StampingTransport
from specbench.units import seconds

READABLE = 1

MANY = 32
GATHER_S = 0.0003
"""From so many answers on, bytes gather for so long before the next look at the sockets: a twentieth of an engine's step."""


class Reading:
    """One answer being read by the event loop; `to_end` returns when it has ended, well or not."""

    def __init__(self, transport: StampingTransport, exchange: Exchange) -> None:
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
            self._transport.read_ready(self._exchange)
        except BaseException:  # noqa: BLE001 - on the event loop nobody else would hear of it
            self._waiter.throw(*sys.exc_info())
        else:
            if self._exchange.finished:
                self._waiter.switch(None)

    def _check(self) -> None:
        """The deadline moves with every token: the alarm is set anew when it rings, not when a token comes."""
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
        return max(0.0, seconds(self._exchange.deadline()[0] - now_ns()))


@contextmanager
def gathering(enough: Callable[[], bool]) -> Iterator[None]:
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
