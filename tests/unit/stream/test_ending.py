"""An event stream is over with its end mark or an error, however its bytes were cut; the same words in a text end nothing."""

import gzip
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.stream.exchange import Exchange, Timeouts
from tests.support.captures import DONE, a_record, event, final_usage, finish, role, said
from tests.support.raw_server import STREAM_HEAD, chunk

PING = b": ping\n\n"
ERROR = event({"error": {"message": "out of memory", "code": 500}})
NAMED_ERROR = b'event: error\ndata: {"message": "gone"}\n\n'
VLLM_ERROR = event({"object": "error", "message": "no", "code": 400})
WORDS = said("[DONE]") + said('"error": "x"') + said("data: [DONE]\n\n") + said("\nevent: error\n")
ARGUMENTS = event({"choices": [{"index": 0, "delta": {"tool_calls": [{"function": {"arguments": {"error": "none"}}}]}}]})
NOTHING = event({"choices": [{"index": 0, "delta": {"content": "a"}}], "error": None})


def _over_after(*reads: bytes, head: bytes = STREAM_HEAD) -> int | None:
    """The number of the read with which the stream was over, None where it was not."""
    exchange = Exchange(Timeouts())
    exchange.begin(0, 0)
    exchange.take(head, 1, 1)
    for number, read in enumerate(reads):
        exchange.take(chunk(read), number + 2, number + 2)
        if exchange.over:
            return number
    return None


@pytest.mark.parametrize(
    "end",
    [
        DONE,
        b"data:[DONE]\n\n",
        b"data: [DONE]\r\n\r\n",
        b"data: [DONE]\r\r",
        b"data: [DONE]",  # nothing behind it, as some servers end
        b"event: done\ndata: [DONE]\n\n",
        b"id: 7\ndata: [DONE]\n\n",
        DONE + PING,
        DONE + said("more"),
        ERROR,
        NAMED_ERROR,
        VLLM_ERROR,
        ERROR + DONE,
        b'data: {"error": "overloaded"}',
    ],
)
def test_the_read_with_the_end_is_the_last(end: bytes) -> None:
    """Alone or behind a token in one read; what follows it matters to nobody."""
    assert _over_after(role() + said("a"), said("b"), end, PING) == 2
    assert _over_after(role() + said("a"), said("b") + finish() + end, PING) == 1


@pytest.mark.parametrize("text", [WORDS, ARGUMENTS, NOTHING, PING, finish() + final_usage(3), b"event: error_rate\ndata: {}\n\n"])
def test_words_of_an_answer_end_nothing(text: bytes) -> None:
    """In the model's text, in arguments of a tool, in an error that says nothing, in a comment or another event's name."""
    assert _over_after(role(), text, text + text, said("a")) is None
    assert _over_after(role(), text, said("a"), DONE) == 3


@given(st.lists(st.sampled_from([said("a"), WORDS, ARGUMENTS, NOTHING, PING]), max_size=4), st.data())
def test_however_it_is_cut_the_end_is_noticed_when_it_is_there(events: list[bytes], data: st.DataObject) -> None:
    """Neither a read too early nor one too late, in pieces of any size."""
    end = data.draw(st.sampled_from([DONE, ERROR, NAMED_ERROR, DONE.replace(b"\n", b"\r\n")]))
    before = b"".join(events)
    body = before + end + PING
    cuts = sorted(data.draw(st.sets(st.integers(1, len(body) - 1), max_size=12)) | {len(before)})
    edges = [0, *cuts, len(body)] if before else [0, *[cut for cut in cuts if cut], len(body)]
    reads = [body[start:stop] for start, stop in pairwise(edges)]
    number = _over_after(*reads)

    assert number is not None
    seen = sum(map(len, reads[: number + 1]))
    assert seen >= len(before) + len(end.rstrip())
    assert seen - len(reads[number]) < len(before) + len(end)


def test_byte_by_byte_the_end_is_noticed() -> None:
    """As a proxy may deliver it."""
    stream = role() + WORDS + said("b") + finish() + DONE
    at = _over_after(*[stream[place : place + 1] for place in range(len(stream))])

    assert at == len(stream) - 3  # with the bracket that closes it


def test_an_odd_mark_ends_only_what_had_its_finish() -> None:
    """`DONE` without brackets, or in quotes, behind a finish reason; before one it is an event that cannot be read."""
    for mark in (b"data: DONE\n\n", b'data: "[DONE]"\n\n', b"data: 'DONE'\n\n"):
        assert _over_after(said("a"), finish(), mark, PING) == 2
        assert _over_after(said("a"), mark, PING) is None


@pytest.mark.parametrize("pack", ["gzip", "members", "deflate", "raw"])
def test_a_compressed_stream_is_over_as_a_plain_one_is(pack: str) -> None:
    """Its events come to light as they are decoded."""
    events = [role() + said("a"), WORDS, said("b") + finish(), DONE]
    bits = {"gzip": 31, "deflate": 15, "raw": -15, "members": 31}[pack]
    packer = zlib.compressobj(wbits=bits)
    reads = [
        gzip.compress(one) if pack == "members" else packer.compress(one) + packer.flush(zlib.Z_SYNC_FLUSH) for one in events
    ]
    coding = b"deflate" if pack in ("deflate", "raw") else b"gzip"
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: " + coding + b"\r\n\r\n")

    assert _over_after(*reads, packer.compress(PING) + packer.flush(zlib.Z_SYNC_FLUSH), head=head) == 3


def test_a_long_error_in_pieces_is_read_whole() -> None:
    """Its key came long before its end."""
    long = event({"error": {"message": "x" * 200_000}})
    pieces = [long[place : place + 7_000] for place in range(0, len(long), 7_000)]

    assert _over_after(said("a"), *pieces, PING) == len(pieces)


def test_behind_an_odd_mark_nothing_is_read_wherever_the_reads_were_cut() -> None:
    """In the read of the mark or in a later one, what follows is no part of the answer; one that breaks off is whole."""
    for mark in (b"data: DONE\n\n", b'data: "[DONE]"\n\n'):
        record = a_record((100, said("a")), (140, said("b") + finish() + final_usage(2) + mark + said("more")))
        broken = a_record((100, said("a")), (140, said("b") + finish() + final_usage(2) + mark), problem="truncated_stream")

        assert (record.outcome, record.text_chars, record.output_tokens) == ("ok", 2, 2)
        assert {"odd_end", "data_after_done"} <= set(record.flags)
        assert (broken.outcome, broken.text_chars) == ("ok", 2)
        assert {"odd_end", "unclean_end"} <= set(broken.flags)
