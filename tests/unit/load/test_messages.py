"""What crosses the pipes between parent and child arrives as it was sent, however the pipe cuts it."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from specbench.load.messages import (
    Abort,
    BlockClosed,
    BlockSpec,
    MessageDecoder,
    NoMoreWork,
    RequestJob,
    ToChild,
    decode_to_child,
    decode_to_parent,
    framed,
)
from specbench.model.captures import UNKNOWN, Capture, TimedRead
from specbench.stream.exchange import Timeouts

ORDER = BlockSpec(
    block="c4/0",
    url="http://127.0.0.1:1",
    path="/v1/completions",
    headers={"Authorization": "Bearer k"},
    concurrency=4,
    min_requests=12,
    min_s=2.0,
    max_s=36.0,
    ramp_s=1.0,
    timeouts=Timeouts(total_s=5.0),
)
CLOSED = BlockClosed(
    block="c4/0",
    window_open_ns=1,
    window_close_ns=None,
    short=True,
    end_reason="max_time",
    aborted=False,
    in_flight_limit_reached=False,
    cpu_share=0.25,
)

works = st.builds(
    RequestJob,
    index=st.integers(0, 10**6),
    body=st.binary(max_size=300),
    arrival_ns=st.none() | st.integers(0, 10**12),
    behind=st.lists(st.binary(max_size=9), max_size=2).map(tuple),
)
orders = st.lists(works | st.sampled_from([ORDER, NoMoreWork(), Abort()]), max_size=8)


def _captured(pieces: list[bytes]) -> Capture:
    count = len(pieces)
    return Capture(
        block="b",
        index=3,
        stream=1,
        scheduled_ns=None,
        sent_ns=10,
        connect_ns=5,
        reused=False,
        retries=1,
        status=200,
        headers={"content-type": "text/event-stream"},
        stamps=array("q", range(100, 100 + count)).tobytes(),
        reads=array("q", range(200, 200 + count)).tobytes(),
        firsts=array("q", [150 if place % 2 else UNKNOWN for place in range(count)]).tobytes(),
        sizes=array("q", map(len, pieces)).tobytes(),
        body=b"".join(pieces),
        end_ns=900,
        stamp_source="kernel",
        problem="cut",
        problem_text="why",
        clock_step=False,
        failed=True,
    )


@given(orders, st.integers(1, 50))
def test_messages_come_out_of_a_pipe_as_they_went_in(messages: list[ToChild], step: int) -> None:
    """Cut into pieces of any size, they are whole and in order."""
    stream = b"".join(map(framed, messages))
    splitter = MessageDecoder()
    heard = [
        decode_to_child(packed)
        for start in range(0, len(stream), step)
        for packed in splitter.split(stream[start : start + step])
    ]

    assert heard == messages


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=20))
def test_a_capture_has_its_frames_again(pieces: list[bytes]) -> None:
    """It is the same on both sides; stamps, reads, first moments where known, and bytes of each read come out of its columns."""
    capture = decode_to_parent(framed(_captured(pieces))[4:])

    assert capture == _captured(pieces)
    assert isinstance(capture, Capture)
    assert capture.frames == tuple(
        TimedRead(100 + place, 200 + place, piece, 150 if place % 2 else None) for place, piece in enumerate(pieces)
    )


def test_the_end_of_a_block_says_what_is_not_known() -> None:
    """A window that never closed stays None."""
    assert decode_to_parent(framed(CLOSED)[4:]) == CLOSED
