"""One answer as it came off the socket, read by read, before anybody decoded it. Times are whole nanoseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from specbench.model.records import Outcome, StampSource

UNKNOWN = -1
"""Stands in a column of moments for one that is not known."""


@dataclass(frozen=True, slots=True)
class TimedRead:
    """Body bytes as one read delivered them: a row of a capture's columns.

    `stamp_ns` is the arrival of the last of them. `first_ns` is that of the first where it is known closely as well, else None.
    """

    stamp_ns: int
    read_ns: int
    data: bytes
    first_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One answer as it came off the socket, undecoded: all that `stream/` needs to make a record, now or years later.

    `body` is what was read of it, HTTP framing removed. Of each read that brought some of it, `sizes` has how many bytes,
    `stamps` when the last of them arrived, `firsts` when the first did (UNKNOWN where that is not known closely), and `reads`
    when they were read, on the generator's monotonic clock: columns of 64-bit integers, packed, so that they travel as they are.

    `sent_ns` is the moment before the request is written to an open connection. `problem` is what the transport
    itself saw go wrong (an `Outcome`), None where the exchange ended as HTTP or the stream itself says it should.
    `data_after_end`: more came after the stream had said that it was over. `redirected`: the path to which the endpoint sent this
    request on, and which answered it; None where it was answered where it was sent. `failed`: as far as the socket can see, after
    which its stream waits on purpose. `think_ns`: how long its stream waits after it, as a user does before the next turn.
    """

    block: str
    index: int
    stream: int
    scheduled_ns: int | None
    sent_ns: int
    connect_ns: int | None
    reused: bool
    retries: int
    status: int | None
    headers: dict[str, str]
    stamps: bytes
    reads: bytes
    firsts: bytes
    sizes: bytes
    body: bytes
    end_ns: int
    stamp_source: StampSource
    problem: Outcome | None
    problem_text: str | None
    clock_step: bool
    data_after_end: bool = False
    redirected: str | None = None
    failed: bool = False
    think_ns: int = 0

    @property
    def frames(self) -> tuple[TimedRead, ...]:
        """The columns row by row, for who looks at single reads."""
        stamps, reads, firsts, sizes = map(column, (self.stamps, self.reads, self.firsts, self.sizes))
        pieces = [self.body[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)]
        known = (None if first_ns == UNKNOWN else first_ns for first_ns in firsts)
        return tuple(map(TimedRead, stamps, reads, pieces, known))


def column(packed: bytes) -> Sequence[int]:
    """The numbers of a packed column of a capture."""
    return memoryview(packed).cast("q")
