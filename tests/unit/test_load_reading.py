"""An answer read on the event loop is the one that was sent, and ends as the blocking way of reading would end it."""

import socket
import threading
import time

import httpx
import pytest

from specbench.load.reading import Reading
from specbench.stream.exchange import Exchange
from specbench.stream.transport import EXCHANGE, StampingTransport, Timeouts
from tests.support.captures import DONE, said
from tests.support.raw_server import END, STREAM_HEAD, Script, chunk, playing, read_request

SHORT = Timeouts(connect_s=2.0, first_token_s=0.15, between_tokens_s=0.15, total_s=5.0)


def _says(*pieces: bytes, pause_s: float = 0.0) -> Script:
    def script(connection: socket.socket) -> None:
        read_request(connection)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause_s)

    return script


def _read(url: str, transport: StampingTransport) -> Exchange:
    exchange = Exchange(transport.timeouts)
    with httpx.Client(transport=transport) as client:
        response = client.send(client.build_request("POST", url, content=b"{}", extensions={EXCHANGE: exchange}), stream=True)
        Reading(transport, exchange).to_end()
        response.close()
    return exchange


def test_every_read_is_a_stamped_frame() -> None:
    """The bytes in order, with the kernel's times."""
    words = [chunk(said(word)) for word in "abc"]
    with playing([_says(STREAM_HEAD, *words, chunk(DONE) + END, pause_s=0.01)]) as url:
        exchange = _read(url, StampingTransport())

    assert b"".join(exchange.pieces) == said("a") + said("b") + said("c") + DONE
    assert (exchange.problem, exchange.stamp_source, exchange.framing.complete) == (None, "kernel", True)
    assert list(exchange.stamps) == sorted(exchange.stamps)


def test_an_answer_that_came_with_its_head_needs_no_reading() -> None:
    """All of it in one piece."""
    with playing([_says(STREAM_HEAD + chunk(DONE) + END)]) as url:
        assert _read(url, StampingTransport()).problem is None


def test_silence_is_noticed_although_comments_come() -> None:
    """The alarm rings for the deadline that holds then, not for the first one."""
    pieces = [STREAM_HEAD, *[chunk(said("a"))] * 6, *[chunk(b": ping\n\n")] * 12]
    with playing([_says(*pieces, pause_s=0.04)]) as url:
        exchange = _read(url, StampingTransport(SHORT))

    assert (exchange.problem, b"".join(exchange.pieces).count(b"data:")) == ("stalled", 6)


def test_a_connection_that_breaks_is_seen() -> None:
    """Its end is readable too."""
    with playing([_says(STREAM_HEAD + chunk(said("a")))]) as url:
        assert _read(url, StampingTransport()).problem == "disconnected"


def test_a_cut_wakes_the_reader() -> None:
    """From another thread, as from another greenlet."""
    transport, started = StampingTransport(), threading.Event()

    def script(connection: socket.socket) -> None:
        _says(STREAM_HEAD + chunk(said("a")))(connection)
        started.set()
        connection.recv(1)

    def cut() -> None:
        assert started.wait(5.0)
        transport.cut()

    with playing([script]) as url:
        thread = threading.Thread(target=cut)
        thread.start()
        exchange = _read(url, transport)
        thread.join()

    assert exchange.problem == "cut"


class Fault(StampingTransport):
    """A transport with a fault of its own."""

    def read_ready(self, exchange: Exchange) -> None:
        """Nothing that an endpoint could do."""
        raise AssertionError("a fault of ours")


def test_a_fault_of_ours_is_raised_where_it_is_heard() -> None:
    """Not printed by the event loop while the reader waits for ever."""
    with (
        playing([_says(STREAM_HEAD, chunk(DONE) + END, pause_s=0.1)]) as url,
        pytest.raises(AssertionError, match="a fault of ours"),
    ):
        _read(url, Fault())
