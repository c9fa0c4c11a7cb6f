"""Fleets of workers for tests: what they are to send, what came back, and a relay between them that misbehaves."""

import contextlib
import itertools
import json
import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import FleetPlan
from specbench.load.fleet.wire import DecodedAnswer, FleetBlock, JoinFleet, LostRequest
from specbench.load.messages import BlockSpec, BlockSummary, RequestJob
from specbench.model.records import RequestRecord

KEY = "a key of thirty-two characters!!"
TOKENS = 20


def jobs(count: int | None = None, every_ns: int | None = None) -> Iterator[RequestJob]:
    """So many requests, endlessly many where no number is given; in the open loop one each so many nanoseconds."""
    for index in itertools.count() if count is None else range(count):
        body = {
            "model": "m",
            "prompt": f"({index})",
            "max_tokens": TOKENS,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        moment = None if every_ns is None else index * every_ns
        yield RequestJob(index=index, body=json.dumps(body).encode(), arrival_ns=moment)


def block(url: str, streams: int | None = 8, **fields: Any) -> FleetBlock:
    """A short block against an endpoint: 10 requests and a second in its window."""
    size: dict[str, Any] = {"min_requests": 10, "min_s": 1.0, "max_s": 30.0, "ramp_s": 1.0, "drain_s": 10.0, **fields}
    spec = BlockSpec(block="b", url=url, path="/v1/completions", headers={}, concurrency=streams, **size)
    return FleetBlock(spec=spec, engine="openai")


@dataclass(slots=True)
class Driven:
    """What came of a block."""

    end: BlockSummary
    records: list[RequestRecord] = field(default_factory=list)
    lost: list[LostRequest] = field(default_factory=list)

    @property
    def indices(self) -> list[int]:
        """The requests that were reported, in order."""
        return sorted(record.index for record in self.records)

    @property
    def void(self) -> str | None:
        """Why the block counts for nothing."""
        assert self.end.fleet is not None
        return self.end.fleet.void


def drive(
    fleet: Fleet, order: FleetBlock, work: Iterator[RequestJob], meanwhile: Callable[[int], None] = lambda count: None
) -> Driven:
    """What came of the block; `meanwhile` is called with the number of records after each."""
    records: list[RequestRecord] = []
    lost: list[LostRequest] = []
    for message in fleet.run_block(order, work):
        if isinstance(message, BlockSummary):
            return Driven(message, records, lost)
        if isinstance(message, DecodedAnswer):
            records.append(message.record)
            meanwhile(len(records))
        else:
            lost.append(message)
    raise AssertionError("the block has no end")


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def waiting_at(port: int, workers: int, host: str = "127.0.0.1") -> FleetPlan:
    """A fleet that waits there for workers that know the key."""
    return FleetPlan(here=0, elsewhere=workers, host=host, port=port, secret=KEY, wait_s=120.0)


def joining(port: int, host: str = "127.0.0.1") -> JoinFleet:
    """How a worker comes to it."""
    return JoinFleet(host=host, port=port, secret=KEY, wait_s=120.0)


class Relay:
    """Carries bytes between workers and a master; holds them back while `held`, and can break every connection."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._to = port
        self._listener = socket.create_server((host, 0))
        self.port = self._listener.getsockname()[1]
        self.flows = threading.Event()
        self.flows.set()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """All connections that are open now end."""
        for pair in self._pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Nothing is carried any more."""
        self._listener.close()
        self.flows.set()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ours, _ = self._listener.accept()
                try:
                    theirs = socket.create_connection(("127.0.0.1", self._to))
                except OSError:  # the master does not listen yet; workers try again
                    ours.close()
                    continue
                self._pairs.append((ours, theirs))
                threading.Thread(target=self._carry, args=(ours, theirs), daemon=True).start()

    def _carry(self, ours: socket.socket, theirs: socket.socket) -> None:
        with selectors.DefaultSelector() as both, contextlib.suppress(OSError), ours, theirs:
            both.register(ours, selectors.EVENT_READ, theirs)
            both.register(theirs, selectors.EVENT_READ, ours)
            while True:
                for key, _ in both.select():
                    self.flows.wait()
                    assert isinstance(key.fileobj, socket.socket)
                    data = key.fileobj.recv(1 << 16)
                    if not data:
                        return
                    key.data.sendall(data)


@contextmanager
def relayed(port: int) -> Iterator[Relay]:
    """A relay to that port of this machine."""
    relay = Relay(port)
    try:
        yield relay
    finally:
        relay.close()
