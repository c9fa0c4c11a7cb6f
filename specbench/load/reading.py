"""Reads an answer on the event loop's own turn, which saves most of what a read costs. Nothing is decoded here.

A blocking read under gevent tries, fails, makes a waiter and a timer, and switches greenlets twice. Here one watcher per
answer calls the transport whenever bytes have come, and one timer keeps the deadlines.
"""

import sys

from gevent import get_hub
from gevent.hub import Waiter

from specbench.stream.clock import now_ns
from specbench.stream.exchange import Exchange
from specbench.stream.transport import StampingTransport
from specbench.units import seconds

READABLE = 1


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
