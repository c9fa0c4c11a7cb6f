"""Drives the real load generator at an endpoint that answers by number. No test and no assertion on a claim lives here."""

import socket
import threading
from contextlib import nullcontext, suppress

from specbench.load.messages import BlockSpec, BlockSummary, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.stream.record import RequestSpec, record_of
from specbench.telemetry import ENGINES
from tests.support.captures import DONE, final_usage, finish, said
from tests.support.raw_server import END, STREAM_HEAD, chunk

CROWD_S = 20.0
RULE = ENGINES["openai"].stream
GOOD = STREAM_HEAD + chunk(said("a")) + chunk(finish() + final_usage(1) + DONE) + END


def driven(
    url: str, requests: int, concurrency: int, child: LoadGenerator | None = None, **changes: object
) -> tuple[list[Capture], BlockSummary]:
    """What came of so many requests in so many streams, and how the block ended; `changes` are fields of its order.

    Without a `child` it starts one, which takes on the environment as it is and costs more than most blocks do.
    """
    values: dict[str, object] = {
        "block": "b",
        "url": url,
        "path": "/v1/chat/completions",
        "headers": {},
        "concurrency": concurrency,
        "min_requests": requests,
        "min_s": 0.0,
        "max_s": 60.0,
        "ramp_s": 0.0,
        "stagger_s": 0.0,
    }
    works = (RequestJob(index=index, body=b'{"max_tokens":1}') for index in range(requests))
    with LoadGenerator() if child is None else nullcontext(child) as driver:
        *captures, end = driver.run_block(BlockSpec(**(values | changes)), works)  # type: ignore[arg-type]
    assert isinstance(end, BlockSummary)
    return [capture for capture in captures if isinstance(capture, Capture)], end


def records_of(captures: list[Capture]) -> list[RequestRecord]:
    """The record of each capture, by the rule of a plain endpoint."""
    return [record_of(capture, RequestSpec("", "", 1), RULE) for capture in captures]


class Endpoint:
    """Answers by number, counts what comes and what is under way at once.

    With a `crowd` it answers nobody before so many are under way, or have been long waited for in vain.
    """

    def __init__(self, *first: bytes, then: bytes = GOOD, crowd: int = 1) -> None:
        self._first, self._then = list(first), then
        self._together = threading.Barrier(crowd)
        self._lock = threading.Lock()
        self._open = 0
        self.most_open = self.asked = 0

    def __call__(self, connection: socket.socket) -> None:
        """One request is answered."""
        with self._lock:
            self.asked += 1
            self._open += 1
            self.most_open = max(self.most_open, self._open)
            answer = self._first.pop(0) if self._first else self._then
        with suppress(threading.BrokenBarrierError):
            self._together.wait(CROWD_S)
        with self._lock:
            self._open -= 1
        connection.sendall(answer)
