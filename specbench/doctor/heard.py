"""One answer taken apart for the doctor: its record, what its stream said, and which events were written in one go. Pure."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from specbench.model.seen import Capture, RequestRecord, StreamRule
from specbench.stream.answer import Answer, read_answer
from specbench.stream.body import plain_frames
from specbench.stream.record import Asked, record_of
from specbench.units import ns_of_ms

TOGETHER_NS = ns_of_ms(0.5)
"""Events no further apart were written in one go: inside llama.cpp's batches the recorded gaps end at 0.26 ms, its next
steps begin at 2.4 ms."""

_UNLIMITED = Asked("", "", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One answer: the capture, the record and the stream's own words.

    `groups`: sizes of runs of content events that came in one go; `late` of them are left out, as the client itself read so
    late that it may have merged events of that many steps. `torn`: reads that ended inside a line whose rest came noticeably
    later, as a buffer that is emptied when it is full leaves them.
    """

    capture: Capture
    record: RequestRecord
    answer: Answer
    groups: tuple[int, ...]
    late: int
    torn: int

    @property
    def ok(self) -> bool:
        """Whether the answer is whole and holds tokens."""
        return self.record.outcome == "ok"


def heard(capture: Capture, rule: StreamRule) -> Heard:
    """The answer in this capture, read as its engine streams."""
    frames, _ = plain_frames(capture)
    record = record_of(capture, _UNLIMITED, rule)
    groups, late = _groups(record, {frame.stamp_ns - capture.sent_ns: frame.read_ns - frame.stamp_ns for frame in capture.frames})
    return Heard(
        capture=capture,
        record=record,
        answer=read_answer(b"".join(frame.data for frame in frames)),
        groups=groups,
        late=late,
        torn=_torn(capture),
    )


def _groups(record: RequestRecord, lags_ns: dict[int, int]) -> tuple[tuple[int, ...], int]:
    groups: list[int] = []
    late: set[int] = set()
    merged = Counter(record.event_ns)
    before: int | None = None
    for time_ns in record.event_ns:
        if before is not None and time_ns - before <= TOGETHER_NS:
            groups[-1] += 1
            if time_ns == before and lags_ns.get(time_ns, 0) > TOGETHER_NS * (merged[time_ns] - 1):
                late.add(len(groups) - 1)
        else:
            groups.append(1)
        before = time_ns
    return tuple(size for place, size in enumerate(groups) if place not in late), len(late)


def _torn(capture: Capture) -> int:
    """Of an answer that is not packed: packed bytes have no lines."""
    if "content-encoding" in capture.headers:
        return 0
    frames = capture.frames
    return sum(
        not earlier.data.endswith((b"\n", b"\r")) and later.stamp_ns - earlier.stamp_ns > TOGETHER_NS
        for earlier, later in pairwise(frames)
    )
