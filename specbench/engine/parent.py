"""Notices that the process which started this one is gone, however it went.

Nothing else: what follows from it is the server's decision.
"""

import asyncio
import os
import stat
import sys

POLL_S = 0.5


async def parent_gone() -> None:
    """Returns when the parent process has ended, or closed the pipe that is this process's standard input."""
    parent = os.getppid()
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()
    watched = _is_pipe(0)
    if watched:
        loop.add_reader(0, _drain, closed)
    try:
        # A killed process closes its pipes, but another child of it may hold them open: the parent's id is the second witness.
        while os.getppid() == parent and not closed.is_set():
            try:
                await asyncio.wait_for(closed.wait(), POLL_S)
            except TimeoutError:
                continue
    finally:
        if watched:
            loop.remove_reader(0)


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _drain(closed: asyncio.Event) -> None:
    try:
        if not os.read(sys.stdin.fileno() if sys.stdin else 0, 4096):
            closed.set()
    except OSError:
        closed.set()
