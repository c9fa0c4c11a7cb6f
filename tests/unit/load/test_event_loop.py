"""An answer read on the event loop is the one that was sent, and ends as the blocking way of reading would end it."""

import socket
import threading

import gevent
import httpx
import pytest

from specbench.load.event_loop import GATHER_S, WITNESSES, PollTimes, StreamReader, coalesced_reads
from specbench.model.captures import UNKNOWN
from specbench.stream.connection import now_ns
from specbench.stream.exchange import Exchange
from specbench.stream.transport import EXCHANGE, StampingTransport, Timeouts
from specbench.units import ms, ns_of_ms, ns_of_s
from tests.support.captures import DONE, said
from tests.support.raw_server import END, STREAM_HEAD, chunk, cutting, playing, says

SHORT = Timeouts(connect_s=2.0, first_token_s=0.5, between_tokens_s=0.5, total_s=10.0)


def _read(url: str, transport: StampingTransport) -> Exchange:
    looks = PollTimes()
    exchange = Exchange(transport.timeouts)
    with httpx.Client(transport=transport) as client:
        response = client.send(client.build_request("POST", url, content=b"{}", extensions={EXCHANGE: exchange}), stream=True)
        with looks.noted():
            StreamReader(transport, exchange, looks).to_end()
        response.close()
    return exchange


def test_every_read_is_a_stamped_frame() -> None:
    """The bytes in order, with the kernel's times."""
    words = [chunk(said(word)) for word in "abc"]
    with playing([says(STREAM_HEAD, *words, chunk(DONE) + END, pause_s=0.01)]) as url:
        exchange = _read(url, StampingTransport())

    assert b"".join(exchange.pieces) == said("a") + said("b") + said("c") + DONE
    assert (exchange.problem, exchange.stamp_source, exchange.framing.complete) == (None, "kernel", True)
    assert list(exchange.stamps) == sorted(exchange.stamps)


def test_a_stall_is_found_long_before_a_first_token_would_have_been_too_late() -> None:
    """C-12: two tokens, then comments for ever: an idle limit of 0.5 s ends it, whatever the patience for the first token."""
    patient = Timeouts(connect_s=2.0, first_token_s=600.0, between_tokens_s=0.5, total_s=600.0)
    pings = [chunk(b": ping\n\n")] * 40
    with playing([says(STREAM_HEAD, chunk(said("a")), chunk(said("b")), *pings, pause_s=0.05)]) as url:
        exchange = _read(url, StampingTransport(patient))

    assert (exchange.problem, b"".join(exchange.pieces).count(b"data:")) == ("stalled", 2)
    assert b"".join(exchange.pieces).count(b"ping") < 40


def test_an_answer_that_came_with_its_head_needs_no_reading() -> None:
    """All of it in one piece."""
    with playing([says(STREAM_HEAD + chunk(DONE) + END)]) as url:
        assert _read(url, StampingTransport()).problem is None


def test_silence_is_noticed_although_comments_come() -> None:
    """The alarm rings for the deadline that holds then, not for the first one."""
    pieces = [STREAM_HEAD, *[chunk(said("a"))] * 6, *[chunk(b": ping\n\n")] * 30]
    with playing([says(*pieces, pause_s=0.04)]) as url:
        exchange = _read(url, StampingTransport(SHORT))

    assert (exchange.problem, b"".join(exchange.pieces).count(b"data:")) == ("stalled", 6)


def test_a_connection_that_breaks_is_seen() -> None:
    """Its end is readable too."""
    with playing([says(STREAM_HEAD + chunk(said("a")))]) as url:
        assert _read(url, StampingTransport()).problem == "disconnected"


def test_a_cut_wakes_the_reader() -> None:
    """From another thread, as from another greenlet."""
    transport, started = StampingTransport(), threading.Event()

    def script(connection: socket.socket) -> None:
        says(STREAM_HEAD + chunk(said("a")))(connection)
        started.set()
        connection.recv(1)

    with playing([script]) as url, cutting(transport.cut, started):
        exchange = _read(url, transport)

    assert exchange.problem == "cut"


class Fault(StampingTransport):
    """A transport with a fault of its own."""

    def read_ready(self, exchange: Exchange) -> bool:
        """Nothing that an endpoint could do."""
        raise AssertionError("a fault of ours")


def test_a_fault_of_ours_is_raised_where_it_is_heard() -> None:
    """Not printed by the event loop while the reader waits for ever."""
    with (
        playing([says(STREAM_HEAD, chunk(DONE) + END, pause_s=0.1)]) as url,
        pytest.raises(AssertionError, match="a fault of ours"),
    ):
        _read(url, Fault())


START = ns_of_s(50.0)


def _read_after(looks: PollTimes, look_ms: float, *stamps_ms: float, events: str = "ab") -> list[Exchange]:
    """One look, the frames that were read in consequence, with stamps of these moments, and the look after it."""
    looks.look(START + ns_of_ms(look_ms))
    exchanges = []
    for stamp_ms in stamps_ms:
        exchange = Exchange(Timeouts())
        exchange.begin(0, 0)
        at_ns = START + ns_of_ms(stamp_ms)
        exchange.take(STREAM_HEAD + chunk(b"".join(map(said, events))), at_ns, at_ns)
        looks.note(exchange)
        exchanges.append(exchange)
    looks.look(START + ns_of_ms(look_ms + 20))
    return exchanges


def _firsts_ms(exchanges: list[Exchange]) -> list[float | None]:
    return [None if exchange.firsts[0] == UNKNOWN else ms(exchange.firsts[0] - START) for exchange in exchanges]


def _looks(last_ms: float) -> PollTimes:
    looks = PollTimes()
    looks.look(START + ns_of_ms(last_ms))
    return looks


def test_what_came_between_two_close_looks_is_timed_by_them() -> None:
    """However long it takes until it is read, and whatever comes on top."""
    assert _firsts_ms(_read_after(_looks(99.2), 100, 104)) == [100.0]


def test_a_frame_of_one_event_has_its_stamp() -> None:
    """That is exact; nothing better can be said."""
    assert _firsts_ms(_read_after(_looks(99.2), 100, 99.9, events="a")) == [None]


def test_what_came_in_a_long_pause_is_not_timed() -> None:
    """A loop that was late, or asleep, does not know when it came."""
    assert _firsts_ms(_read_after(_looks(95), 100, 99.9)) == [None]


@pytest.mark.parametrize(
    ("stamps_ms", "first_ms"),
    [
        ((99.9, 99.8, 100.2, 99.7), 100.0),  # the first of all woke the loop: nothing had waited
        ((99.9, 99.8, 100.2, 97.0), None),  # one had waited for three milliseconds: so may others
        ((99.9, 99.8, 99.7), None),  # too few to vouch
    ],
)
def test_reads_of_one_look_vouch_for_each_other(stamps_ms: tuple[float, ...], first_ms: float | None) -> None:
    """After a long pause, what came first tells whether the loop was asleep or late."""
    assert len(stamps_ms) >= WITNESSES or first_ms is None
    assert set(_firsts_ms(_read_after(_looks(90), 100, *stamps_ms))) == {first_ms}


def test_bytes_gather_before_a_look_while_that_is_allowed() -> None:
    """It is asked before every look, and each yes is a pause."""
    allowed = [True, True, False]
    began_ns = now_ns()
    with coalesced_reads(lambda: allowed.pop(0) if allowed else False):
        while allowed:
            gevent.sleep(0.0001)

    assert now_ns() - began_ns >= 2 * ns_of_s(GATHER_S)
