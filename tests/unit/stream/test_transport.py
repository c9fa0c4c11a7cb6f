"""The transport against a server that plays its part byte for byte: stamps, TLS, re-use, timeouts and every way to fail."""

import gzip
import resource
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from specbench.stream.connection import connect
from specbench.stream.exchange import Exchange
from specbench.stream.record import record_of
from specbench.stream.transport import EXCHANGE, StampingTransport, Timeouts
from specbench.units import ns_of_ms
from tests.support.captures import ASKED, BY_EVENT, DONE, capture_of, finish, said
from tests.support.raw_server import CERTIFICATE, END, STREAM_HEAD, Script, chunk, cutting, head, playing, read_request, says

SHORT = Timeouts(connect_s=2.0, first_token_s=0.5, between_tokens_s=0.5, total_s=5.0)
IMPATIENT = Timeouts(connect_s=0.2, first_token_s=2.0, between_tokens_s=2.0, total_s=5.0)
TOO_LARGE = head("Content-Length: 2", status="413 Content Too Large") + b"no"
LARGE = b"x" * 8_000_000  # more than the kernel takes while nobody reads
ANSWER = STREAM_HEAD + chunk(said("a")) + chunk(said("b") + finish() + DONE) + END


def _says_twice(answer: bytes) -> Script:
    def script(connection: socket.socket) -> None:
        for _ in range(2):
            read_request(connection)
            connection.sendall(answer)

    return script


def _says_at_once(answer: bytes, *, wait_s: float = 0.0) -> Script:
    """Answers without having read the body, reads no more and then closes."""

    def script(connection: socket.socket) -> None:
        connection.recv(100)
        connection.sendall(answer)
        time.sleep(wait_s)

    return script


def _asked(transport: StampingTransport, url: str) -> Exchange:
    return _asked_with(transport, url, b"{}")[0]


def _asked_with(transport: StampingTransport, url: str, *bodies: bytes) -> list[Exchange]:
    exchanges = [Exchange(transport.timeouts) for _ in bodies]
    with httpx.Client(transport=transport) as client:
        for body, exchange in zip(bodies, exchanges, strict=True):
            request = client.build_request("POST", url + "/v1/x", content=body, extensions={EXCHANGE: exchange})
            _send(client, transport, request, exchange)
    return exchanges


def _send(client: httpx.Client, transport: StampingTransport, request: httpx.Request, exchange: Exchange) -> None:
    try:
        response = client.send(request, stream=True)
    except httpx.TransportError:
        return
    while not exchange.finished:
        transport.read(exchange)
    response.close()


def _asked_times(count: int, transport: StampingTransport, url: str, pause: threading.Event | None = None) -> list[Exchange]:
    exchanges = [Exchange(transport.timeouts) for _ in range(count)]
    with httpx.Client(transport=transport) as client:
        for place, exchange in enumerate(exchanges):
            if place and pause is not None:
                assert pause.wait(5.0)
            _send(client, transport, client.build_request("POST", url, content=b"{}", extensions={EXCHANGE: exchange}), exchange)
    return exchanges


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test server's certificate is trusted, as a user would say it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    return CERTIFICATE


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.usefixtures("trusted")
def test_arrival_is_stamped_by_the_kernel(tls: bool) -> None:
    """Plain and under TLS: stamps rise, lie between sending and reading, and the answer is whole."""
    pieces = [STREAM_HEAD, chunk(said("a")), chunk(said("b")), chunk(finish() + DONE) + END]
    with playing([says(*pieces, pause_s=0.01)], tls=tls) as url:
        exchange = _asked(StampingTransport(), url)
    capture = capture_of(exchange)
    record = record_of(capture, ASKED, BY_EVENT)

    assert (record.outcome, record.stamp_source, len(record.event_ns)) == ("ok", "kernel", 2)
    assert (exchange.connect_ns or 0) > 0
    for frame in capture.frames:
        assert capture.sent_ns < frame.stamp_ns < frame.read_ns


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.usefixtures("trusted")
def test_reading_late_does_not_move_a_stamp(tls: bool) -> None:
    """What waited 60 ms in the kernel carries the time of its arrival."""
    sent = threading.Event()

    def script(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"hello")
        sent.set()
        connection.recv(1)

    with playing([script], tls=tls) as url:
        connection = connect(httpx.URL(url), True, 2.0)
        connection.send(connection.sealed(b"GET / HTTP/1.1\r\n\r\n"), 2.0)
        assert sent.wait(5.0)
        time.sleep(0.06)
        data, stamp_ns = connection.receive(2.0)
        now_ns = time.time_ns()
        connection.close()

    assert data == b"hello"
    assert stamp_ns is not None
    assert now_ns - stamp_ns >= ns_of_ms(60)


def test_four_events_read_late_are_one_timed_and_three_censored() -> None:
    """Sent 10 ms apart, read in one `recvmsg`: the kernel merged them under the last one's stamp, and the record says so."""
    listening, sent = threading.Event(), threading.Event()

    def script(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(STREAM_HEAD)
        assert listening.wait(5.0)
        for word in "abcd":
            connection.sendall(chunk(said(word)))
            time.sleep(0.01)
        sent.set()
        connection.recv(1)

    exchange = Exchange(Timeouts())
    with playing([script]) as url, httpx.Client(transport=(transport := StampingTransport())) as client:
        response = client.send(client.build_request("POST", url, content=b"{}", extensions={EXCHANGE: exchange}), stream=True)
        listening.set()
        assert sent.wait(5.0)
        transport.read(exchange)
        response.close()
    record = record_of(capture_of(exchange), ASKED, BY_EVENT)

    assert (len(record.event_ns), len(set(record.event_ns)), record.censored) == (4, 1, (0, 1, 2))


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.usefixtures("trusted")
def test_a_connection_serves_one_request_after_another(tls: bool) -> None:
    """Opened once and ahead; every request finds it open, and its connection time is counted once."""
    with playing([_says_twice(ANSWER)], tls=tls) as url:
        transport = StampingTransport()
        transport.open(httpx.URL(url))
        first, second = _asked_times(2, transport, url)

    assert (first.problem, first.reused, first.connect_ns is not None) == (None, False, True)
    assert (second.problem, second.reused, second.connect_ns) == (None, True, None)


def test_a_connection_closed_while_idle_is_replaced_before_the_clock_starts() -> None:
    """S-12: the server closed; that is neither a failure nor a retry."""
    closed = threading.Event()

    def closing(connection: socket.socket) -> None:
        says(ANSWER)(connection)
        connection.shutdown(socket.SHUT_RDWR)
        closed.set()

    with playing([closing, says(ANSWER)]) as url:
        _, second = _asked_times(2, StampingTransport(), url, closed)

    assert (second.problem, second.reused, second.retries) == (None, False, 0)


def test_a_reused_connection_that_closes_without_a_byte_is_replayed_once() -> None:
    """S-12: the close crossed the request; it is sent again on a new connection, and counted."""

    def crossing(connection: socket.socket) -> None:
        says(ANSWER)(connection)
        read_request(connection)

    with playing([crossing, says(ANSWER)]) as url:
        _, second = _asked_times(2, StampingTransport(), url)

    assert (second.problem, second.reused, second.retries) == (None, False, 1)


def test_nothing_else_is_ever_sent_twice() -> None:
    """Neither on a new connection, nor once a byte of the answer has come."""

    def broken_off(connection: socket.socket) -> None:
        says(ANSWER)(connection)
        says(b"HTTP/1.1 2")(connection)

    with playing([says(b""), says(ANSWER)]) as url:
        fresh = _asked(StampingTransport(), url)
    with playing([broken_off, says(ANSWER)]) as url:
        _, touched = _asked_times(2, StampingTransport(), url)

    assert (fresh.problem, fresh.retries) == ("disconnected", 0)
    assert (touched.problem, touched.retries) == ("disconnected", 0)


def test_an_answer_that_comes_before_the_request_is_out_counts() -> None:
    """A server refuses 8 MB by their head and closes, or reads no more: that is its answer; the connection is not used again."""
    for refusing in (_says_at_once(TOO_LARGE), _says_at_once(TOO_LARGE, wait_s=0.5)):
        with playing([refusing, says(ANSWER)]) as url:
            refused, after = _asked_with(StampingTransport(IMPATIENT), url, LARGE, b"{}")

        assert (refused.framing.status, refused.problem, refused.pieces, refused.retries) == (413, None, [b"no"], 0)
        assert (after.framing.status, after.problem, after.reused) == (200, None, False)


@pytest.mark.parametrize("early", [b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 4"])
def test_a_request_that_cannot_be_sent_is_disconnected(early: bytes) -> None:
    """Without the head of an answer there is none."""
    with playing([_says_at_once(early)]) as url:
        (exchange,) = _asked_with(StampingTransport(IMPATIENT), url, LARGE)

    assert (exchange.problem, exchange.framing.status) == ("disconnected", None)


def test_what_could_not_be_sent_in_time_is_not_sent_again() -> None:
    """The connection in hand is open and has half of the request: another one must not be written behind it."""
    with playing([says(ANSWER, pause_s=1.0), says(ANSWER)]) as url:
        answered = _asked_with(StampingTransport(IMPATIENT), url, b"{}", LARGE, b"{}")

    assert [(one.problem, one.reused, one.retries) for one in answered] == [
        (None, False, 0),
        ("disconnected", True, 0),
        (None, False, 0),
    ]


@pytest.mark.parametrize(
    ("lines", "status", "kept"),
    [
        ("X-Served-By: caf\u00e9", "200 OK", ("x-served-by", "caf\u00c3\u00a9")),
        ("Location: mailto:x", "307 Temporary Redirect", ("location", "mailto:x")),
        ("Location: http://[x", "307 Temporary Redirect", ("location", "http://[x")),
        ("Location: /v1/\u00e9", "307 Temporary Redirect", ("location", "/v1/\u00c3\u00a9")),
        ("Connection: upgrade\r\nUpgrade: x", "101 Switching Protocols", ("upgrade", "x")),
    ],
)
def test_an_odd_header_is_only_kept(lines: str, status: str, kept: tuple[str, str]) -> None:
    """Bytes that are no ASCII, addresses that are none, another protocol: nothing is made of them."""
    with playing([says(head(lines, "Content-Length: 0", status=status))]) as url:
        exchange = _asked(StampingTransport(), url)

    assert (exchange.framing.status, exchange.problem) == (int(status[:3]), None)
    assert kept in exchange.framing.headers.items()


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        ([b""], "timeout_first_token"),
        ([STREAM_HEAD, *[chunk(b": ping\n\n")] * 20], "timeout_first_token"),
        ([STREAM_HEAD, chunk(said("a")), *[chunk(b": ping\n\n")] * 20], "stalled"),
    ],
)
def test_silence_ends_the_request(pieces: list[bytes], problem: str) -> None:
    """C-12: before the first token and between tokens; comments are no tokens."""
    with playing([says(*pieces, pause_s=0.05 if len(pieces) > 1 else 1.0)]) as url:
        assert _asked(StampingTransport(SHORT), url).problem == problem


def test_an_endless_answer_ends_at_its_limit() -> None:
    """The limit of the whole holds although tokens keep coming."""
    limits = Timeouts(connect_s=2.0, first_token_s=2.0, between_tokens_s=2.0, total_s=0.2)
    with playing([says(STREAM_HEAD, *[chunk(said("a"))] * 20, pause_s=0.03)]) as url:
        assert _asked(StampingTransport(limits), url).problem == "timeout_total"


def test_a_refused_connection_is_named() -> None:
    """Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    exchange = _asked(StampingTransport(), f"http://127.0.0.1:{port}")

    assert (exchange.problem, exchange.framing.status) == ("connect_failed", None)


def test_our_own_limits_are_not_the_endpoints_fault() -> None:
    """L-09: out of descriptors."""
    transport, limits = StampingTransport(), resource.getrlimit(resource.RLIMIT_NOFILE)
    with playing([]) as url:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        try:
            exchange = _asked(transport, url)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert exchange.problem == "client_resource"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (ANSWER[: -len(END)], "disconnected"),
        (head("Content-Length: 10") + b"short", "disconnected"),
        (b"SSH-2.0-x\r\n", "protocol_error"),
        (STREAM_HEAD + b"zz\r\n", "protocol_error"),
        (head("Content-Type: text/event-stream") + said("a") + DONE, None),
        (b"HTTP/1.0 200 OK\r\n\r\n" + said("a") + DONE, None),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER, None),
    ],
)
def test_an_answer_ends_where_http_says(answer: bytes, problem: str | None) -> None:
    """Counted, chunked or closed; short of that it was cut off."""
    with playing([says(answer)]) as url:
        assert _asked(StampingTransport(), url).problem == problem


@pytest.mark.usefixtures("trusted")
def test_under_tls_an_open_connection_is_used_although_tickets_came() -> None:
    """TLS 1.3 sends session tickets after the handshake: the connection opened before the clock is the one that is used."""
    with playing([_says_twice(ANSWER)], tls=True) as url:
        transport = StampingTransport()
        transport.open(httpx.URL(url))
        time.sleep(0.05)
        first, second = _asked_times(2, transport, url)

    assert [(one.problem, one.reused) for one in (first, second)] == [(None, False), (None, True)]


@pytest.mark.usefixtures("trusted")
def test_under_tls_a_close_while_idle_is_seen() -> None:
    """S-12: the server closed; whether that is seen before or after sending, the next request goes over a new connection."""
    with playing([says(ANSWER), says(ANSWER)], tls=True) as url:
        first, second = _asked_times(2, StampingTransport(), url)

    assert [(one.problem, one.reused) for one in (first, second)] == [(None, False), (None, False)]


@pytest.mark.usefixtures("trusted")
def test_under_tls_a_close_without_goodbye_is_still_seen() -> None:
    """A chunked answer that stops is cut off; one that ends by closing is whole."""

    def ragged(answer: bytes) -> Script:
        def script(connection: socket.socket) -> None:
            says(answer)(connection)
            socket.socket(fileno=connection.detach()).close()

        return script

    with playing([ragged(ANSWER[: -len(END)])], tls=True) as url:
        assert _asked(StampingTransport(), url).problem == "disconnected"
    with playing([ragged(head("Content-Type: text/event-stream") + said("a"))], tls=True) as url:
        assert _asked(StampingTransport(), url).problem is None


def test_an_untrusted_certificate_is_a_failed_connection() -> None:
    """Unless the scenario says that it need not be verified."""
    with playing([says(ANSWER), says(ANSWER)], tls=True) as url:
        assert _asked(StampingTransport(), url).problem == "connect_failed"
        assert _asked(StampingTransport(verify=False), url).problem is None


def test_what_is_in_flight_can_be_cut_from_outside() -> None:
    """Whoever waits for bytes wakes up, and the exchange says that it was cut."""
    transport, started = StampingTransport(), threading.Event()

    def script(connection: socket.socket) -> None:
        says(STREAM_HEAD + chunk(said("a")))(connection)
        started.set()
        connection.recv(1)

    with playing([script]) as url, cutting(transport.cut, started):
        exchange = _asked(transport, url)

    assert (exchange.problem, len(exchange.pieces)) == ("cut", 1)


def test_what_is_being_sent_can_be_cut_from_outside() -> None:
    """Whoever waits for the kernel to take more wakes up as well."""
    transport, started, over = StampingTransport(), threading.Event(), threading.Event()

    def script(connection: socket.socket) -> None:
        connection.recv(100)
        started.set()
        assert over.wait(5.0)

    with playing([script]) as url, cutting(transport.cut, started):
        (exchange,) = _asked_with(transport, url, LARGE)
        over.set()

    assert exchange.problem == "cut"


def test_it_serves_ordinary_httpx_calls() -> None:
    """Whole answers, packed ones too, and httpx's own errors."""
    packed = gzip.compress(b"hello " * 100)
    whole = head(f"Content-Length: {len(packed)}", "Content-Encoding: gzip") + packed
    with playing([says(whole)]) as url, httpx.Client(transport=StampingTransport()) as client:
        assert client.post(url, content=b"{}").text == "hello " * 100


def test_a_cut_answer_is_an_error_to_httpx() -> None:
    """Its callers see httpx's own exception, with our word for it."""
    cut_off = head("Content-Length: 9") + b"short"
    with (
        playing([says(cut_off)]) as url,
        httpx.Client(transport=StampingTransport()) as client,
        pytest.raises(httpx.ReadError, match="disconnected"),
    ):
        client.get(url)


def test_a_request_is_written_as_asked() -> None:
    """Method, path with query, headers and a counted body."""
    seen: list[bytes] = []

    def script(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(ANSWER)

    with playing([script]) as url, httpx.Client(transport=StampingTransport(), headers={"X-Key": "k"}) as client:
        client.post(url + "/v1/chat?a=b", content=b'{"x":1}')

    first, *lines = seen[0].partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert first == b"POST /v1/chat?a=b HTTP/1.1"
    assert b"X-Key: k" in lines
    assert b"Content-Length: 7" in lines
    assert seen[0].endswith(b'\r\n\r\n{"x":1}')
