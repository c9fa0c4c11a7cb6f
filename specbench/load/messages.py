"""What parent and child say to each other over their pipes, and how it is written. No sockets, no processes, no Locust."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import msgspec

from specbench.model.captures import Capture
from specbench.model.records import LoadFacts
from specbench.stream.exchange import Timeouts

LENGTH_BYTES = 4


IN_FLIGHT_LIMIT = 256  # requests at once in the open loop


class BlockSpec(msgspec.Struct, frozen=True, kw_only=True, tag=True, array_like=True):
    """One block to be driven: where to, how hard, and when it ends.

    Closed loop: `concurrency` streams, each sending its next request when the last has ended. Open loop: `concurrency` is
    None, every `Work` has its moment, and at most `in_flight_limit` requests are under way. Times are in seconds; `max_s`
    runs from the opening of the steady window, which opens when every stream has finished one request or after `ramp_s`.

    `drain_s` is how long the block waits for what was sent inside the window. Where `shorter_drain_s` is set, it waits that long
    or four times its slowest answer, whichever is more, once it has an answer at all.
    """

    block: str
    url: str
    path: str
    headers: dict[str, str]
    concurrency: int | None
    min_requests: int
    min_s: float
    max_s: float
    ramp_s: float
    drain_s: float = 60.0
    shorter_drain_s: float | None = None
    stagger_s: float = 0.5
    in_flight_limit: int = IN_FLIGHT_LIMIT
    timeouts: Timeouts = Timeouts()
    verify: bool = True


class RequestJob(msgspec.Struct, frozen=True, kw_only=True, tag=True, array_like=True):
    """One request to be sent: its body as it goes over the wire; in the open loop also when, since the block's start.

    `then`: the further turns of its session, which its stream sends one after another; it waits `think_ns` after each. Where the
    body is to hold the session's own answers, the first stands between `body` and `behind[0]`, the next before `behind[1]`.
    """

    index: int
    body: bytes
    arrival_ns: int | None = None
    think_ns: int = 0
    then: tuple["RequestJob", ...] = ()
    behind: tuple[bytes, ...] = ()

    @property
    def last_index(self) -> int:
        """The index of the request after which its stream is free."""
        return self.then[-1].index if self.then else self.index

    @property
    def own_history(self) -> bool:
        """Whether later turns hold the answers to earlier ones."""
        return any(turn.behind for turn in self.then)

    def with_answers(self, answers: Sequence[bytes]) -> bytes:
        """The whole body, given the answers to all earlier turns as JSON strings."""
        parts = zip(answers[: len(self.behind)], self.behind, strict=True)
        return b"".join((self.body, *(piece for pair in parts for piece in pair)))


class NoMoreWork(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The work of this block is all handed over: it ends when its requests have."""


class Abort(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """End the block now; what is in flight is cut."""


class SessionEnded(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A session ended before its last turn, whose index this is: that turn is not sent, and the stream is free."""

    index: int


class BlockClosed(msgspec.Struct, frozen=True, kw_only=True, tag=True, array_like=True):
    """A block has ended, as its child saw it; window bounds are None where the window never opened."""

    block: str
    window_open_ns: int | None
    window_close_ns: int | None
    short: bool
    end_reason: str
    aborted: bool
    in_flight_limit_reached: bool
    cpu_share: float | None
    machine_cpu_share: float | None = None
    loop_lag_ms_p99: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSummary(LoadFacts):
    """A block has ended: how its load went, whether the generator was in time, and whether it was aborted."""

    block: str
    aborted: bool

    def facts(self) -> dict[str, Any]:
        """What a block keeps of it, by the names of `LoadFacts`."""
        return {each.name: getattr(self, each.name) for each in fields(LoadFacts)}


ToChild: TypeAlias = BlockSpec | RequestJob | NoMoreWork | Abort
ToParent: TypeAlias = Capture | SessionEnded | BlockClosed

encode = msgspec.msgpack.Encoder().encode
decode_to_child: Callable[[bytes], ToChild] = msgspec.msgpack.Decoder(ToChild).decode
decode_to_parent: Callable[[bytes], ToParent] = msgspec.msgpack.Decoder(ToParent).decode


def framed(message: object) -> bytes:
    """The message as it goes into a pipe: its length, then itself."""
    packed = encode(message)
    return len(packed).to_bytes(LENGTH_BYTES, "big") + packed


class MessageDecoder:
    """Whole messages out of whatever pieces a pipe delivers."""

    def __init__(self) -> None:
        self._held = bytearray()

    def split(self, data: bytes) -> Iterator[bytes]:
        """The messages that are complete now."""
        self._held += data
        start = 0
        while len(self._held) - start >= LENGTH_BYTES:
            end = start + LENGTH_BYTES + int.from_bytes(self._held[start : start + LENGTH_BYTES], "big")
            if end > len(self._held):
                break
            yield bytes(self._held[start + LENGTH_BYTES : end])
            start = end
        del self._held[:start]
