"""The backlog is what was due and had not been sent, second by second."""

from array import array
from itertools import count

import pytest

from specbench.run.due_requests import backlog_by_second

S = 1_000_000_000


@pytest.mark.parametrize(
    ("sent_s", "backlog"),
    [
        ([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], (0, 0, 0, 0)),
        ([0.5, 1.5, 2.5], (0, 1, 2, 3)),
        ([2.5, 2.5, 2.5, 2.5, 2.5], (0, 2, 4, 1)),
    ],
)
def test_it_counts_what_waits(sent_s: list[float], backlog: tuple[int, ...]) -> None:
    """Two requests a second from a half on, without end; sent at once, half as often, or all together after 2.5 s."""
    due = (S * number // 2 for number in count(1))
    sent = array("q", [7 * S + int(moment * S) for moment in sent_s])

    assert backlog_by_second(due, 7 * S, sent, 10 * S) == backlog
