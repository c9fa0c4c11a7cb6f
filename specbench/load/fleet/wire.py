"""What parent, master, reader and decoder of a fleet say to each other, and how it is written. No sockets, no processes."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

import msgspec

from specbench.load.fleet.ledger import BegunRequest, Tally
from specbench.load.messages import Abort, BlockClosed, BlockSpec, NoMoreWork, RequestJob
from specbench.model.captures import Capture
from specbench.model.records import GeneratorHealth, RequestRecord, Void

MESSAGE = "specbench"
"""The one type of custom message that passes between Locust's runners."""


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, array_like=True):
    pass


# Parent to master


class FleetStart(_Message, frozen=True):
    """Listen there (port 0: a free one) for so many workers that know the secret, at most so long."""

    host: str
    port: int
    secret: str
    workers: int
    wait_s: float
    lanes: int = 1


class FleetBlock(_Message, frozen=True):
    """One block for the whole fleet, and how its answers are decoded: the engine by name, and what may stand in no record.

    `crew`: the workers that must drive it, by name, as they drove the other arm; empty where any may.
    """

    spec: BlockSpec
    engine: str
    secrets: tuple[str, ...] = ()
    texts: bool = False
    crew: tuple[str, ...] = ()


class ToLane(_Message, frozen=True):
    """Something for the block of one lane; two lanes run at once where both arms do, each with half of the fleet."""

    lane: int
    content: FleetBlock | RequestJob | NoMoreWork | Abort


# Master to parent


class Listening(_Message, frozen=True):
    """Workers may come."""

    port: int


class Gathered(_Message, frozen=True):
    """All workers are there, by name."""

    workers: tuple[str, ...]


class Remark(_Message, frozen=True):
    """Something for the user to know; the fleet goes on."""

    text: str


class Fault(_Message, frozen=True):
    """The fleet cannot work, and why, with the exit code."""

    text: str
    exit_code: int


class Wanted(_Message, frozen=True):
    """The lane can deal so many more requests."""

    lane: int
    count: int


class RecordBatch(_Message, frozen=True):
    """Records of one worker; `lines` are `DecodedAnswer`s, packed."""

    lane: int
    lines: bytes


class WorkerClosed(_Message, frozen=True):
    """How a worker's part of a block went."""

    name: str
    streams: int
    lost: bool
    health: GeneratorHealth | None
    clock_offset_ns: int | None
    clock_error_ns: int | None
    clock_drift_ns: int | None


class LostRequest(_Message, frozen=True):
    """A request that was under way at a worker that was lost; its moment is by the master's clock."""

    index: int
    stream: int
    sent_ns: int
    scheduled_ns: int | None


class FleetClosed(_Message, frozen=True):
    """The block of a lane has ended; times are by the master's clock."""

    lane: int
    closed: BlockClosed
    workers: tuple[WorkerClosed, ...]
    void: Void | None
    lost: tuple[LostRequest, ...]
    lost_unsent: int
    refused: int


# Master to worker


class Share(_Message, frozen=True):
    """One worker's part of a block: these streams, of so many in all. Serials count the blocks of a master."""

    serial: int
    block: FleetBlock
    streams: tuple[int, ...]
    of: int


class Jobs(_Message, frozen=True):
    """Requests for this worker."""

    serial: int
    jobs: tuple[RequestJob, ...]


class NoMoreJobs(_Message, frozen=True):
    """No further request comes."""

    serial: int


class Go(_Message, frozen=True):
    """Load begins at this moment of the worker's clock, which is so far ahead of the master's."""

    serial: int
    at_ns: int
    offset_ns: int


class WindowIs(_Message, frozen=True):
    """The steady window as far as it is known, by the worker's clock; `over`: nothing that counts is in flight any more."""

    serial: int
    opened_ns: int | None
    closed_ns: int | None
    over: bool
    aborted: bool


class Quit(_Message, frozen=True):
    """The run is done, or this worker is not wanted: `why`, with the exit code."""

    why: str
    exit_code: int


# Worker to master


class Hello(_Message, frozen=True):
    """Who a worker is."""

    specbench: str
    locust: str
    host: str
    pid: int


class Lined(_Message, frozen=True):
    """All connections of this worker are open."""

    serial: int


class EndedRequest(_Message, frozen=True):
    """A request that a worker has ended, by its clock."""

    stream: int
    at_ns: int
    failed: bool


class Notice(_Message, frozen=True):
    """What a worker has begun and ended since the last one.

    `freed`: how many jobs its streams are done with, a session being one. `idle`: its work is all done.
    """

    serial: int
    begun: tuple[BegunRequest, ...]
    ended: tuple[EndedRequest, ...]
    freed: int
    idle: bool


class Records(_Message, frozen=True):
    """Records as the decoder made them, and of which requests they are."""

    serial: int
    indices: tuple[int, ...]
    lines: bytes


class ShareDone(_Message, frozen=True):
    """A worker's part of a block has ended, and every record of it has gone before."""

    serial: int
    closed: BlockClosed
    health: GeneratorHealth
    dealt: Tally
    sent: Tally
    reported: Tally


# Between master and worker, unnumbered


class Ping(_Message, frozen=True):
    """What does your clock say?"""

    number: int


class Pong(_Message, frozen=True):
    """It says this."""

    number: int
    at_ns: int


class Numbered(_Message, frozen=True):
    """Messages that must arrive, each with its number, and up to which number the other side's have."""

    arrived: int
    messages: tuple[tuple[int, bytes], ...] = ()


# Decoder and reader of one worker


class JoinFleet(_Message, frozen=True):
    """Where the master listens, the secret, and for how long to try."""

    host: str
    port: int
    secret: str
    wait_s: float


class Forward(_Message, frozen=True):
    """A message for the master, as it is; one that may wait a moment travels with others."""

    payload: bytes
    at_once: bool = False


class ShareClosed(_Message, frozen=True):
    """The reader's side of `ShareDone`: what it was dealt and has sent."""

    serial: int
    closed: BlockClosed
    dealt: Tally
    sent: Tally


class DecodedAnswer(_Message, frozen=True):
    """One request's record, in times of the master's clock; its text and where it was redirected, where asked for; and how late
    the latest of it was read, for those who watch."""

    record: RequestRecord
    text: str | None = None
    redirected: str | None = None
    lag_ms: float | None = None


ToMaster: TypeAlias = FleetStart | ToLane
ToParent: TypeAlias = Listening | Gathered | Remark | Fault | Wanted | RecordBatch | FleetClosed
FromMaster: TypeAlias = Share | Jobs | NoMoreJobs | Go | WindowIs | Quit
FromWorker: TypeAlias = Hello | Lined | Notice | Records | ShareDone
Packet: TypeAlias = Ping | Pong | Numbered
ToReader: TypeAlias = JoinFleet | Forward
ToDecoder: TypeAlias = Share | Go | Capture | ShareClosed | Quit

encode = msgspec.msgpack.Encoder().encode
decode_to_master: Callable[[bytes], ToMaster] = msgspec.msgpack.Decoder(ToMaster).decode
decode_to_parent: Callable[[bytes], ToParent] = msgspec.msgpack.Decoder(ToParent).decode
decode_from_master: Callable[[bytes], FromMaster] = msgspec.msgpack.Decoder(FromMaster).decode
decode_from_worker: Callable[[bytes], FromWorker] = msgspec.msgpack.Decoder(FromWorker).decode
decode_packet: Callable[[bytes], Packet] = msgspec.msgpack.Decoder(Packet).decode
decode_to_reader: Callable[[bytes], ToReader] = msgspec.msgpack.Decoder(ToReader).decode
decode_to_decoder: Callable[[bytes], ToDecoder] = msgspec.msgpack.Decoder(ToDecoder).decode
_line: Callable[[bytes], DecodedAnswer] = msgspec.json.Decoder(DecodedAnswer).decode
_as_line = msgspec.json.Encoder().encode


def packed_lines(answers: Iterable[DecodedAnswer]) -> bytes:
    """These answers as JSON lines, squeezed: about six bytes a chunk."""
    return zlib.compress(b"\n".join(map(_as_line, answers)), 1)


def unpacked_lines(lines: bytes) -> Iterator[DecodedAnswer]:
    """The answers again."""
    for line in zlib.decompress(lines).split(b"\n"):
        answer = _line(line)
        record = answer.record
        yield msgspec.structs.replace(answer, record=replace(record, event_ns=tuple(record.event_ns)))
