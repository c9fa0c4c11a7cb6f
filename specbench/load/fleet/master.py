"""The master of a fleet, in a process of its own: Locust's master runner between the parent's pipe and the workers' socket.

`MasterRunner.start()` is never called, so that Locust deals no users out and moves none from a lost worker to the others: what
a block is, and who does what of it, is `course.py`'s. It ends with the parent, and then its workers do.
"""

from gevent import monkey

monkey.patch_all()  # before anything else is imported, as in `child.py`

# ruff: noqa: E402
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import gevent
import locust
import msgspec
from gevent.os import make_nonblocking, nb_read
from gevent.queue import SimpleQueue
from locust.env import Environment
from locust.runners import STATE_MISSING, MasterRunner

from specbench import __version__
from specbench.errors import ExitCode
from specbench.load import child
from specbench.load.fleet.course import BlockCourse
from specbench.load.fleet.member import Member
from specbench.load.fleet.numbered import Link
from specbench.load.fleet.sealed import Refusals, seal_master
from specbench.load.fleet.wire import (
    MESSAGE,
    Fault,
    FleetBlock,
    FleetStart,
    Gathered,
    Hello,
    Listening,
    Numbered,
    Pong,
    Quit,
    Remark,
    ToLane,
    decode_from_worker,
    decode_packet,
    decode_to_master,
)
from specbench.load.messages import Abort, MessageDecoder, NoMoreWork, RequestJob
from specbench.load.process_limits import give_back_memory
from specbench.stream.connection import now_ns
from specbench.units import ns_of_s

PUMP_S = 0.1
LEAVE_S = 0.5


class Master:
    """The fleet: who is in it, who is alive, and the blocks of its lanes."""

    def __init__(self, outlet: "child.PipeWriter", start: FleetStart) -> None:
        self._outlet, self._start = outlet, start
        self._refusals: Refusals = seal_master(start.secret, MESSAGE)
        self._members: dict[str, Member] = {}
        self._slots: list[Member | None] = [None] * start.workers
        self._gathered = False
        self._serial = 0
        self._courses: dict[int, BlockCourse] = {}
        self._blocks = [SimpleQueue[BlockCourse]() for _ in range(start.lanes)]
        try:
            self._runner: MasterRunner = Environment().create_master_runner(start.host, start.port)
        except Exception as error:  # noqa: BLE001 - of Locust, of libzmq: whatever it is, nobody can reach us
            self._fail(f"--listen {start.host}:{start.port}: cannot be listened at: {error}; give another", ExitCode.SCENARIO)
        self._runner.handle_message = self._guarded(self._runner.handle_message)  # type: ignore[method-assign, assignment]
        self._runner.register_message(MESSAGE, self._on_message)
        gevent.spawn(self._pump)
        for lane in range(start.lanes):
            gevent.spawn(self._drive, lane)
        gevent.spawn(self._gather)

    # What the parent says

    def take(self, message: ToLane) -> None:
        """Something for the block of a lane."""
        match message.content:
            case FleetBlock() as block:
                self._serial += 1
                course = BlockCourse(self, message.lane, self._serial, block)
                self._courses[message.lane] = course
                self._blocks[message.lane].put(course)
            case RequestJob() | NoMoreWork() as work:
                self._courses[message.lane].give(work)
            case Abort():
                self._courses[message.lane].abort()

    def leave(self) -> None:
        """The run is over: every worker may go."""
        for member in self._members.values():
            member.link.say(Quit(why="", exit_code=ExitCode.PROMOTE), now_ns())
        gevent.sleep(LEAVE_S)

    # What courses need

    def tell(self, message: object) -> None:
        """The parent will hear it."""
        self._outlet.tell(message)

    @property
    def refused(self) -> int:
        """How many connections and messages were refused so far."""
        return self._refusals.count

    def alive(self, member: Member) -> bool:
        """Whether Locust has heard the worker's heart within its limit."""
        client = self._runner.clients.get(member.id)
        return client is not None and client.state != STATE_MISSING

    def crew(self, lane: int) -> list[Member] | None:
        """The workers of a lane, each in its place; None where they are not all there within the time that is allowed."""
        until_ns = now_ns() + ns_of_s(self._start.wait_s)
        while not all(self._filled(place) for place in range(len(self._slots))):
            if now_ns() > until_ns:
                return None
            gevent.sleep(PUMP_S)
        part = len(self._slots) // self._start.lanes
        return [member for member in self._slots[lane * part : (lane + 1) * part] if member is not None]

    def _filled(self, place: int) -> bool:
        held = self._slots[place]
        if held is not None and self.alive(held):
            return True
        free = [member for member in self._members.values() if member.name and self.alive(member) and member not in self._slots]
        self._slots[place] = free[0] if free else None
        return bool(free)

    # What workers say

    def _on_message(self, environment: Environment, msg: Any) -> None:
        back_ns = now_ns()
        try:
            packet = decode_packet(msg.data)
        except (msgspec.MsgspecError, TypeError):
            self._refusals.count += 1
            return
        try:
            member = self._members.get(msg.node_id) or self._new(msg.node_id)
            if isinstance(packet, Pong):
                member.echo(packet, back_ns)
            elif isinstance(packet, Numbered):
                for payload in member.link.hear(packet):
                    self._hear(member, payload)
        except Exception as error:  # noqa: BLE001 - Locust would swallow it
            child.die(None, error, error.__traceback__)

    def _new(self, node_id: str) -> Member:
        send = partial(self._send, node_id)
        self._members[node_id] = Member(node_id, Link(send), send)
        return self._members[node_id]

    def _send(self, node_id: str, packet: bytes) -> None:
        self._runner.send_message(MESSAGE, packet, node_id)  # type: ignore[arg-type]

    def _hear(self, member: Member, payload: bytes) -> None:
        try:
            message = decode_from_worker(payload)
        except msgspec.MsgspecError:
            self._refusals.count += 1
            return
        if isinstance(message, Hello):
            self._welcome(member, message)
        elif member.hear is not None:
            member.hear(message)

    def _welcome(self, member: Member, hello: Hello) -> None:
        ours, theirs = (__version__, _minor(locust.__version__)), (hello.specbench, _minor(hello.locust))
        name = f"{hello.host}/{hello.pid}"
        if ours != theirs:
            why = (
                f"worker {name} has specbench {theirs[0]} with Locust {theirs[1]}, this run has {ours[0]} with {ours[1]}; "
                "install the same version on both"
            )
            member.link.say(Quit(why=why, exit_code=ExitCode.SCENARIO), now_ns())
            self._refusals.count += 1
            if not self._gathered:
                self._fail(why, ExitCode.SCENARIO)
            self.tell(Remark(text=why))
            return
        member.name = name

    def _gather(self) -> None:
        gevent.sleep(0)
        self.tell(Listening(port=self._runner.server.port))
        crew = self.crew(0)
        named = [member.name for member in self._members.values() if member.name]
        if crew is None:
            came = f"{len(named)} of {self._start.workers} workers came within {self._start.wait_s:g} s"
            who = f" ({', '.join(named)})" if named else ""
            self._fail(f"{came}{who}; start more, or ask for fewer (--workers)", ExitCode.UNREACHABLE)
        self._gathered = True
        self.tell(Gathered(workers=tuple(member.name for member in self._slots if member is not None)))

    def _fail(self, why: str, code: ExitCode) -> None:
        self.tell(Fault(text=why, exit_code=code))
        gevent.sleep(LEAVE_S)
        os._exit(code)

    # Its own course

    def _drive(self, lane: int) -> None:
        while True:
            course = self._blocks[lane].get()
            try:
                self.tell(course.drive())
                give_back_memory()
            except Exception as error:  # noqa: BLE001
                child.die(None, error, error.__traceback__)

    def _pump(self) -> None:
        while True:
            gevent.sleep(PUMP_S)
            at_ns = now_ns()
            for member in [one for one in self._members.values() if self.alive(one)]:
                member.link.pump(at_ns)

    def _guarded(self, handle: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
        def guarded(client_id: str, msg: Any) -> None:
            try:
                handle(client_id, msg)
            except Exception:  # noqa: BLE001 - a message of a known kind with something else in it
                self._refusals.count += 1

        return guarded


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def main() -> None:
    """Lead a fleet for as long as the parent lives."""
    outlet = child.prepared_process()
    make_nonblocking(0)
    splitter = MessageDecoder()
    master: Master | None = None
    while data := nb_read(0, child.READ_SIZE):
        for packed in splitter.split(data):
            message = decode_to_master(packed)
            if isinstance(message, FleetStart):
                master = Master(outlet, message)
                child.settle_memory()
            elif master is not None:
                master.take(message)
    if master is not None:
        master.leave()
    sys.stderr.flush()
    os._exit(ExitCode.PROMOTE)


if __name__ == "__main__":
    main()
