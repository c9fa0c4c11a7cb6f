"""HTTP framing comes off without a trace, however the bytes were cut; the answer's end is where HTTP says it is."""

from itertools import pairwise

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.stream.http_response import ResponseParser

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"
COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nabcdefg"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + COUNTED
TRAILERS = CHUNKED[:-2] + b"Content-Type: trap\r\n\r\n"
OLD = b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\nabcdefg"


def _fed(data: bytes, cuts: list[int] | None = None) -> tuple[ResponseParser, bytes]:
    framing = ResponseParser()
    edges = [0, *sorted(cuts or []), len(data)]
    body = b"".join(framing.feed(data[start:end]) for start, end in pairwise(edges) if end > start)
    return framing, body


@pytest.mark.parametrize("answer", [CHUNKED, COUNTED, INTERIM, TRAILERS])
def test_a_marked_end_completes_the_answer(answer: bytes) -> None:
    """Chunked or counted, after interim answers, with trailers: the body is the same, and the connection can be used again."""
    framing, body = _fed(answer)

    assert body == b"abcdefg"
    assert (framing.status, framing.complete, framing.reusable) == (200, True, True)


def test_without_a_marked_end_closing_is_the_end() -> None:
    """HTTP/1.0, or no length: the answer is whole once the peer has closed, and only then."""
    framing, body = _fed(OLD)

    assert (body, framing.complete) == (b"abcdefg", False)
    assert framing.closed()
    assert (framing.complete, framing.reusable) == (True, False)


@pytest.mark.parametrize("answer", [CHUNKED[:-5], COUNTED[:-1], INTERIM[:30], b""])
def test_closing_before_a_marked_end_is_no_end(answer: bytes) -> None:
    """C-15 as HTTP sees it: a chunked or counted answer that stops early was cut."""
    framing, _ = _fed(answer)

    assert not framing.closed()
    assert not framing.complete


def test_a_trailer_does_not_change_the_head() -> None:
    """Only fields of the head are kept."""
    assert "content-type" not in _fed(TRAILERS)[0].headers


def test_connection_close_is_believed() -> None:
    """What the server says about its connection decides whether another request goes over it."""
    framing, _ = _fed(COUNTED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))

    assert (framing.complete, framing.reusable) == (True, False)


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED])
@pytest.mark.parametrize("after", [b"JUNK", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"])
def test_bytes_after_the_end_are_not_ours(answer: bytes, after: bytes) -> None:
    """They are not part of the body, and the connection is given up."""
    framing, body = _fed(answer + after)

    assert body == b"abcdefg"
    assert (framing.complete, framing.reusable) == (True, False)


@pytest.mark.parametrize("after", [b"", b"ab", COUNTED])
def test_switching_protocols_is_an_answer_without_a_body(after: bytes) -> None:
    """Nobody asked for it: the head is all, and what follows is not HTTP's."""
    framing, body = _fed(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + after)

    assert (body, framing.status, framing.complete, framing.reusable) == (b"", 101, True, False)


@pytest.mark.parametrize("data", [b"SSH-2.0-OpenSSH_9.6\r\n", CHUNKED.replace(b"3\r\n", b"zz\r\n", 1)])
def test_what_is_not_http_is_an_error(data: bytes) -> None:
    """The parser's error says so; nothing is guessed."""
    with pytest.raises(httptools.HttpParserError):
        _fed(data)


@given(st.sampled_from([CHUNKED, COUNTED, INTERIM, TRAILERS]), st.lists(st.integers(0, 120), max_size=20))
def test_cutting_the_bytes_anywhere_changes_nothing(answer: bytes, cuts: list[int]) -> None:
    """Body, status and headers are those of the uncut answer."""
    whole, body = _fed(answer)
    framing, pieces = _fed(answer, [cut % len(answer) for cut in cuts])

    assert pieces == body
    assert (framing.status, framing.headers, framing.complete) == (whole.status, whole.headers, whole.complete)
