"""One block under Locust: its streams are Locust users, which send one request after another. Lives in the child only."""

import contextlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import gevent
import httpx
from gevent.event import Event
from gevent.queue import SimpleQueue
from locust import User, constant, task
from locust.runners import Runner, WorkerRunner

from specbench import __version__
from specbench.load.block_phases import Window, WindowLike, pause_s, spread_s
from specbench.load.event_loop import MANY, PollTimes, StreamReader, coalesced_reads
from specbench.load.machine import ResourceMonitor, ResourceUsage
from specbench.load.messages import BlockClosed, BlockSpec, RequestJob, SessionEnded
from specbench.load.session_history import SessionHistory
from specbench.model.captures import Capture
from specbench.net.urls import redirect_target
from specbench.stream.connection import now_ns
from specbench.stream.exchange import Exchange
from specbench.stream.transport import EXCHANGE, StampingTransport
from specbench.units import ns_of_s, seconds

TICK_S = 0.02
"""How often a block looks at the time; the bounds of its window do not depend on it."""

LEAD_NS = ns_of_s(0.5)
"""How long before its moment an open-loop request gets its connection."""

TIMER_NS = ns_of_s(0.001)
"""The event loop's timers wait in whole milliseconds: the last one before a moment is passed by taking turns."""

STILL_OPEN = "still open when its block had waited for it long enough"

HEADERS = {
    "accept": "text/event-stream, application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": f"specbench/{__version__}",
}


@dataclass(frozen=True, slots=True)
class BlockPart:
    """One process's part of a block that several drive: its stream numbers, of so many in all, and the window of them all.

    `lined` is called once all its connections are open, then `BlockDriver.begin` is waited for; `begun` with the index, the
    stream and the moment of each request that is about to be sent; `freed` when a stream has sent all of its job.
    """

    numbers: Sequence[int]
    of: int
    window: WindowLike
    lined: Callable[[], None]
    begun: Callable[[int, int, int], None]
    freed: Callable[[], None]


class BlockDriver:
    """One block while it is driven. `tell` takes each answer on its way out; work comes in by `give`."""

    def __init__(self, order: BlockSpec, tell: Callable[[Capture | SessionEnded], None], part: BlockPart | None = None) -> None:
        self.order = order
        self._part = part
        self._tell = tell
        self._asked = self._url = httpx.URL(order.url.rstrip("/") + order.path)
        self._work: SimpleQueue[RequestJob | None] = SimpleQueue()
        self._transports: list[StampingTransport] = []
        alone = range(order.concurrency or order.in_flight_limit)
        numbers = alone if part is None else part.numbers
        self._numbers = iter(numbers)
        self._streams = len(numbers)
        self._of = len(alone) if part is None else part.of
        self._waiting = 0
        self._alive = 0
        self._started, self._over = Event(), Event()
        self._start_ns = now_ns()
        self._window: WindowLike = Window(order, self._start_ns) if part is None else part.window
        self._aborted = False
        self._held = 0
        self._reading = 0
        self._looks = PollTimes()
        self._stamped = False
        self._exhausted = False
        self._limit_hit = False

    def give(self, work: RequestJob | None) -> None:
        """One more request to send; None: that was all."""
        self._work.put(work)

    def abort(self) -> None:
        """End now; what is in flight is cut."""
        self._aborted = True

    def begin(self, start_ns: int, window: WindowLike) -> None:
        """All connections are open: the block, its window and its load begin at that moment."""
        self._start_ns = start_ns
        self._window = window
        self._started.set()

    def drive(self, runner: Runner) -> BlockClosed:
        """The block has run to its end, and everything it had in flight is told."""
        StreamUser.block = self
        self._alive = self._streams
        if isinstance(runner, WorkerRunner):
            runner.start_worker({StreamUser.__name__: self._streams})
        else:
            runner.start(self._streams, spawn_rate=self._streams)
        if not self._streams:
            self._all_lined()
        with self._looks.noted(), coalesced_reads(self._may_gather):
            watched = self._watch()
        self._over.set()
        self._started.set()
        self._work.put(None)
        for transport in self._transports:
            transport.cut()
        while self._alive:
            gevent.sleep(TICK_S / 4)
        runner.stop()
        window = self._window
        if window.closed_ns is None:  # aborted before the last connection was open, which began a window anew
            window.stop(now_ns(), "aborted")
        return BlockClosed(
            block=self.order.block,
            window_open_ns=window.opened_ns,
            window_close_ns=window.closed_ns if window.opened_ns is not None else None,
            short=window.short,
            end_reason=window.reason,
            aborted=self._aborted,
            in_flight_limit_reached=self._limit_hit,
            **watched._asdict(),
        )

    def stream(self) -> None:
        """The life of one stream, from its first request to its last."""
        try:
            number = next(self._numbers)
            transport = StampingTransport(self.order.timeouts, self.order.verify)
            self._transports.append(transport)
            headers = httpx.Headers(HEADERS)
            headers.update(self.order.headers)
            with httpx.Client(transport=transport, headers=headers, trust_env=False) as client:
                self._line_up(number, transport)
                failures, busy_until_ns = 0, 0
                while not self._over.is_set() and (job := self._next()) is not None:
                    history = SessionHistory(job)
                    for work in (job, *job.then):
                        self._await_moment(work, transport, busy_until_ns)
                        over = self._over.is_set()
                        answer = None if over else self._request(client, transport, number, work, history.body_of(work))
                        busy_until_ns = now_ns()
                        goes_on = work.index != job.last_index and (answer is None or history.goes_on(answer))
                        if not goes_on:
                            self._finish(job, early=work.index != job.last_index)
                        failures = failures + 1 if answer is not None and answer.failed else 0
                        if work.think_ns or failures:
                            think_s = max(0.0, seconds(work.think_ns - (now_ns() - busy_until_ns)))
                            wait_for(self._over, think_s + (pause_s(failures) if failures else 0.0))
                        if not goes_on:
                            break
        finally:
            self._alive -= 1

    def _line_up(self, number: int, transport: StampingTransport) -> None:
        """All connections of a closed loop are open before its first request; the starts are spread, so that streams do
        not run in step."""
        if self.order.concurrency is not None:
            with contextlib.suppress(Exception):  # the first request meets it again, and says so in its record
                transport.open(self._url)
        self._waiting += 1
        if self._waiting == self._streams:
            self._all_lined()
        wait_for(self._started)
        if self.order.concurrency is not None:
            spread = spread_s(self.order.stagger_s, self._streams)
            wait_for(self._over, max(0.0, seconds(self._start_ns - now_ns())) + spread * number / self._of)

    def _all_lined(self) -> None:
        if self._part is not None:
            self._part.lined()
            return
        start_ns = now_ns() + (0 if self.order.concurrency is not None else LEAD_NS)
        self.begin(start_ns, Window(self.order, start_ns))

    def _next(self) -> RequestJob | None:
        """The next request of whoever is free; None where there is none."""
        work = self._work.get()
        if work is None:
            self._work.put(None)  # for the other streams
            self._exhausted = True
            self._settle()
            return None
        self._held += 1
        return work

    def _finish(self, job: RequestJob, *, early: bool) -> None:
        """All is sent that is ever sent of this job."""
        self._held -= 1
        self._settle()
        if self._part is not None:
            self._part.freed()
        elif early:
            self._tell(SessionEnded(job.last_index))

    def _settle(self) -> None:
        """Once the last request has ended and none is left, the block has done its work."""
        if self._exhausted and not self._held:
            self._window.no_more_work(now_ns())

    def _await_moment(self, work: RequestJob, transport: StampingTransport, busy_until_ns: int) -> None:
        """An open-loop request waits for its moment, over a connection that is open by then."""
        if work.arrival_ns is None:
            return
        due_ns = self._start_ns + work.arrival_ns
        self._limit_hit = self._limit_hit or busy_until_ns > due_ns
        wait_for(self._over, max(0.0, seconds(due_ns - LEAD_NS - now_ns())))
        with contextlib.suppress(Exception):  # as above
            transport.open(self._url)
        wait_for(self._over, max(0.0, seconds(due_ns - TIMER_NS - now_ns())))
        while now_ns() < due_ns and not self._over.is_set():
            gevent.sleep(0)

    def _request(self, client: httpx.Client, transport: StampingTransport, number: int, work: RequestJob, body: bytes) -> Capture:
        """Send one request, read its answer, tell it."""
        due_ns = None if work.arrival_ns is None else self._start_ns + work.arrival_ns
        sent_ns = now_ns() if due_ns is None else due_ns
        self._window.sent(number, sent_ns)
        if self._part is not None:
            self._part.begun(work.index, number, sent_ns)
        url = self._url
        exchange = self._exchanged(client, transport, url, body)
        if url == self._asked and (target := _redirected(url, exchange)) is not None and not self._over.is_set():
            if self._url == self._asked:
                self._url = target  # of the whole block from now on
            url = self._url
            exchange = self._exchanged(client, transport, url, body)
        if exchange.problem == "cut" and not self._aborted and self._window.holds(exchange.sent_ns if due_ns is None else due_ns):
            exchange.problem, exchange.problem_text = "unanswered", STILL_OPEN
        self._stamped = exchange.stamp_source == "kernel" and bool(exchange.stamps)
        failed = exchange.problem != "cut" and not exchange.looks_successful
        answer = self._capture(exchange, number, work, failed, None if url == self._asked else url)
        self._tell(answer)
        self._window.ended(number, now_ns(), failed)
        return answer

    def _exchanged(self, client: httpx.Client, transport: StampingTransport, url: httpx.URL, body: bytes) -> Exchange:
        """The request, sent to that URL, and its answer."""
        exchange = Exchange(self.order.timeouts)
        request = client.build_request("POST", url, content=body, extensions={EXCHANGE: exchange})
        try:
            response = client.send(request, stream=True)
            self._reading += 1
            try:
                StreamReader(transport, exchange, self._looks).to_end()
            finally:
                self._reading -= 1
            response.close()
        except httpx.TransportError:
            pass  # the exchange has it
        except Exception as error:  # noqa: BLE001 - whatever one answer does to us is its record, and the others go on
            exchange.fail("protocol_error", f"{type(error).__name__}: {error}")
            transport.finish(exchange)
        return exchange

    def _may_gather(self) -> bool:
        """Whether reading a moment later changes no figure: stamps are the kernel's, and no request waits for its moment."""
        return self._reading >= MANY and self._stamped and self.order.concurrency is not None

    def _capture(self, exchange: Exchange, number: int, work: RequestJob, failed: bool, moved: httpx.URL | None) -> Capture:
        return Capture(
            block=self.order.block,
            index=work.index,
            stream=number,
            scheduled_ns=None if work.arrival_ns is None else self._start_ns + work.arrival_ns,
            sent_ns=exchange.sent_ns,
            connect_ns=exchange.connect_ns,
            reused=exchange.reused,
            retries=exchange.retries,
            status=exchange.framing.status,
            headers=exchange.framing.headers,
            stamps=exchange.stamps.tobytes(),
            reads=exchange.reads.tobytes(),
            firsts=exchange.firsts.tobytes(),
            sizes=array("q", map(len, exchange.pieces)).tobytes(),
            body=b"".join(exchange.pieces),
            end_ns=exchange.end_ns,
            stamp_source=exchange.stamp_source,
            problem=exchange.problem,
            problem_text=exchange.problem_text,
            clock_step=exchange.clock_step,
            failed=failed,
            data_after_end=exchange.data_after_end,
            redirected=None if moved is None else moved.raw_path.decode("ascii"),
            think_ns=work.think_ns,
        )

    def _watch(self) -> ResourceUsage:
        """Wait until the block is over. Returns what this process and its machine did while the window was open."""
        watch = ResourceMonitor()
        while not self._aborted and not wait_for(self._started, TICK_S):
            pass  # the window's time begins when all connections are open, however long that takes
        while not self._aborted and not self._window.over(now_ns()):
            watch.window_is(self._window.opened_ns is not None, self._window.closed_ns is not None)
            before_ns = now_ns()
            gevent.sleep(TICK_S)
            watch.woke(now_ns() - before_ns - ns_of_s(TICK_S))
        if self._aborted:
            self._window.stop(now_ns(), "aborted")
        return watch.usage()


def _redirected(url: httpx.URL, exchange: Exchange) -> httpx.URL | None:
    """Where a POST is to be sent again as it is (RFC 9110, 15.4), as long as that is the same server; None where nowhere."""
    location = exchange.framing.headers.get("location")
    if exchange.problem is not None or exchange.framing.status not in (307, 308) or location is None:
        return None
    target = redirect_target(str(url), location)
    return None if target is None else httpx.URL(target)


def wait_for(event: Event, timeout_s: float | None = None) -> bool:
    """Whether the event is set, after waiting at most so long for it.

    gevent's own wait may never return where it begins right after `set`: it then waits for the waiters to be notified, and
    that notice is dropped when another waiter's time limit ends in the same turn of the loop.
    """
    return event.is_set() or event.wait(timeout_s)


class StreamUser(User):
    """One stream of the block at hand, as Locust knows it."""

    block: ClassVar[BlockDriver]
    wait_time = constant(0)

    @task
    def stream(self) -> None:
        """Send requests until the block is over, then wait to be stopped: Locust starts a task that returns once more."""
        self.block.stream()
        Event().wait()
