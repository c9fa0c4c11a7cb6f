"""One end of the connection between master and worker: messages that must arrive, over one that may drop them."""

from collections.abc import Callable

from specbench.load.fleet.numbered import Inbox, Outbox
from specbench.load.fleet.wire import Numbered, encode
from specbench.units import ns_of_s

KEEP_ALIVE_NS = ns_of_s(0.5)
"""Each side says at least so often that it is there."""


class Link:
    """Says and hears numbered messages; `send` takes each packet to the other side."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._outbox, self._inbox = Outbox(), Inbox()
        self._told_arrived = 0
        self._spoke_ns = 0

    def say(self, message: object, now_ns: int) -> None:
        """The message will arrive, once and in order, or the other side is lost."""
        self.forward(encode(message), now_ns)

    def forward(self, payload: bytes, now_ns: int) -> None:
        """The same for a message that is packed already."""
        self._outbox.put(payload)
        self.pump(now_ns)

    def hear(self, packet: Numbered) -> list[bytes]:
        """The messages that are in order with this packet."""
        self._outbox.acknowledged(packet.arrived)
        return list(self._inbox.take(packet.number, packet.payload)) if packet.number else []

    def pump(self, now_ns: int) -> None:
        """Send what is due, and what has arrived if the other side does not know."""
        for number, payload in self._outbox.due(now_ns):
            self._packet(Numbered(number=number, arrived=self._inbox.arrived, payload=payload), now_ns)
        if self._inbox.arrived != self._told_arrived or now_ns - self._spoke_ns >= KEEP_ALIVE_NS:
            self._packet(Numbered(number=0, arrived=self._inbox.arrived), now_ns)

    @property
    def all_arrived(self) -> bool:
        """Whether the other side has all that was said."""
        return self._outbox.empty

    def _packet(self, packet: Numbered, now_ns: int) -> None:
        self._told_arrived, self._spoke_ns = packet.arrived, now_ns
        self._send(encode(packet))
