"""The load generator's process: blocks come in on standard input, stamped raw frames go out on standard output.

Nothing is decoded here: between two reads this process has nothing else to do. Started by `parent.py`, ends with it. Sessions
that hold their own answers are the exception (`session_history.py`).
"""

from gevent import monkey

monkey.patch_all()  # before anything else is imported, or sockets and locks made earlier would block every stream

# ruff: noqa: E402
import gc
import logging
import os
import signal
import sys
import traceback
from types import TracebackType

sys.modules["httpx._main"] = None  # type: ignore[assignment] # httpx's command line: a tenth of this process's start

import gevent
from gevent.os import make_nonblocking, nb_read, nb_write
from gevent.queue import SimpleQueue
from locust.env import Environment

from specbench.errors import ExitCode
from specbench.load.messages import (
    Abort,
    BlockSpec,
    MessageDecoder,
    NoMoreWork,
    RequestJob,
    decode_to_child,
    framed,
)
from specbench.load.process_limits import raise_open_files, raise_priority
from specbench.load.streams import BlockDriver, StreamUser
from specbench.stream.connection import keep_stamping

READ_SIZE = 1 << 18


class PipeWriter:
    """A pipe to the parent that never keeps a stream waiting."""

    def __init__(self, descriptor: int) -> None:
        make_nonblocking(descriptor)
        self._descriptor = descriptor
        self._messages: SimpleQueue[bytes] = SimpleQueue()
        gevent.spawn(self._write)

    def tell(self, message: object) -> None:
        """The message will be written as soon as the pipe takes it."""
        self._messages.put(framed(message))

    def _write(self) -> None:
        while True:
            left = memoryview(self._messages.get())
            while left:
                left = left[nb_write(self._descriptor, left) :]


def read_parent(descriptor: int, blocks: "SimpleQueue[BlockDriver]", outlet: PipeWriter) -> None:
    """Take in what the parent says, until it is gone: then this process ends too."""
    make_nonblocking(descriptor)
    splitter = MessageDecoder()
    block: BlockDriver | None = None
    while data := nb_read(descriptor, READ_SIZE):
        for packed in splitter.split(data):
            message = decode_to_child(packed)
            if isinstance(message, BlockSpec):
                block = BlockDriver(message, outlet.tell)
                blocks.put(block)
            elif block is not None:
                match message:
                    case RequestJob():
                        block.give(message)
                    case NoMoreWork():
                        block.give(None)
                    case Abort():
                        block.abort()
    os._exit(ExitCode.PROMOTE)


def prepared_process() -> PipeWriter:
    """The pipe to the parent, in a process that is fit to carry streams."""
    for number in (signal.SIGINT, signal.SIGHUP):  # they reach the whole group; the parent decides what they mean
        signal.signal(number, signal.SIG_IGN)
    logging.getLogger("locust").setLevel(logging.ERROR)
    raise_open_files()
    raise_priority()
    pipe = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not print into the pipe
    return PipeWriter(pipe)


def main() -> None:
    """Drive one block after another, for as long as the parent lives."""
    outlet = prepared_process()
    blocks: SimpleQueue[BlockDriver] = SimpleQueue()
    environment = Environment(user_classes=[StreamUser])
    environment.events.user_error.add_listener(die)  # type: ignore[no-untyped-call]
    runner = environment.create_local_runner()
    gevent.spawn(read_parent, 0, blocks, outlet)
    settle_memory()
    while True:
        block = blocks.get()
        outlet.tell(block.drive(runner))


def settle_memory() -> None:
    """Nothing of what is loaded now is walked again and again while streams wait to be read."""
    keep_stamping()
    gc.collect()
    gc.freeze()


def die(user_instance: object, exception: BaseException, tb: TracebackType | None) -> None:
    """Locust would start a stream that raised again; a fault of ours must be seen instead."""
    traceback.print_exception(type(exception), exception, tb)
    os._exit(ExitCode.INTERNAL)


if __name__ == "__main__":
    main()
