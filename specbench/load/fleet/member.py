"""One worker as the master knows it: the connection to it, its clock, and its place in a block."""

from collections.abc import Callable, Sequence

from specbench.load.fleet.clock_offsets import ClockOffset, Echo, clocks_agree, drift_ns, offset_of
from specbench.load.fleet.ledger import WorkerLedger
from specbench.load.fleet.numbered import Link
from specbench.load.fleet.wire import FromWorker, LostRequest, Ping, Pong, ShareDone, WorkerClosed, encode
from specbench.load.messages import RequestJob
from specbench.stream.connection import now_ns


class Member:
    """One worker as the master knows it: `name` is empty until it has said who it is."""

    def __init__(self, worker_id: str, link: Link, send: Callable[[bytes], None]) -> None:
        self.id, self.link = worker_id, link
        self.name = ""
        self.hear: Callable[[FromWorker], None] | None = None
        self._send = send
        self._sent: dict[int, int] = {}
        self._echoes: list[Echo] = []
        self._pings = 0

    def ping(self) -> None:
        """Ask the worker what its clock says."""
        self._pings += 1
        self._sent[self._pings] = now_ns()
        self._send(encode(Ping(number=self._pings)))

    def echo(self, pong: Pong, back_ns: int) -> None:
        """The worker has said it."""
        if (sent_ns := self._sent.pop(pong.number, None)) is not None:
            self._echoes.append(Echo(sent_ns, pong.at_ns, back_ns))

    def offset(self) -> ClockOffset | None:
        """How far its clock is ahead, by all pings that have come back since this was last asked for."""
        found = offset_of(self._echoes)
        self._echoes.clear()
        self._sent.clear()
        return found


class Post:
    """One worker's place in a block, as the master knows it."""

    def __init__(self, member: Member, streams: tuple[int, ...]) -> None:
        self.member, self.streams = member, streams
        self.ledger = WorkerLedger()
        self._later_turns = 0  # of the sessions among what it was dealt, which the ledger counts as one each
        self.clock = ClockOffset(0, 0)
        self.clock_after: ClockOffset | None = None
        self.lined = self.idle = self.lost = False
        self.done: ShareDone | None = None

    def deal(self, jobs: Sequence[RequestJob]) -> None:
        """These requests and sessions went to the worker."""
        self.ledger.deal(job.index for job in jobs)
        self._later_turns += sum(len(job.then) for job in jobs)

    @property
    def unreported(self) -> int:
        """How many requests, turn by turn, it was dealt and has not reported."""
        return self.ledger.dealt.count + self._later_turns - self.ledger.reported.count

    def here(self, at_ns: int) -> int:
        """A moment of the worker's clock, by the master's."""
        return at_ns - self.clock.offset_ns

    def there(self, at_ns: int | None) -> int | None:
        """A moment of the master's clock, by the worker's."""
        return None if at_ns is None else at_ns + self.clock.offset_ns

    def agrees(self) -> bool:
        """Whether what it was dealt, sent and reported is the same here and there."""
        return self.done is not None and self.ledger.agrees(self.done.dealt, self.done.sent, self.done.reported)

    def clock_agrees(self) -> bool:
        """Whether its clock is known closely enough, before and after the block."""
        after = self.clock_after
        return after is not None and clocks_agree(max(self.clock.error_ns, after.error_ns), drift_ns(self.clock, after))

    def lost_requests(self, *, open_loop: bool) -> list[LostRequest]:
        """What was under way at it as it was lost."""
        return [
            LostRequest(
                index=request.index,
                stream=request.stream,
                sent_ns=self.here(request.sent_ns),
                scheduled_ns=self.here(request.sent_ns) if open_loop else None,
            )
            for request in self.ledger.lost()
        ]

    def closed(self) -> WorkerClosed:
        """How its part of the block went."""
        after = self.clock_after
        return WorkerClosed(
            name=self.member.name,
            streams=len(self.streams),
            lost=self.lost,
            health=None if self.done is None else self.done.health,
            clock_offset_ns=None if after is None else self.clock.offset_ns,
            clock_error_ns=None if after is None else max(self.clock.error_ns, after.error_ns),
            clock_drift_ns=None if after is None else drift_ns(self.clock, after),
        )
