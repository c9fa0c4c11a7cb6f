"""What one load generator takes of the system: how many streams it may carry, whether it may go first, what it gives back."""

import contextlib
import ctypes
import os
import resource

from specbench.errors import ScenarioError

SPARE = 64
"""Descriptors of a load generator that are no streams: pipes, modules, the event loop, name resolution."""


PRIORITY = -10


def raise_priority() -> None:
    """This process runs before others where the user may ask for that: an event must be read before the next one comes."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)


def raise_open_files() -> None:
    """This process may open as many files as the system allows it to."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems allow no more than a number of their own although they say that there is no limit.
    for wanted in (most, 65536, 10240):
        if soft != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > soft):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
                return


def check_open_files(streams: int) -> None:
    """One load generator can carry so many streams.  Raises: ScenarioError with the numbers and what to do."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and streams + SPARE > most:
        raise ScenarioError(
            f"{streams} streams at once: a process may open {most} files here, enough for {max(0, most - SPARE)} streams; "
            "raise the hard limit (ulimit -Hn), or use more processes or fewer streams"
        )


def give_back_memory() -> None:
    """What this process has freed goes back to the system, where the C library is one that can be asked for it (glibc).

    libzmq aligns the parts of its queues, and glibc before 2.38 fills few of the holes between them (its bug 14581): a fleet's
    processes grew by 5 kB a second.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
