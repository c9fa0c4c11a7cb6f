"""Endpoints that are odd on the wire, asked over sockets: answers without an end, in odd heads, and endless ones."""

import gzip
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from specbench.load.messages import BlockSpec, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.probe.probe import ProbeRequest, probe
from specbench.stream.decoded_body import LARGEST_BODY
from specbench.stream.exchange import Timeouts
from specbench.stream.record import record_of
from tests.support.captures import ASKED, BY_EVENT, DONE, event, final_usage, finish, role, said
from tests.support.raw_server import END, STREAM_HEAD, chunk, head
from tests.support.serving import serving, target_of, whole

PING = b": ping\n\n"
ERROR = event({"error": {"message": "out of memory", "code": 500}})
EVENTS = [*[said(f"w{number} ") for number in range(10)], finish(), final_usage(10), DONE]
Answer = Callable[[socket.socket], None]


@contextmanager
def _endpoint(answer: Answer) -> Iterator[str]:
    def handle(connection: socket.socket, request: bytes) -> None:
        if target_of(request).startswith("POST"):
            answer(connection)
        else:
            connection.sendall(whole(b"", status="404 Not Found"))

    with serving(handle) as url:
        yield url


@pytest.fixture(scope="module")
def child() -> Iterator[LoadGenerator]:
    """One load generator for all of these."""
    with LoadGenerator() as started:
        yield started


def _answered(child: LoadGenerator, answer: Answer, requests: int = 2) -> list[RequestRecord]:
    """The records of these requests, one after another."""
    with _endpoint(answer) as url:
        order = BlockSpec(
            block="b",
            url=url,
            path="/v1/chat/completions",
            headers={},
            concurrency=1,
            min_requests=requests,
            min_s=0.0,
            max_s=120.0,
            ramp_s=0.0,
            stagger_s=0.0,
        )
        works = (RequestJob(index=index, body=b"{}") for index in range(requests))
        return [record_of(one, ASKED, BY_EVENT) for one in child.run_block(order, works) if isinstance(one, Capture)]


def _probed(answer: Answer) -> dict[str, Any]:
    with _endpoint(answer) as url:
        return probe(ProbeRequest(url=url, model="m", engine="openai", concurrency=1, requests=2, max_tokens=16))


def _outcomes(records: list[RequestRecord]) -> list[str]:
    return [record.outcome for record in records]


def _sends(*pieces: bytes, pause_s: float = 0.0) -> Answer:
    def answer(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause_s)

    return answer


def _pings_for_ever(connection: socket.socket) -> None:
    connection.sendall(STREAM_HEAD + b"".join(map(chunk, EVENTS)))
    while True:
        time.sleep(0.05)
        connection.sendall(chunk(PING))


def _falls_silent(*events: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(STREAM_HEAD + b"".join(map(chunk, events)))
        connection.recv(1)  # nothing more, and no end, as long as the client stays

    return answer


def _goes_on(connection: socket.socket) -> None:
    connection.sendall(STREAM_HEAD + b"".join(map(chunk, EVENTS)))
    time.sleep(0.01)
    while True:
        connection.sendall(chunk(said("more ")))
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("answer", "outcome", "flag"),
    [
        (_pings_for_ever, "ok", None),
        (_falls_silent(*EVENTS), "ok", None),
        (_falls_silent(*EVENTS[:-1], b"data: [DONE]"), "ok", None),
        (_falls_silent(*EVENTS, PING), "ok", "data_after_done"),
        (_goes_on, "ok", "data_after_done"),
        (_falls_silent(said("a"), ERROR), "in_band_error", None),
        (_falls_silent(said("a"), b"event: error\n", b'data: {"message": "gone"}\n\n'), "in_band_error", None),
        (_falls_silent(ERROR), "in_band_error", None),
    ],
)
def test_after_its_end_a_request_is_over(child: LoadGenerator, answer: Answer, outcome: str, flag: str | None) -> None:
    """Whatever the connection does then: half of the time that a silent stream is given is more than enough for two."""
    began = time.monotonic()
    records = _answered(child, answer)

    assert _outcomes(records) == [outcome] * 2
    assert flag is None or flag in records[0].flags
    assert time.monotonic() - began < Timeouts().between_tokens_s / 2


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(_pings_for_ever, "ok"), (_falls_silent(*EVENTS), "ok"), (_falls_silent(said("a"), ERROR), "in_band_error")],
)
def test_a_probe_ends_with_the_last_event(answer: Answer, outcome: str) -> None:
    """Pings for ever, silence, an error and silence: two requests, and no time limit of a request is waited for."""
    told = _probed(answer)

    assert told["requests"]["by_outcome"] == {outcome: 2}
    assert told["generator"]["wall_s"] < Timeouts().between_tokens_s


def test_a_connection_that_did_not_end_is_not_used_again(child: LoadGenerator) -> None:
    """One that did is: also where its end comes a moment later than the mark."""
    late = _sends(STREAM_HEAD + b"".join(map(chunk, EVENTS)), END, pause_s=0.005)
    held, ended = _answered(child, _falls_silent(*EVENTS), 3), _answered(child, late, 3)

    assert [record.connect_ns is None for record in held] == [False, False, False]
    assert [record.connect_ns is None for record in ended] == [False, True, True]


def _plain(*lines: str, status: str = "200 OK") -> Answer:
    body = b"".join(EVENTS)
    return _sends(head("Content-Type: text/event-stream", *lines, f"Content-Length: {len(body)}", status=status) + body)


def _packed(coding: str, *pieces: bytes) -> Answer:
    lines = ("Content-Type: text/event-stream", "Transfer-Encoding: chunked", f"Content-Encoding: {coding}")
    return _sends(head(*lines), *map(chunk, pieces), END, pause_s=0.002)


def _flushed(wbits: int) -> list[bytes]:
    packer = zlib.compressobj(wbits=wbits)
    return [packer.compress(one) + packer.flush(zlib.Z_SYNC_FLUSH) for one in EVENTS]


ODD = {"unknown_encoding", "compressed_stream", "other_2xx", "length_ignored", "data_after_done", "unclean_end"}
BOTH = ("Content-Type: text/event-stream", "Transfer-Encoding: chunked", "Content-Length: 7")
CHUNKS = b"".join(map(chunk, EVENTS)) + END


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        (_plain("Content-Encoding: none"), "unknown_encoding"),
        (_plain("Content-Encoding: utf-8"), "unknown_encoding"),
        (_plain("Content-Encoding: gzip"), "unknown_encoding"),
        (_plain("Content-Encoding: identity, aws-chunked"), "unknown_encoding"),
        (_packed("gzip", *map(gzip.compress, EVENTS)), "compressed_stream"),
        (_packed("X-GZip", *_flushed(31)), "compressed_stream"),
        (_packed("identity, gzip", *_flushed(31)), "compressed_stream"),
        (_packed("deflate", *_flushed(15)), "compressed_stream"),
        (_packed("deflate", *_flushed(-15)), "compressed_stream"),
        (_plain(status="201 Created"), "other_2xx"),
        (_plain(status="202 Accepted"), "other_2xx"),
        (_plain(status="206 Partial Content"), "other_2xx"),
        (_sends(head(*BOTH) + CHUNKS), "length_ignored"),
        (_sends(head(*BOTH[:1], *reversed(BOTH[1:])) + CHUNKS), "length_ignored"),
        (_sends(head(*BOTH, "Transfer-Encoding: chunked"), CHUNKS, pause_s=0.002), "length_ignored"),
        (_sends(head(*BOTH[:2], BOTH[1]) + CHUNKS), None),
        (_sends(STREAM_HEAD + b"".join(map(chunk, EVENTS)) + b"0\r\nX-Took: 3\r\n\r\n"), None),
    ],
)
def test_an_odd_head_costs_no_answer(child: LoadGenerator, answer: Answer, flag: str | None) -> None:
    """N-01, N-02, N-13: every token of both answers, with a flag for what is odd."""
    records = _answered(child, answer)

    assert [(record.outcome, record.output_tokens, len(record.event_ns)) for record in records] == [("ok", 10, 10)] * 2
    assert ODD & set(records[0].flags) == ({flag} if flag is not None else set())


@pytest.mark.parametrize("coding", ["br", "zstd", "compress"])
def test_a_coding_that_cannot_be_undone_is_refused_by_name(child: LoadGenerator, coding: str) -> None:
    """Whatever its bytes look like."""
    (record,) = _answered(child, _plain(f"Content-Encoding: {coding}"), 1)

    reason = f"content encoding {coding!r} was not requested and cannot be read"
    assert (record.outcome, record.reason) == ("protocol_error", reason)


def test_a_success_without_a_body_is_none(child: LoadGenerator) -> None:
    """HTTP 204 has no room for an answer."""
    (record,) = _answered(child, _sends(head(status="204 No Content")), 1)

    assert (record.outcome, record.reason) == ("http_error", "HTTP 204: an answer without a body")


def _endless(piece: bytes, *lines: str) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(head("Content-Type: text/event-stream", *lines))
        while True:
            connection.sendall(piece)

    return answer


def _bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(said("a") * 10_000) for _ in range(80)) + packer.flush()


def _members() -> bytes:
    return gzip.compress(b"") * 3_000


TOO_LARGE = f"an answer of more than {LARGEST_BODY} bytes"


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (_sends(whole(_bomb(), "Content-Type: text/event-stream", "Content-Encoding: gzip")), "protocol_error", TOO_LARGE),
        (_endless(said("a") * 500), "protocol_error", TOO_LARGE),
        (_endless(PING * 4_000), "protocol_error", TOO_LARGE),
        (_endless(b"\n" * 60_000), "protocol_error", TOO_LARGE),
        (_endless(b"x" * 60_000), "line_too_long", "without a line end"),
        (_endless(_members(), "Content-Encoding: gzip"), "protocol_error", TOO_LARGE),
        (_endless(zlib.compress(b"x\n" * 500_000, 9), "Content-Encoding: deflate"), "protocol_error", TOO_LARGE),
        (_endless(b'data: {"choices":[{"text":"[DONE] error"}]}' * 1_000), "line_too_long", "without a line end"),
    ],
)
def test_what_never_ends_is_given_up_and_named(child: LoadGenerator, answer: Answer, outcome: str, reason: str) -> None:
    """Gzip, events, comments, blank lines, one line, empty members: bounded in what is kept, as sent and as decoded."""
    began = time.monotonic()
    (record,) = _answered(child, answer, 1)

    assert record.outcome == outcome
    assert reason in (record.reason or "")
    assert time.monotonic() - began < Timeouts().total_s / 10


def test_a_hundred_thousand_chunks_of_one_byte_are_an_answer(child: LoadGenerator) -> None:
    """Each byte of the body in a chunk of its own."""
    stream = role() + said("ab") * 1_200 + b"".join(EVENTS)
    bytewise = b"".join(chunk(stream[place : place + 1]) for place in range(len(stream)))
    (record,) = _answered(child, _sends(STREAM_HEAD + bytewise + END), 1)

    assert len(stream) > 100_000
    assert (record.outcome, record.text_chars, record.output_tokens) == ("ok", 1_200 * 2 + 30, 10)
