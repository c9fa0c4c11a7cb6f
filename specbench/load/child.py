"""The load generator's process: blocks come in on standard input, stamped raw frames go out on standard output.

Nothing is decoded here: between two reads this process has nothing else to do. Started by `client.py`, ends with it.
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
from specbench.load.limits import go_first, raise_open_files
from specbench.load.orders import Abort, Answered, BlockOrder, Closed, NoMoreWork, Splitter, Work, decode_to_child, framed
from specbench.load.streams import Block, StreamUser
from specbench.stream.connection import keep_stamping

READ_SIZE = 1 << 18


class Outlet:
    """A pipe to the parent that never keeps a stream waiting."""

    def __init__(self, descriptor: int) -> None:
        make_nonblocking(descriptor)
        self._descriptor = descriptor
        self._messages: SimpleQueue[bytes] = SimpleQueue()
        gevent.spawn(self._write)

    def tell(self, message: Answered | Closed) -> None:
        """The message will be written as soon as the pipe takes it."""
        self._messages.put(framed(message))

    def _write(self) -> None:
        while True:
            left = memoryview(self._messages.get())
            while left:
                left = left[nb_write(self._descriptor, left) :]


def listen(descriptor: int, blocks: "SimpleQueue[Block]", outlet: Outlet) -> None:
    """Take in what the parent says, until it is gone: then this process ends too."""
    make_nonblocking(descriptor)
    splitter = Splitter()
    block: Block | None = None
    while data := nb_read(descriptor, READ_SIZE):
        for packed in splitter.split(data):
            message = decode_to_child(packed)
            if isinstance(message, BlockOrder):
                block = Block(message, outlet.tell)
                blocks.put(block)
            elif block is not None:
                match message:
                    case Work():
                        block.give(message)
                    case NoMoreWork():
                        block.give(None)
                    case Abort():
                        block.abort()
    os._exit(ExitCode.PROMOTE)


def main() -> None:
    """Drive one block after another, for as long as the parent lives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    logging.getLogger("locust").setLevel(logging.ERROR)
    raise_open_files()
    go_first()
    pipe = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not print into the pipe
    outlet = Outlet(pipe)
    blocks: SimpleQueue[Block] = SimpleQueue()
    environment = Environment(user_classes=[StreamUser])
    environment.events.user_error.add_listener(_die)  # type: ignore[no-untyped-call]
    runner = environment.create_local_runner()
    gevent.spawn(listen, 0, blocks, outlet)
    keep_stamping()
    gc.collect()
    gc.freeze()  # the modules of Locust would be walked again and again while streams wait to be read
    while True:
        block = blocks.get()
        outlet.tell(block.drive(runner))


def _die(user_instance: object, exception: BaseException, tb: TracebackType | None) -> None:
    """Locust would start a stream that raised again; a fault of ours must be seen instead."""
    traceback.print_exception(type(exception), exception, tb)
    os._exit(ExitCode.INTERNAL)


if __name__ == "__main__":
    main()
