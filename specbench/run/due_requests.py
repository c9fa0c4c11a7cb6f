"""How many requests of an open loop were due and not yet sent, second by second. Pure."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import takewhile

from specbench.units import NS_PER_S


def backlog_by_second(due_ns: Iterable[int], start_ns: int, sent_ns: "array[int]", end_ns: int) -> tuple[int, ...]:
    """The backlog at each whole second from the block's start to the end of its window.

    Args:
        due_ns: When requests are due since the block's start, rising; it may be endless.
        start_ns: When the block started.
        sent_ns: When requests were sent, in any order.
        end_ns: When its window closed.
    """
    due = array("q", takewhile(lambda moment: moment <= end_ns - start_ns, due_ns))
    sent = sorted(sent_ns)
    seconds = range((end_ns - start_ns) // NS_PER_S + 1)
    return tuple(
        max(0, bisect_right(due, second * NS_PER_S) - bisect_right(sent, start_ns + second * NS_PER_S)) for second in seconds
    )
