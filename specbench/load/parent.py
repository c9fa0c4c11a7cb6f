"""The parent's side of the load generator: one child process for a whole run. Imports neither Locust nor gevent."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from types import TracebackType
from typing import IO

from specbench.errors import InternalError
from specbench.load.health import HealthCounter
from specbench.load.messages import (
    LENGTH_BYTES,
    Abort,
    BlockClosed,
    BlockSpec,
    BlockSummary,
    NoMoreWork,
    RequestJob,
    SessionEnded,
    ToChild,
    ToParent,
    decode_to_parent,
    framed,
)
from specbench.load.process_limits import check_open_files
from specbench.model.captures import Capture
from specbench.model.records import FleetFacts, GeneratorHealth

PIPE_SIZE = 1 << 20
AHEAD = 16
"""How many requests a child holds beyond one per stream and one in reserve for each: they may all end at once."""

STDERR_LINES = 5
EXIT_S = 5.0


class LoadGenerator:
    """A load generator in a process of its own, for as long as the `with` lasts. One block at a time.

    What it is told travels over its standard input, keys included: nothing of it is on a command line. It ends when that
    input ends, so it cannot outlive its parent.
    """

    def __init__(self) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._ends: set[int] = set()  # of the jobs that are handed over: the indices of their last requests
        self._process = subprocess.Popen(
            [sys.executable, "-m", "specbench.load.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            pipesize=PIPE_SIZE,
        )

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._process.pid

    def __enter__(self) -> "LoadGenerator":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()

    def run_block(self, order: BlockSpec, work: Iterator[RequestJob]) -> Generator[Capture | BlockSummary, None, None]:
        """Every answer of the block as it ends, and the block's end as the last. Closing the iterator early cuts the block.

        `work` may be endless; a bit more of it is taken than is sent. Where it ends, so does the block.

        Raises:
            ScenarioError: the system does not let one process carry so many streams.
            InternalError: the child died; with what it said last.
        """
        check_open_files(order.concurrency or order.in_flight_limit)
        tally = HealthCounter(order)
        self._ends.clear()
        try:
            self._say(order)
            self._hand_over(work, 2 * (order.concurrency or order.in_flight_limit) + AHEAD)
            while not isinstance(message := self._hear(), BlockClosed):
                if message.index in self._ends:  # in the middle of a session its stream asks for nothing new
                    self._ends.discard(message.index)
                    self._hand_over(work, 1)
                if isinstance(message, SessionEnded):
                    continue
                tally.add(message)
                yield message
        except GeneratorExit:
            self._abandon()
            raise
        except BaseException:
            self._process.kill()  # a message may have been read or written by half: no other would be understood
            raise
        yield block_summary(message, tally.health(message))

    def _hand_over(self, work: Iterator[RequestJob], count: int) -> None:
        for _ in range(count):
            item = next(work, None)
            self._say(NoMoreWork() if item is None else item)
            if item is None:
                return
            self._ends.add(item.last_index)

    def _abandon(self) -> None:
        """Cut the block, and read on until the child has closed it: then it is ready for the next."""
        with contextlib.suppress(InternalError):
            self._say(Abort())
            while not isinstance(self._hear(), BlockClosed):
                pass

    def _say(self, message: ToChild) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(framed(message))
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None

    def _hear(self) -> ToParent:
        assert self._process.stdout is not None
        length = self._process.stdout.read(LENGTH_BYTES)
        if len(length) < LENGTH_BYTES:
            raise self._died()
        size = int.from_bytes(length, "big")
        packed = self._process.stdout.read(size)
        if len(packed) < size:
            raise self._died()
        return decode_to_parent(packed)

    def _died(self) -> InternalError:
        return last_words("load generator", self._process, self._stderr)


def last_words(name: str, process: "subprocess.Popen[bytes]", stderr: IO[bytes]) -> InternalError:
    """That this process ended, with its exit code and what it wrote last."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(EXIT_S)
    stderr.seek(0)
    said = stderr.read().decode("utf-8", "replace").strip().splitlines()[-STDERR_LINES:]
    return InternalError(f"the {name} ended (exit code {process.returncode}): {' | '.join(said) or 'no output'}")


def block_summary(closed: BlockClosed, health: GeneratorHealth, fleet: FleetFacts | None = None) -> BlockSummary:
    """How a block went; `fleet`: where several workers drove it."""
    return BlockSummary(
        block=closed.block,
        window_open_ns=closed.window_open_ns,
        window_close_ns=closed.window_close_ns,
        short=closed.short,
        end_reason=closed.end_reason,
        health=health,
        aborted=closed.aborted,
        in_flight_limit_reached=closed.in_flight_limit_reached,
        fleet=fleet,
    )
