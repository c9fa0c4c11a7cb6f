"""Messages that arrive once and in order, whatever a connection drops: numbered, kept until acknowledged, sent again. Pure."""

from collections.abc import Iterator

from specbench.units import ns_of_s

AGAIN_NS = ns_of_s(1.0)
"""After so long without an acknowledgement a message is sent again."""


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
