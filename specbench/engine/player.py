"""Answers a request by a play (`plays.py`): its head at once, then each of its writes when it is due. Notes when each left."""

import time
from collections import deque
from collections.abc import Callable

from specbench.engine.even_stream import Connection, chunk_of
from specbench.engine.plays import NO_KEY, Play
from specbench.engine.sent import Performed

NS_PER_MS = 1_000_000


class Player:
    """Plays on any connection of an endpoint, whose way to send, close and wait it is given.

    `send` tells whether the bytes went out; `wait_until` lets `go_on` be called at a moment of the monotonic clock.
    """

    def __init__(
        self,
        send: Callable[[Connection, bytes], bool],
        close: Callable[[Connection], None],
        wait_until: Callable[[Connection, int], None],
    ) -> None:
        self._send = send
        self._close = close
        self._wait_until = wait_until

    def begin(self, connection: Connection, play: Play, performed: Performed) -> None:
        """The play's head goes out, and its first write has its time."""
        connection.answers += 1
        if play.refuses_reused and connection.answers > 1:
            self._close(connection)
            return
        if play.refuses_keys and performed.keys:
            self._send(connection, NO_KEY)
            return
        connection.play, connection.performed, connection.writes = play, performed, deque(play.writes)
        self._send(connection, play.head)
        self._wait_until(connection, connection.asked_ns + round(play.writes[0].after_ms * NS_PER_MS))

    def go_on(self, connection: Connection) -> None:
        """The next write of a play goes out, and the one after it has its time, counted from now."""
        play, performed, write = connection.play, connection.performed, connection.writes.popleft()
        assert play is not None
        assert performed is not None
        last = not connection.writes and not play.stays_open
        now_ns = time.monotonic_ns()  # before the write: whoever reads it may run before this process does again
        if not self._send(connection, chunk_of(write.data) + b"0\r\n\r\n" * last if play.framed else write.data):
            return
        performed.sent_ns += [now_ns] * len(write.tokens)
        performed.tokens += write.tokens
        if connection.writes:
            self._wait_until(connection, now_ns + round(connection.writes[0].after_ms * NS_PER_MS))
