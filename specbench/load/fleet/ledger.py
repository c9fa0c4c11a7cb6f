"""Which requests of a block were dealt, begun and reported, worker by worker, so that none is lost quietly. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec


class Tally(msgspec.Struct, frozen=True, array_like=True):
    """So many requests, and the sum of their indices: two tallies that agree are the same requests, but for a conspiracy."""

    count: int = 0
    indices: int = 0

    def plus(self, indices: Iterable[int]) -> "Tally":
        """With these requests as well."""
        more = tuple(indices)
        return Tally(self.count + len(more), self.indices + sum(more))


NONE = Tally()


class BegunRequest(msgspec.Struct, frozen=True, array_like=True):
    """A request that a worker has begun: its index, its stream, and when, by the worker's clock."""

    index: int
    stream: int
    sent_ns: int


@dataclass(slots=True)
class WorkerLedger:
    """One worker's part of a block as the master knows it."""

    dealt: Tally = NONE
    reported: Tally = NONE
    begun: dict[int, BegunRequest] = field(default_factory=dict)
    _early: set[int] = field(default_factory=set)

    def deal(self, indices: Iterable[int]) -> None:
        """These requests went to the worker."""
        self.dealt = self.dealt.plus(indices)

    def begin(self, requests: Iterable[BegunRequest]) -> None:
        """The worker has begun these."""
        for request in requests:
            if request.index in self._early:
                self._early.discard(request.index)
            else:
                self.begun[request.index] = request

    def report(self, indices: Iterable[int]) -> None:
        """The records of these have arrived."""
        arrived = tuple(indices)
        self.reported = self.reported.plus(arrived)
        for index in arrived:
            if self.begun.pop(index, None) is None:
                self._early.add(index)

    def lost(self) -> tuple[BegunRequest, ...]:
        """What was begun and never reported."""
        return tuple(self.begun.values())

    def agrees(self, dealt: Tally, sent: Tally, reported: Tally) -> bool:
        """Whether the worker's own tallies are the master's, and all that it sent was reported."""
        return dealt == self.dealt and sent == reported == self.reported
