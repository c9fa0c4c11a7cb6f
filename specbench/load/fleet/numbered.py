"""Messages that arrive once and in order, whatever a connection drops: numbered, kept until acknowledged, sent again.

Pure but for the function that sends, which is given.
"""

from collections.abc import Callable, Iterator

from specbench.load.fleet.wire import Numbered, encode
from specbench.units import ns_of_s

AGAIN_NS = ns_of_s(1.0)
"""After so long without an acknowledgement a message is sent again."""

KEEP_ALIVE_NS = ns_of_s(0.5)
"""Each side says at least so often that it is there."""

KNOWN_NS = ns_of_s(0.1)
"""So long what has arrived may stay unsaid: a packet costs a master more than what is in it."""

PACKET_BYTES = 1 << 20
"""A packet takes no further message once it holds so much."""


class Outbox:
    """What one side has to say, numbered from 1."""

    def __init__(self) -> None:
        self._next = 1
        self._kept: dict[int, tuple[bytes, int | None]] = {}

    def put(self, payload: bytes) -> None:
        """One more message."""
        self._kept[self._next] = (payload, None)
        self._next += 1

    def due(self, now_ns: int) -> Iterator[tuple[int, bytes]]:
        """What is to be sent now: new messages, and those that nobody acknowledged in time."""
        for number, (payload, sent_ns) in list(self._kept.items()):
            if sent_ns is None or now_ns - sent_ns >= AGAIN_NS:
                self._kept[number] = (payload, now_ns)
                yield number, payload

    def acknowledged(self, number: int) -> None:
        """Everything up to this number has arrived."""
        for each in [kept for kept in self._kept if kept <= number]:
            del self._kept[each]

    @property
    def empty(self) -> bool:
        """Whether all that was said has arrived."""
        return not self._kept


class Inbox:
    """What the other side says; `arrived` is the number up to which nothing is missing."""

    def __init__(self) -> None:
        self.arrived = 0
        self._early: dict[int, bytes] = {}

    def take(self, number: int, payload: bytes) -> Iterator[bytes]:
        """The messages that are whole and in order with this one; a copy gives nothing."""
        if number > self.arrived:
            self._early[number] = payload
        while (ready := self._early.pop(self.arrived + 1, None)) is not None:
            self.arrived += 1
            yield ready


class Link:
    """Says and hears numbered messages; `send` takes each packet to the other side."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._outbox, self._inbox = Outbox(), Inbox()
        self._known_arrived = 0  # as the other side knows it
        self._spoke_ns = 0

    def say(self, message: object, now_ns: int) -> None:
        """The message will arrive, once and in order, or the other side is lost."""
        self.forward(encode(message), now_ns)

    def forward(self, payload: bytes, now_ns: int) -> None:
        """The packed message will arrive, once and in order, or the other side is lost."""
        self._outbox.put(payload)
        self.pump(now_ns)

    def add(self, payload: bytes) -> None:
        """The packed message goes out with the next one, or with the next `pump`."""
        self._outbox.put(payload)

    def hear(self, packet: Numbered) -> list[bytes]:
        """The messages that are in order with this packet."""
        self._outbox.acknowledged(packet.arrived)
        return [ready for number, payload in packet.messages for ready in self._inbox.take(number, payload)]

    def pump(self, now_ns: int) -> None:
        """Send what is due, and what has arrived if the other side does not know."""
        messages: list[tuple[int, bytes]] = []
        size = 0
        for number, payload in self._outbox.due(now_ns):
            messages.append((number, payload))
            size += len(payload)
            if size >= PACKET_BYTES:
                self._packet(messages, now_ns)
                messages, size = [], 0
        news = self._inbox.arrived != self._known_arrived
        if messages or now_ns - self._spoke_ns >= (KNOWN_NS if news else KEEP_ALIVE_NS):
            self._packet(messages, now_ns)

    def _packet(self, messages: list[tuple[int, bytes]], now_ns: int) -> None:
        self._known_arrived, self._spoke_ns = self._inbox.arrived, now_ns
        self._send(encode(Numbered(arrived=self._inbox.arrived, messages=tuple(messages))))
