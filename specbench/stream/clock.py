"""The generator's monotonic clock, and how far the kernel's realtime stamps are from it. No sleeping, no dates."""

import time

now_ns = time.monotonic_ns


def offset_ns() -> int:
    """What to add to a CLOCK_REALTIME stamp to have it on the monotonic clock, in nanoseconds.

    The realtime clock is read between two reads of the monotonic one; the tightest of three attempts counts, so that a
    preempted process does not shift its stamps.
    """
    best_width, best = 1 << 62, 0
    for _ in range(3):
        before = time.monotonic_ns()
        real = time.time_ns()
        width = time.monotonic_ns() - before
        if width < best_width:
            best_width, best = width, before + width // 2 - real
    return best
