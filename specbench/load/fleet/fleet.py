"""The parent's side of a fleet: its master, in a process of its own, and the workers of this machine.

Imports neither Locust nor gevent.
"""

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from types import TracebackType

from specbench.errors import ExitCode, InternalError, ScenarioError, UnreachableError
from specbench.explain.rules.fleet_of_workers import waiting_for
from specbench.load.fleet.fleet_plan import FleetPlan
from specbench.load.fleet.wire import (
    DecodedAnswer,
    Fault,
    FleetBlock,
    FleetClosed,
    FleetStart,
    Gathered,
    Listening,
    LostRequest,
    RecordBatch,
    Remark,
    ToLane,
    ToMaster,
    ToParent,
    Wanted,
    WorkerClosed,
    decode_to_parent,
    unpacked_lines,
)
from specbench.load.fleet.worker_processes import WorkerProcesses, without_keys
from specbench.load.health import NO_HEALTH, merged_health
from specbench.load.messages import LENGTH_BYTES, Abort, BlockSummary, NoMoreWork, RequestJob, framed
from specbench.load.parent import EXIT_S, block_summary, last_words
from specbench.load.process_limits import check_open_files
from specbench.model.records import FleetFacts, WorkerFacts
from specbench.units import ms

WRITE_BYTES = 1 << 16
"""Requests are handed to the master together, as many as this holds: a write each would cost it a wake-up each."""


class Fleet:
    """The master and the workers of a run, for as long as the `with` lasts; `say` is told what the user should know.

    Raises on entry:
        UnreachableError: fewer workers came than were asked for.
        ScenarioError: the address cannot be listened at, or a worker has another version.
        InternalError: the master was lost.
    """

    def __init__(self, plan: FleetPlan, say: Callable[[str], None]) -> None:
        self._plan, self._say = plan, say
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._lock = threading.Lock()
        self._about: queue.SimpleQueue[ToParent | None] = queue.SimpleQueue()
        self._lanes: list[queue.SimpleQueue[ToParent | None]] = [queue.SimpleQueue() for _ in range(plan.lanes)]
        self._stack = ExitStack()
        self.port = self.refused = 0
        self.workers: tuple[str, ...] = ()
        self.here: WorkerProcesses | None = None

    @property
    def pid(self) -> int:
        """The process id of the master."""
        return self._process.pid

    def __enter__(self) -> "Fleet":
        plan = self._plan
        self._process = subprocess.Popen(
            [sys.executable, "-m", "specbench.load.fleet.master"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            pipesize=1 << 20,
            env=without_keys(os.environ),
        )
        try:
            threading.Thread(target=self._hear, daemon=True).start()
            start = FleetStart(
                host=plan.host, port=plan.port, secret=plan.secret, workers=plan.workers, wait_s=plan.wait_s, lanes=plan.lanes
            )
            self._tell(start)
            listening = self._answer()
            assert isinstance(listening, Listening)
            self.port = listening.port
            if plan.elsewhere:
                self._say(waiting_for(plan.elsewhere, f"{plan.host}:{self.port}", plan.wait_s))
            if plan.here:
                processes = WorkerProcesses(plan.here, plan.join_from_here(self.port), self._stderr)
                self.here = self._stack.enter_context(processes)
            gathered = self._answer()
            assert isinstance(gathered, Gathered)
            self.workers = gathered.workers
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._stack.close()
        try:
            self._process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def run_block(
        self, block: FleetBlock, work: Iterator[RequestJob], lane: int = 0
    ) -> Generator[DecodedAnswer | LostRequest | BlockSummary, None, None]:
        """Every answer of the block as its worker decoded it, those that were lost with their worker, and the block's end.

        Closing the iterator early cuts the block. `work` may be endless; a bit more of it is taken than is sent. Where it ends,
        so does the block.

        Raises:
            ScenarioError: the system does not let a process carry so many streams.
            InternalError: the master died; with what it said last.
        """
        workers = self._plan.workers // self._plan.lanes
        check_open_files(-(-block.spec.concurrency // workers) if block.spec.concurrency else block.spec.in_flight_limit)
        self._tell(ToLane(lane=lane, content=block))
        try:
            while not isinstance(message := self._next(lane), FleetClosed):
                if isinstance(message, Wanted):
                    self._hand_over(work, message.count, lane)
                elif isinstance(message, RecordBatch):
                    yield from unpacked_lines(message.lines)
            yield from message.lost
            self.refused = message.refused
        except GeneratorExit:
            self._abandon(lane)
            raise
        yield _summary(message)

    def _hand_over(self, work: Iterator[RequestJob], count: int, lane: int) -> None:
        packed = bytearray()
        for _ in range(count):
            item = next(work, None)
            packed += framed(ToLane(lane=lane, content=NoMoreWork() if item is None else item))
            if item is None:
                break
            if len(packed) >= WRITE_BYTES:
                self._write(packed)
                packed.clear()
        if packed:
            self._write(packed)

    def _abandon(self, lane: int) -> None:
        with contextlib.suppress(InternalError):
            self._tell(ToLane(lane=lane, content=Abort()))
            while not isinstance(self._next(lane), FleetClosed):
                pass

    def _tell(self, message: ToMaster) -> None:
        self._write(framed(message))

    def _write(self, packed: bytes | bytearray) -> None:
        assert self._process.stdin is not None
        try:
            with self._lock:
                self._process.stdin.write(packed)
                self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._died() from None

    def _hear(self) -> None:
        """What the master says, each to whom it concerns; nothing more at its end."""
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while len(length := pipe.read(LENGTH_BYTES)) == LENGTH_BYTES:
                size = int.from_bytes(length, "big")
                if len(packed := pipe.read(size)) < size:
                    break
                message = decode_to_parent(packed)
                if isinstance(message, Remark):
                    self._say(message.text)
                elif isinstance(message, Wanted | RecordBatch | FleetClosed):
                    self._lanes[message.lane].put(message)
                else:
                    self._about.put(message)
        for each in (self._about, *self._lanes):
            each.put(None)

    def _answer(self) -> ToParent:
        message = self._about.get()
        if isinstance(message, Fault):
            if message.exit_code == ExitCode.UNREACHABLE:
                raise UnreachableError(message.text)
            raise ScenarioError(message.text)
        if message is None:
            raise self._died()
        return message

    def _next(self, lane: int) -> ToParent:
        message = self._lanes[lane].get()
        if message is None:
            self._lanes[lane].put(None)  # whoever asks again is to hear the same
            raise self._died()
        return message

    def _died(self) -> InternalError:
        return last_words("fleet's master", self._process, self._stderr)


def _summary(message: FleetClosed) -> BlockSummary:
    parts = [(worker.streams, worker.health) for worker in message.workers if worker.health is not None and worker.streams]
    facts = FleetFacts(
        workers=tuple(map(_facts, message.workers)),
        void=message.void,
        lost_requests=len(message.lost) + message.lost_unsent,
        refused=message.refused,
    )
    return block_summary(message.closed, merged_health(parts) if parts else NO_HEALTH, facts)


def _facts(worker: WorkerClosed) -> WorkerFacts:
    return WorkerFacts(
        name=worker.name,
        streams=worker.streams,
        lost=worker.lost,
        health=worker.health,
        clock_offset_ms=None if worker.clock_offset_ns is None else ms(worker.clock_offset_ns),
        clock_error_ms=None if worker.clock_error_ns is None else ms(worker.clock_error_ns),
        clock_drift_ms=None if worker.clock_drift_ns is None else ms(worker.clock_drift_ns),
    )
