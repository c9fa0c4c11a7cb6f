"""The course of one block at the master: the clocks, the work dealt, one window for all, the end, and who was lost."""

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Protocol

import gevent
import msgspec

from specbench.load.block_phases import Window, spread_s
from specbench.load.fleet.clock_offsets import PINGS, ClockOffset
from specbench.load.fleet.dealing import AHEAD, Dealer, stream_numbers
from specbench.load.fleet.member import Member, Post
from specbench.load.fleet.wire import (
    FleetBlock,
    FleetClosed,
    FromWorker,
    Go,
    Jobs,
    Lined,
    NoMoreJobs,
    Notice,
    RecordBatch,
    Records,
    Share,
    ShareDone,
    Wanted,
    WindowIs,
    encode,
)
from specbench.load.messages import BlockClosed, NoMoreWork, RequestJob
from specbench.model.records import Void
from specbench.stream.connection import now_ns
from specbench.units import ns_of_s

RUNS_LOW = 0.25
"""Of a closed loop's reserve: a worker that has used so much of it since it was last dealt to gets more at once."""

TICK_S = 0.02
DEAL_S = 0.05
"""How often work is dealt and the window is looked at while load goes on; workers hold enough for longer."""

BEHIND_NS = ns_of_s(0.3)
"""The window is looked at so long after the fact, when all notices of that time are in, and can be taken in their order."""

AHEAD_NS = ns_of_s(0.1)
LEAD_NS = ns_of_s(0.5)  # in the open loop, connections open before their requests are due
PING_EVERY_S, PINGS_BACK_S = 0.01, 0.3
DONE_S = 20.0
"""So long after a block is over a worker that is alive may take to say so."""


class MasterLike(Protocol):
    """What a course needs of the master."""

    @property
    def refused(self) -> int:
        """How many connections and messages were refused so far."""

    def tell(self, message: object) -> None:
        """The parent will hear it."""

    def alive(self, member: Member) -> bool:
        """Whether the worker's heart was heard."""

    def crew(self, lane: int) -> list[Member] | None:
        """The workers of a lane; None where they are not all there in time."""


class BlockCourse:
    """One block from its order to its end."""

    def __init__(self, fleet: MasterLike, lane: int, serial: int, block: FleetBlock) -> None:
        self._fleet, self._lane, self._serial, self._block = fleet, lane, serial, block
        self._order = block.spec
        self._early: list[RequestJob] = []
        self._no_more = False
        self._dealer: Dealer | None = None
        self._posts: dict[str, Post] = {}
        self._places: dict[str, int] = {}
        self._aborted = False
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._window = Window(block.spec, now_ns())
        self._announced: tuple[int | None, int | None, bool] | None = None

    def give(self, work: RequestJob | NoMoreWork) -> None:
        """One more request, or the word that none follows."""
        if isinstance(work, RequestJob):
            self._early.append(work)
        else:
            self._no_more = True

    def abort(self) -> None:
        """End now; what is in flight is cut."""
        self._aborted = True

    def drive(self) -> FleetClosed:
        """The block has run to its end, or to where a worker was lost."""
        crew = self._fleet.crew(self._lane)
        if crew is None:
            self._window.stop(now_ns(), "workers_missing")
            return self._closed("workers_missing")
        if self._block.crew and self._block.crew != tuple(member.name for member in crew):
            self._window.stop(now_ns(), "workers_changed")
            return self._closed("workers_changed")
        numbers = self._numbers(len(crew))
        for place, (member, streams) in enumerate(zip(crew, numbers, strict=True)):
            self._posts[member.id], self._places[member.id] = Post(member, streams), place
            member.hear = partial(self._hear, self._posts[member.id])
        for post, clock in self._clocks():
            post.lost, post.clock = clock is None, clock or post.clock
        if not self._lost():
            self._load(numbers)
        void = self._end()
        for post in self._posts.values():
            post.member.hear = None
        return self._closed(void)

    def _hear(self, post: Post, message: FromWorker) -> None:
        """What a worker says of its part; of an earlier block nothing counts any more."""
        if getattr(message, "serial", None) != self._serial:
            return
        match message:
            case Lined():
                post.lined = True
            case Notice():
                self._notice(post, message)
            case Records():
                post.ledger.report(message.indices)
                self._fleet.tell(RecordBatch(lane=self._lane, lines=message.lines))
            case ShareDone():
                post.done = message

    def _numbers(self, workers: int) -> tuple[tuple[int, ...], ...]:
        streams = self._order.concurrency
        return stream_numbers(workers, self._order.in_flight_limit * workers if streams is None else streams)

    def _load(self, numbers: Sequence[tuple[int, ...]]) -> None:
        """Deal, line up, go, and keep the load up until nothing that counts is in flight any more."""
        of, fullest = sum(map(len, numbers)), max(map(len, numbers))
        stagger_s = spread_s(self._order.stagger_s, fullest)
        open_loop = self._order.concurrency is None
        for post in self._posts.values():
            spec = msgspec.structs.replace(self._order, concurrency=None if open_loop else len(post.streams), stagger_s=stagger_s)
            share = Share(serial=self._serial, block=msgspec.structs.replace(self._block, spec=spec), streams=post.streams, of=of)
            post.member.link.say(share, now_ns())
        self._dealer = Dealer([len(streams) for streams in numbers], open_loop=open_loop)
        self._fleet.tell(Wanted(lane=self._lane, count=self._dealer.ahead))
        while not self._ends() and not all(post.lined for post in self._posts.values()):
            self._deal()
            gevent.sleep(TICK_S)
        start_ns = now_ns() + AHEAD_NS + (LEAD_NS if open_loop else 0)
        self._window = Window(self._order, start_ns)
        for post in self._posts.values():
            go = Go(serial=self._serial, at_ns=post.there(start_ns) or 0, offset_ns=post.clock.offset_ns)
            post.member.link.say(go, now_ns())
        while not self._ends() and not self._over(now_ns() - BEHIND_NS):
            self._deal()
            gevent.sleep(DEAL_S)

    def _ends(self) -> bool:
        return self._aborted or self._lost()

    def _lost(self) -> bool:
        for post in self._posts.values():
            post.lost = post.lost or not self._fleet.alive(post.member)
        return any(post.lost for post in self._posts.values())

    def _over(self, until_ns: int) -> bool:
        """Whether the block is over, after all that is known to have happened until then, in its order."""
        while self._events and self._events[0][0] <= until_ns:
            heappop(self._events)[2]()
        over = self._window.over(until_ns)
        self._tell_window(over)
        return over

    def _tell_window(self, over: bool) -> None:
        if over:
            self._dealer = None  # what is dealt behind the end would be missed in the worker's count
        bounds = (self._window.opened_ns, self._window.closed_ns, over)
        if bounds == self._announced:
            return
        self._announced = bounds
        for post in self._posts.values():
            window = WindowIs(
                serial=self._serial,
                opened_ns=post.there(bounds[0]),
                closed_ns=post.there(bounds[1]),
                over=over,
                aborted=over and self._ends(),
            )
            post.member.link.say(window, now_ns())

    def _notice(self, post: Post, notice: Notice) -> None:
        post.ledger.begin(notice.begun)
        for begun in notice.begun:
            at_ns = post.here(begun.sent_ns)
            self._later(at_ns, lambda stream=begun.stream, at_ns=at_ns: self._window.sent(stream, at_ns))  # type: ignore[misc]
        for end in notice.ended:
            at_ns = post.here(end.at_ns)
            self._later(at_ns, lambda end=end, at_ns=at_ns: self._window.ended(end.stream, at_ns, end.failed))  # type: ignore[misc]
        if notice.idle and not post.idle:
            post.idle = True
            if all(one.idle or not one.streams for one in self._posts.values()):
                at_ns = max([now_ns(), *(event[0] for event in self._events)])
                self._later(at_ns, lambda: self._window.no_more_work(at_ns))
        if notice.freed and self._dealer is not None:
            self._dealer.ended(self._places[post.member.id], notice.freed)
            self._fleet.tell(Wanted(lane=self._lane, count=notice.freed))

    def _later(self, at_ns: int, what: Callable[[], None]) -> None:
        self._count += 1
        heappush(self._events, (at_ns, self._count, what))

    def _deal(self) -> None:
        """What has come from the run since the last time goes to the workers, in one message each.

        Where a worker holds enough, it travels with the master's next packet: a packet costs more than what is in it.
        """
        dealer = self._dealer
        if dealer is None:
            return
        dealer.take(self._early)
        self._early.clear()
        if self._no_more:
            dealer.no_more()
        posts = list(self._posts.values())
        dealt: dict[int, list[RequestJob]] = {}
        for place, job in dealer.deals():
            dealt.setdefault(place, []).append(job)
        for place, jobs in dealt.items():
            post, message = posts[place], Jobs(serial=self._serial, jobs=tuple(jobs))
            post.deal(jobs)
            if self._order.concurrency is None or len(jobs) >= RUNS_LOW * (len(post.streams) + AHEAD):
                post.member.link.say(message, now_ns())
            else:
                post.member.link.add(encode(message))
        if dealer.just_done():
            for post in posts:
                post.member.link.say(NoMoreJobs(serial=self._serial), now_ns())

    def _end(self) -> Void | None:
        """All workers have ended their parts, but for those that are lost; why the block counts for nothing, if it does."""
        if self._lost():
            self._window.stop(now_ns(), "worker_lost")
        elif self._aborted:
            self._window.stop(now_ns(), "aborted")
        self._tell_window(over=True)
        until_ns = now_ns() + ns_of_s(DONE_S)
        while any(post.done is None and not post.lost for post in self._posts.values()):
            self._lost()
            for post in self._posts.values():
                post.lost = post.lost or (post.done is None and now_ns() > until_ns)
            gevent.sleep(TICK_S)
        if self._lost():
            return "worker_lost"
        for post, clock in self._clocks():
            post.clock_after = clock
        if self._lost():
            return "worker_lost"
        if not all(post.agrees() for post in self._posts.values()) and not self._aborted:
            return "requests_missing"
        return None if all(post.clock_agrees() for post in self._posts.values()) else "clocks_disagree"

    def _clocks(self) -> list[tuple[Post, ClockOffset | None]]:
        """Each worker's clock by twenty pings; None where none came back."""
        posts = list(self._posts.values())
        for post in posts:
            post.member.offset()
        for _ in range(PINGS):
            for post in posts:
                post.member.ping()
            gevent.sleep(PING_EVERY_S)
        gevent.sleep(PINGS_BACK_S - PINGS * PING_EVERY_S)
        return [(post, post.member.offset()) for post in posts]

    def _closed(self, void: Void | None) -> FleetClosed:
        window, posts = self._window, list(self._posts.values())
        parts = [post.done.closed for post in posts if post.done is not None]
        closed = BlockClosed(
            block=self._order.block,
            window_open_ns=window.opened_ns,
            window_close_ns=window.closed_ns if window.opened_ns is not None else None,
            short=window.short,
            end_reason=window.reason,
            aborted=self._aborted,
            in_flight_limit_reached=any(part.in_flight_limit_reached for part in parts),
            cpu_share=None,
        )
        lost = [
            request for post in posts if post.lost for request in post.lost_requests(open_loop=self._order.concurrency is None)
        ]
        unreported = sum(post.unreported for post in posts if post.lost)
        return FleetClosed(
            lane=self._lane,
            closed=closed,
            workers=tuple(post.closed() for post in posts),
            void=void,
            lost=tuple(lost),
            lost_unsent=unreported - len(lost),
            refused=self._fleet.refused,
        )
