"""What an exchange keeps of each read, when it gives up waiting, and whose clock its stamps are on."""

import gzip

import pytest

from specbench.stream.exchange import LARGEST_HEAD, LONGEST_LINE, STEP_NS, Exchange, Timeouts
from specbench.units import ns_of_s
from tests.support.captures import DONE, capture_of, finish, role, said
from tests.support.raw_server import END, STREAM_HEAD, chunk

SENT = ns_of_s(100.0)
OFFSET = -ns_of_s(50.0)  # what turns the realtime clock's stamps into the monotonic clock's
LIMITS = Timeouts(connect_s=1.0, first_token_s=10.0, between_tokens_s=2.0, total_s=60.0)


def _begun() -> Exchange:
    exchange = Exchange(LIMITS)
    exchange.begin(SENT, OFFSET)
    return exchange


def _at(seconds: float) -> int:
    return SENT + ns_of_s(seconds)


def _take(exchange: Exchange, seconds: float, data: bytes, lag_s: float = 0.001) -> None:
    """Data that arrived at that moment and was read `lag_s` later."""
    exchange.take(data, _at(seconds) - OFFSET, _at(seconds + lag_s))


def test_a_frame_is_what_one_read_delivered() -> None:
    """Stamps are on the monotonic clock; a read without body bytes leaves no frame."""
    exchange = _begun()
    _take(exchange, 0.1, STREAM_HEAD)
    _take(exchange, 0.2, chunk(said("a")) + chunk(said("b")), lag_s=0.5)
    _take(exchange, 0.3, chunk(DONE) + END)
    exchange.end(_at(9), OFFSET)
    capture = capture_of(exchange, "block", 7, 3)

    assert [(frame.stamp_ns, frame.read_ns) for frame in capture.frames] == [(_at(0.2), _at(0.7)), (_at(0.3), _at(0.301))]
    assert capture.frames[0].data == said("a") + said("b")
    assert (capture.status, capture.problem, capture.stamp_source, capture.end_ns) == (200, None, "kernel", _at(0.3))
    assert (capture.block, capture.index, capture.stream) == ("block", 7, 3)


def test_before_a_token_the_wait_runs_from_sending() -> None:
    """Neither the head, nor a comment, nor the role event ends the wait for the first token."""
    exchange = _begun()
    for seconds, data in ((1, STREAM_HEAD), (2, chunk(role())), (3, chunk(b": ping\n\n"))):
        _take(exchange, seconds, data)

    assert exchange.deadline() == (_at(10), "timeout_first_token")


def test_between_tokens_only_tokens_count() -> None:
    """C-12: comments keep a connection open; the silence runs from the last read with data."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(said("a")), lag_s=0.0)
    _take(exchange, 2, chunk(b": ping\n\n"))

    assert exchange.deadline() == (_at(3), "stalled")


def test_a_second_event_ends_the_wait_even_if_it_names_the_role() -> None:
    """Some engines name the role in every event."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(role()) + chunk(role()), lag_s=0.0)

    assert exchange.deadline() == (_at(3), "stalled")


def test_the_whole_answer_has_a_limit() -> None:
    """However lively it is."""
    exchange = _begun()
    _take(exchange, 59, STREAM_HEAD + chunk(said("a")))

    assert exchange.deadline() == (_at(60), "timeout_total")


def test_a_line_without_end_is_given_up() -> None:
    """S-11: memory stays bounded; lines that end may add up to more."""
    endless, many = _begun(), _begun()
    piece = b"x" * 1_000_000
    for exchange, end in ((endless, b""), (many, b"\n")):
        _take(exchange, 1, STREAM_HEAD)
        for place in range(LONGEST_LINE // len(piece) + 2):
            _take(exchange, 2 + place, chunk(piece + end))

    assert (endless.problem, many.problem) == ("line_too_long", None)


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"])
def test_a_head_without_end_is_given_up(begin: bytes) -> None:
    """One header after another: 256 KiB may pass, more may not."""
    exchange = _begun()
    _take(exchange, 1, begin + b"X: ".ljust(LARGEST_HEAD - len(begin) - 2, b"z") + b"\r\n")
    assert (exchange.problem, exchange.finished) == (None, False)

    _take(exchange, 2, b"X")
    assert (exchange.problem, exchange.finished) == ("protocol_error", True)


def test_bytes_that_are_no_http_end_the_exchange() -> None:
    """The first problem is the one that counts."""
    exchange = _begun()
    _take(exchange, 1, b"SSH-2.0-x\r\n")
    exchange.fail("disconnected", "later")

    assert (exchange.problem, exchange.finished, exchange.touched) == ("protocol_error", True, True)


def test_one_body_read_without_a_stamp_puts_all_on_the_readers_clock() -> None:
    """Two clocks do not mix within an answer."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(said("a")), lag_s=0.25)
    exchange.take(chunk(said("b")) + END, None, _at(2))
    exchange.end(_at(3), OFFSET)

    assert (list(exchange.stamps), exchange.stamp_source, exchange.clock_step) == ([_at(1.25), _at(2)], "user", False)


def test_a_head_without_a_stamp_does_not_matter() -> None:
    """No time of ours is that of the head."""
    exchange = _begun()
    exchange.take(STREAM_HEAD, None, _at(1))
    _take(exchange, 2, chunk(said("a")) + END)
    exchange.end(_at(3), OFFSET)

    assert (list(exchange.stamps), exchange.stamp_source) == ([_at(2)], "kernel")


@pytest.mark.parametrize(("steps", "source"), [(0, "kernel"), (0.5, "kernel"), (5, "user"), (-5, "user")])
def test_a_step_of_the_clock_is_noticed(steps: float, source: str) -> None:
    """If the offset of the two clocks changed during the answer, its kernel stamps are not used."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(said("a")) + END)
    exchange.end(_at(2), OFFSET + round(steps * STEP_NS))

    assert (exchange.stamp_source, exchange.clock_step) == (source, source == "user")
    assert list(exchange.stamps) == [_at(1) if source == "kernel" else _at(1.001)]


def test_what_looks_well_from_outside() -> None:
    """An error inside a 200, another status or no event at all: streams then wait before they ask again."""
    good, wrong, error = _begun(), _begun(), _begun()
    _take(good, 1, STREAM_HEAD + chunk(said('an "error" in text')) + END)
    _take(wrong, 1, STREAM_HEAD.replace(b"200 OK", b"503 Busy") + chunk(said("a")) + END)
    _take(error, 1, STREAM_HEAD + chunk(b'data: {"error":{"code":500}}\n\n') + chunk(DONE) + END)

    assert (good.looks_successful, wrong.looks_successful, error.looks_successful, _begun().looks_successful) == (
        True,
        False,
        False,
        False,
    )


@pytest.mark.parametrize("error", [b"null", b" null", b" \t null", b'""', b"false", b" 0", b"{}", b"[ ]"])
def test_an_error_that_says_nothing_looks_well(error: bytes) -> None:
    """Foundry Local sends a null one in every event, as others do with other nothings."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(b'data: {"choices":[],"error":%s}\n\n' % error) + chunk(DONE) + END)

    assert exchange.looks_successful


@pytest.mark.parametrize("error", [b'"x"', b' {"code":500}', b"true", b" 5", b"  [1]"])
def test_an_error_that_says_anything_does_not(error: bytes) -> None:
    """Whatever its shape."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(b'data: {"error" :%s}\n\n' % error) + chunk(DONE) + END)

    assert not exchange.looks_successful


@pytest.mark.parametrize(
    ("event", "well"),
    [
        (said("error") + finish(), True),
        (said('"error": "x"') + finish(), True),
        (said("\nevent: error\n") + finish(), True),
        (said("a") + finish("error"), False),
        (b'data: {"object" : "error", "message": "no"}\n\n', False),
        (b'event: error\ndata: {"type":"error"}\n\n', False),
    ],
)
def test_an_error_is_told_by_its_key_not_by_the_word(event: bytes, well: bool) -> None:
    """The word, or what looks like the key, may be what a model says last."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD + chunk(said("a")) + chunk(event + DONE) + END)

    assert exchange.looks_successful is well


def test_a_compressed_stream_is_alive_with_its_first_byte() -> None:
    """Its events cannot be seen here: bytes count as tokens, status and problem tell whether it looks well."""
    exchange, wrong = _begun(), _begun()
    encoded = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: GZip\r\n\r\n")
    _take(exchange, 1, encoded + chunk(gzip.compress(said("a"))), lag_s=0.0)
    _take(wrong, 1, encoded.replace(b"200 OK", b"503 Busy") + chunk(b"x") + END)

    assert exchange.deadline() == (_at(3), "stalled")
    assert (exchange.looks_successful, wrong.looks_successful) == (True, False)


def test_identity_is_no_encoding() -> None:
    """A plain body that says so is looked into: a comment is no token."""
    exchange = _begun()
    _take(exchange, 1, STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: identity\r\n\r\n") + chunk(b": ping\n\n"))

    assert (exchange.deadline(), exchange.looks_successful) == ((_at(10), "timeout_first_token"), False)
