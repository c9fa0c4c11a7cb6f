"""A worker's reading process: its part of each block under Locust's worker runner, between its decoder and the fleet's master.

Nothing is decoded here, but for what `child.py` names. It ends with its decoder, and after five seconds in which the master says
nothing: then its streams are cut, as nobody counts any more what they do.
"""

from gevent import monkey

monkey.patch_all()  # before anything else is imported, as in `child.py`

# ruff: noqa: E402
import os
import socket
from typing import Any

import gevent
import locust
from gevent.os import make_nonblocking, nb_read
from gevent.queue import SimpleQueue
from locust.env import Environment
from locust.runners import WorkerRunner

from specbench import __version__
from specbench.errors import ExitCode
from specbench.load import child
from specbench.load.fleet.ledger import BegunRequest, Tally
from specbench.load.fleet.numbered import Link
from specbench.load.fleet.sealed import seal_worker
from specbench.load.fleet.wire import (
    MESSAGE,
    EndedRequest,
    Forward,
    FromMaster,
    Go,
    Hello,
    Jobs,
    JoinFleet,
    Lined,
    NoMoreJobs,
    Notice,
    Numbered,
    Ping,
    Pong,
    Quit,
    Share,
    ShareClosed,
    WindowIs,
    decode_from_master,
    decode_packet,
    decode_to_reader,
    encode,
)
from specbench.load.messages import MessageDecoder, SessionEnded
from specbench.load.process_limits import give_back_memory
from specbench.load.streams import BlockDriver, BlockPart, StreamUser
from specbench.model.captures import Capture
from specbench.stream.connection import now_ns
from specbench.units import seconds

NOTICE_S = 0.1
"""How often the master hears of requests that began and ended, and of records with them: in one packet, which costs it least."""

SILENCE_S = 5.0
"""So long without a word from the master, and the streams are cut."""

LOST_MASTER = 3
"""The exit code of a reader whose master fell silent."""


class DistantWindow:
    """The steady window as the master tells of it, by this machine's clock."""

    def __init__(self) -> None:
        self.opened_ns: int | None = None
        self.closed_ns: int | None = None
        self.short = False
        self.reason = ""
        self.ends: list[EndedRequest] = []
        self.idle = False
        self._over = False

    def learn(self, window: WindowIs) -> None:
        """The master knows more of it."""
        self.opened_ns, self.closed_ns, self._over = window.opened_ns, window.closed_ns, window.over

    def sent(self, stream: int, sent_ns: int) -> None:
        """Nothing: the master hears of it with its index (`BlockPart.begun`)."""

    def ended(self, stream: int, now_ns: int, failed: bool) -> None:
        """The master will hear of it."""
        self.ends.append(EndedRequest(stream=stream, at_ns=now_ns, failed=failed))

    def no_more_work(self, now_ns: int) -> None:
        """The master will hear of it."""
        self.idle = True

    def stop(self, now_ns: int, reason: str) -> None:
        """The block is over here; what it was is the master's to say."""
        self._over = True

    def over(self, now_ns: int) -> bool:
        """Whether the master says so."""
        return self._over

    def holds(self, sent_ns: int) -> bool:
        """Whether a request that was sent at this moment was sent inside the window, which has closed."""
        return self.opened_ns is not None and self.closed_ns is not None and self.opened_ns <= sent_ns < self.closed_ns


class PartInHand:
    """This worker's part of one block, and what the master has not yet heard of it."""

    def __init__(self, share: Share, tell: "child.PipeWriter", link: Link) -> None:
        self.serial = share.serial
        self.window = DistantWindow()
        self.dealt, self.sent = Tally(), Tally()
        self._begun: list[BegunRequest] = []
        self._outlet, self._link = tell, link
        self._idle_known = False
        self._freed = 0
        part = BlockPart(share.streams, share.of, self.window, self._lined, self._begin, self._free)
        self.driver = BlockDriver(share.block.spec, self._take, part)

    def give(self, jobs: Jobs) -> None:
        """Requests to send."""
        self.dealt = self.dealt.plus(job.index for job in jobs.jobs)
        for job in jobs.jobs:
            self.driver.give(job)

    def notify(self) -> None:
        """Tell the master what has begun and ended since the last time."""
        begun, ended, freed, idle = tuple(self._begun), tuple(self.window.ends), self._freed, self.window.idle
        if begun or ended or freed or idle != self._idle_known:
            self._freed = 0
            self._begun.clear()
            self.window.ends.clear()
            self._idle_known = idle
            self._link.add(encode(Notice(serial=self.serial, begun=begun, ended=ended, freed=freed, idle=idle)))

    def _lined(self) -> None:
        self._link.say(Lined(serial=self.serial), now_ns())

    def _begin(self, index: int, stream: int, sent_ns: int) -> None:
        self._begun.append(BegunRequest(index, stream, sent_ns))

    def _free(self) -> None:
        self._freed += 1

    def _take(self, answer: Capture | SessionEnded) -> None:
        if isinstance(answer, Capture):  # the master learns from `freed` that a session ended early
            self.sent = self.sent.plus((answer.index,))
            self._outlet.tell(answer)


class Reader:
    """One worker's end of the fleet, between its decoder's pipe and the master's socket."""

    def __init__(self, outlet: "child.PipeWriter") -> None:
        self._outlet = outlet
        self._runner: WorkerRunner | None = None
        self._link = Link(self._send)
        self._parts: SimpleQueue[PartInHand] = SimpleQueue()
        self._part: PartInHand | None = None
        self._heard_ns = 0
        self._joins: SimpleQueue[JoinFleet] = SimpleQueue()

    def run(self) -> None:
        """Join, and drive parts of blocks until the master or the decoder ends it."""
        gevent.spawn(self._read_decoder)
        join = self._joins.get()
        seal_worker(join.secret)
        environment = Environment(user_classes=[StreamUser])
        environment.events.user_error.add_listener(child.die)  # type: ignore[no-untyped-call]
        waited = gevent.spawn_later(join.wait_s, self._nobody, join)
        runner = environment.create_worker_runner(join.host, join.port)
        waited.kill()
        self._runner, self._heard_ns = runner, now_ns()
        runner.register_message(MESSAGE, self._on_message)
        hello = Hello(specbench=__version__, locust=locust.__version__, host=socket.gethostname(), pid=os.getppid())
        self._link.say(hello, now_ns())
        gevent.spawn(self._pump)
        child.settle_memory()
        while True:
            part = self._parts.get()
            closed = part.driver.drive(runner)
            part.notify()
            self._outlet.tell(ShareClosed(serial=part.serial, closed=closed, dealt=part.dealt, sent=part.sent))
            give_back_memory()

    def _nobody(self, join: JoinFleet) -> None:
        why = f"no master of a fleet at {join.host}:{join.port} takes this worker within {join.wait_s:g} s"
        self._leave(Quit(why=f"{why}; are the address and the key right?", exit_code=ExitCode.UNREACHABLE))

    def _read_decoder(self) -> None:
        make_nonblocking(0)
        splitter = MessageDecoder()
        while data := nb_read(0, child.READ_SIZE):
            for packed in splitter.split(data):
                message = decode_to_reader(packed)
                if isinstance(message, Forward) and message.at_once:
                    self._link.forward(message.payload, now_ns())
                elif isinstance(message, Forward):
                    self._link.add(message.payload)
                else:
                    self._joins.put(message)
        os._exit(ExitCode.PROMOTE)

    def _send(self, packet: bytes) -> None:
        assert self._runner is not None
        self._runner.send_message(MESSAGE, packet)  # type: ignore[arg-type]

    def _on_message(self, environment: Environment, msg: Any) -> None:
        """What the master sends. Locust would swallow a fault of ours here, so it ends the process."""
        at_ns = now_ns()
        try:
            packet = decode_packet(msg.data)
            self._heard_ns = at_ns
            if isinstance(packet, Ping):
                self._send(encode(Pong(number=packet.number, at_ns=at_ns)))
            elif isinstance(packet, Numbered):
                for payload in self._link.hear(packet):
                    self._handle(decode_from_master(payload))
        except Exception as error:  # noqa: BLE001
            child.die(None, error, error.__traceback__)

    def _handle(self, message: FromMaster) -> None:
        match message:
            case Share():
                self._part = PartInHand(message, self._outlet, self._link)
                self._outlet.tell(message)
                self._parts.put(self._part)
            case Quit():
                self._leave(message)
            case _ if self._part is None:
                pass
            case Jobs():
                self._part.give(message)
            case NoMoreJobs():
                self._part.driver.give(None)
            case Go():
                self._outlet.tell(message)
                self._part.driver.begin(message.at_ns, self._part.window)
            case WindowIs():
                self._part.window.learn(message)
                if message.aborted:
                    self._part.driver.abort()

    def _pump(self) -> None:
        while True:
            gevent.sleep(NOTICE_S)
            at_ns = now_ns()
            if seconds(at_ns - self._heard_ns) > SILENCE_S:
                os._exit(LOST_MASTER)
            if self._part is not None:
                self._part.notify()
            self._link.pump(at_ns)

    def _leave(self, why: Quit) -> None:
        self._outlet.tell(why)
        self._link.pump(now_ns())  # the master need not say it again
        gevent.sleep(NOTICE_S)
        os._exit(ExitCode.PROMOTE)


if __name__ == "__main__":
    Reader(child.prepared_process()).run()
