"""The load generator as a whole: one child for many blocks, driven through its pipes."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count, pairwise
from pathlib import Path

import pytest

from specbench.errors import InternalError
from specbench.load.messages import (
    LENGTH_BYTES,
    Abort,
    BlockClosed,
    BlockSpec,
    BlockSummary,
    RequestJob,
    decode_to_parent,
    framed,
)
from specbench.load.parent import AHEAD, LoadGenerator
from specbench.model.captures import Capture
from specbench.stream.exchange import Timeouts
from specbench.units import ns_of_ms, ns_of_s, seconds
from tests.support.captures import DONE, said
from tests.support.chatting import ChatEndpoint, Messages, chatting, in_words
from tests.support.raw_server import CERTIFICATE, END, KEY, STREAM_HEAD, chunk, head, playing, read_request
from tests.support.truthful import truth_endpoint


def _order(url: str, **changes: object) -> BlockSpec:
    values: dict[str, object] = {
        "block": "b",
        "url": url,
        "path": "/v1/chat/completions",
        "headers": {},
        "concurrency": 2,
        "min_requests": 4,
        "min_s": 0.3,
        "max_s": 5.0,
        "ramp_s": 0.5,
        "drain_s": 2.0,
        "stagger_s": 0.1,
    }
    return BlockSpec(**(values | changes))  # type: ignore[arg-type]


def _works(tokens: int = 5, every_ms: float | None = None) -> Iterator[RequestJob]:
    body = json.dumps({"max_tokens": tokens}).encode()
    for index in count():
        yield RequestJob(index=index, body=body, arrival_ns=None if every_ms is None else ns_of_ms(every_ms * index))


def _only(works: Iterator[RequestJob], number: int) -> Iterator[RequestJob]:
    return (work for work, _ in zip(works, range(number), strict=False))


def _driven(child: LoadGenerator, order: BlockSpec, works: Iterator[RequestJob]) -> tuple[list[Capture], BlockSummary]:
    *captures, end = child.run_block(order, works)
    assert isinstance(end, BlockSummary)
    return [capture for capture in captures if isinstance(capture, Capture)], end


@pytest.fixture(scope="module")
def child() -> Iterator[LoadGenerator]:
    """One child for all tests of this module, as for all blocks of a run."""
    with LoadGenerator() as started:
        yield started


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An endpoint that answers in 20 ms and sends a token every 5 ms."""
    with truth_endpoint("--ttft-ms", "20", "--interval-us", "5000") as answering:
        yield answering


def test_a_closed_loop_keeps_its_streams_busy(child: LoadGenerator, url: str) -> None:
    """Every stream goes on without a pause; the window holds what was asked for."""
    captures, end = _driven(child, _order(url), _works())
    assert end.window_open_ns is not None
    assert end.window_close_ns is not None
    inside = [capture for capture in captures if end.window_open_ns <= capture.sent_ns <= end.window_close_ns]

    assert (end.end_reason, end.short, end.aborted) == ("complete", False, False)
    assert seconds(end.window_close_ns - end.window_open_ns) >= 0.3
    assert sum(capture.end_ns <= end.window_close_ns and capture.problem is None for capture in captures) >= 4
    assert {capture.problem for capture in inside} == {None}
    assert {capture.stream for capture in captures} == {0, 1}
    assert len({capture.index for capture in captures}) == len(captures)


def test_a_session_is_one_streams_turn_by_turn_with_its_users_pauses(child: LoadGenerator, url: str) -> None:
    """Three turns with 50 ms between them, in two streams; who thinks is no late client, and holds its stream."""
    body, think_ns, taken = json.dumps({"max_tokens": 5}).encode(), ns_of_ms(50), 0

    def sessions() -> Iterator[RequestJob]:
        nonlocal taken
        for first in count(0, 3):
            taken += 1
            then = tuple(RequestJob(index=first + turn, body=body, think_ns=think_ns * (turn < 2)) for turn in (1, 2))
            yield RequestJob(index=first, body=body, think_ns=think_ns, then=then)

    captures, end = _driven(child, _order(url), sessions())
    turns: dict[int, list[Capture]] = {}
    for capture in sorted(captures, key=lambda one: one.index):
        turns.setdefault(capture.index // 3, []).append(capture)

    assert max(map(len, turns.values())) == 3
    for session in turns.values():
        assert len({capture.stream for capture in session}) == 1
        assert all(later.sent_ns - earlier.end_ns >= think_ns for earlier, later in pairwise(session))
    assert taken <= 2 * 2 + AHEAD + len(turns)  # no more is held than for requests that stand alone
    assert end.health.achieved_concurrency == pytest.approx(1.0, abs=0.2)
    assert end.health.send_delay_ms_p95 is not None
    assert end.health.send_delay_ms_p95 < 50


def test_streams_follow_each_other_without_overlap(child: LoadGenerator, url: str) -> None:
    """A stream has one request in flight; its connection is opened once, before its first."""
    captures, _ = _driven(child, _order(url), _only(_works(), 8))

    for stream in (0, 1):
        own = sorted((one for one in captures if one.stream == stream), key=lambda one: one.sent_ns)
        assert all(later.sent_ns >= earlier.end_ns for earlier, later in pairwise(own))
        assert [one.reused for one in own] == [False] + [True] * (len(own) - 1)
        assert [one.connect_ns is None for one in own] == [one.reused for one in own]


def test_a_block_ends_with_its_work(child: LoadGenerator, url: str) -> None:
    """Seven requests, seven captures, each whole."""
    captures, end = _driven(child, _order(url, min_requests=100), _only(_works(), 7))

    assert (end.end_reason, sorted(capture.index for capture in captures)) == ("work_done", list(range(7)))
    assert {(capture.status, capture.problem) for capture in captures} == {(200, None)}


def test_the_child_says_how_it_was(child: LoadGenerator, url: str) -> None:
    """Health is in every block's end."""
    _, end = _driven(child, _order(url), _works())

    assert end.health.chunks > 0
    assert end.health.read_lag_ms_p99 is not None
    assert end.health.send_delay_ms_p95 is not None
    assert end.health.cpu_share is not None
    assert end.health.loop_lag_ms_p99 is not None
    assert 0 <= (end.health.machine_cpu_share or 0.0) <= 1
    assert 0 < (end.health.achieved_concurrency or 0) <= 1


def test_leaving_early_cuts_the_block(child: LoadGenerator, url: str) -> None:
    """The child then drives the next one as if nothing had been."""
    messages = child.run_block(_order(url), _works())
    assert isinstance(next(messages), Capture)
    messages.close()
    captures, end = _driven(child, _order(url, block="next"), _only(_works(), 3))

    assert (end.block, end.end_reason, {capture.block for capture in captures}) == ("next", "work_done", {"next"})


def test_an_interruption_ends_the_child() -> None:
    """Ctrl-C can come in the middle of a message: the child is not spoken to again, and nothing hangs."""

    def interrupted() -> Iterator[RequestJob]:
        yield RequestJob(index=0, body=b"{}")
        raise KeyboardInterrupt

    with LoadGenerator() as started, pytest.raises(KeyboardInterrupt):
        _driven(started, _order("http://127.0.0.1:1"), interrupted())


def test_what_was_sent_in_the_window_and_is_open_at_the_end_is_unanswered(child: LoadGenerator, url: str) -> None:
    """L-06: requests too long for the drain are failures, and keep what they got."""
    order = _order(url, min_requests=1000, min_s=0.1, max_s=0.4, ramp_s=0.0, drain_s=0.2)
    captures, end = _driven(child, order, _works(tokens=4000))

    assert (end.end_reason, end.short) == ("max_time", True)
    assert [capture.problem for capture in captures] == ["unanswered", "unanswered"]
    assert all(capture.frames for capture in captures)
    assert end.health.stuck_share == pytest.approx(0.0, abs=0.1)


def test_what_was_sent_before_the_window_is_cut_at_the_end(child: LoadGenerator, url: str) -> None:
    """It is neither good nor failed, as its latency is none of the window's."""
    order = _order(url, min_requests=0, min_s=0.2, max_s=0.2, ramp_s=0.3, stagger_s=0.0)
    captures, _ = _driven(child, order, _works(tokens=4000))

    assert [capture.problem for capture in captures] == ["cut", "cut"]


def test_a_request_that_is_never_answered_is_given_up_in_the_drain_by_its_own_limit(child: LoadGenerator) -> None:
    """Every second one: each keeps its stream until its limit, and is told as stuck."""
    limits = Timeouts(first_token_s=0.4, between_tokens_s=0.4, total_s=2.0)
    with truth_endpoint("--ttft-ms", "20", "--interval-us", "5000", "--never-answers", "0.5") as hanging:
        order = _order(hanging, min_requests=0, min_s=0.2, max_s=0.2, ramp_s=0.0, stagger_s=0.0, timeouts=limits)
        captures, end = _driven(child, order, _works())

    assert end.window_close_ns is not None
    inside = [capture for capture in captures if capture.sent_ns < end.window_close_ns]
    assert Counter(capture.problem for capture in inside)["timeout_first_token"] == 2
    assert {capture.problem for capture in inside} == {None, "timeout_first_token"}
    assert (end.health.stuck_share or 0.0) > 0.5


def test_a_shorter_drain_leaves_unanswered_what_is_still_open(child: LoadGenerator) -> None:
    """It waits four times the slowest answer of the block, not for the limits of the request."""
    with truth_endpoint("--ttft-ms", "20", "--interval-us", "5000", "--never-answers", "0.5") as hanging:
        order = _order(
            hanging, min_requests=0, min_s=0.2, max_s=0.2, ramp_s=0.0, stagger_s=0.0, drain_s=60.0, shorter_drain_s=0.3
        )
        captures, end = _driven(child, order, _works())

    assert end.window_close_ns is not None
    inside = [capture for capture in captures if capture.sent_ns < end.window_close_ns]
    assert Counter(capture.problem for capture in inside)["unanswered"] == 2


def test_a_dead_endpoint_does_not_flood(child: LoadGenerator) -> None:
    """Streams wait after failures, longer each time; the block ends early, and its records are few."""
    captures, end = _driven(child, _order("http://127.0.0.1:1", max_s=60.0), _works())

    assert end.end_reason == "endpoint_dead"
    assert {capture.problem for capture in captures} == {"connect_failed"}
    assert 20 <= len(captures) <= 40


def test_pauses_after_refusals_are_held_against_nobody(child: LoadGenerator) -> None:
    """The endpoint refuses at once, and the stream waits after each refusal: that is neither lateness nor a stream missing."""

    def refusing(connection: socket.socket) -> None:
        for _ in range(6):
            read_request(connection)
            connection.sendall(head("Content-Length: 0", status="503 Busy"))

    with playing([refusing]) as address:
        captures, end = _driven(child, _order(address, concurrency=1, ramp_s=0.0), _only(_works(), 6))

    assert [(capture.status, capture.problem) for capture in captures] == [(503, None)] * 6
    assert end.health.send_delay_ms_p95 is None
    assert (end.health.achieved_concurrency or 0) > 0.5


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("X-Served-By: caf\u00e9", "200 OK"),
        ("Location: mailto:x", "307 Temporary Redirect"),
        ("Connection: upgrade\r\nUpgrade: x", "101 Switching Protocols"),
    ],
)
def test_an_odd_header_ends_no_block(child: LoadGenerator, line: str, status: str) -> None:
    """It is one answer like others."""

    def script(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(head(line, "Content-Length: 0", status=status))

    with playing([script] * 2) as address:
        captures, end = _driven(child, _order(address, concurrency=1), _only(_works(), 2))

    assert [(capture.status, capture.problem) for capture in captures] == [(int(status[:3]), None)] * 2
    assert end.end_reason == "work_done"


def test_whatever_goes_wrong_with_a_request_is_its_record(child: LoadGenerator) -> None:
    """A host name that cannot be written for a resolver is no error of the system's: the request has failed, nothing else."""
    captures, end = _driven(child, _order(f"http://{'a' * 64}.test", concurrency=1), _only(_works(), 2))

    assert [(capture.problem, (capture.problem_text or "")[:13]) for capture in captures] == [
        ("protocol_error", "UnicodeError:")
    ] * 2
    assert end.end_reason == "work_done"


def test_a_block_begins_when_its_connections_are_open(child: LoadGenerator) -> None:
    """A handshake that takes longer than ramp and window together: both are still to come then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)

    def slow(connection: socket.socket) -> None:
        time.sleep(0.6)
        with context.wrap_socket(connection, server_side=True) as talking:
            read_request(talking)
            talking.sendall(STREAM_HEAD + chunk(said("a")) + chunk(DONE) + END)

    with playing([slow]) as address:
        order = _order(address.replace("http:", "https:"), concurrency=1, ramp_s=0.05, max_s=0.4, verify=False)
        captures, end = _driven(child, order, _only(_works(), 1))

    assert ([capture.problem for capture in captures], end.end_reason) == ([None], "work_done")


def test_a_block_that_is_aborted_before_it_begins_says_so() -> None:
    """It has no window, and is short."""
    with subprocess.Popen(
        [sys.executable, "-m", "specbench.load.child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(framed(_order("http://127.0.0.1:1")) + framed(Abort()))
        process.stdin.flush()
        closed = decode_to_parent(process.stdout.read(int.from_bytes(process.stdout.read(LENGTH_BYTES), "big")))

    assert isinstance(closed, BlockClosed)
    assert (closed.window_open_ns, closed.end_reason, closed.short, closed.aborted) == (None, "aborted", True, True)


def test_an_open_loop_sends_on_schedule(child: LoadGenerator, url: str) -> None:
    """A request starts at its moment whatever the others do: answers of 65 ms every 20 ms overlap."""
    works = _only(_works(tokens=10, every_ms=20), 20)
    captures, end = _driven(child, _order(url, concurrency=None, ramp_s=0.0, min_requests=1000, in_flight_limit=16), works)
    captures.sort(key=lambda capture: capture.index)
    starts = [(capture.scheduled_ns or 0) - (captures[0].scheduled_ns or 0) for capture in captures]

    assert starts == [ns_of_ms(20.0 * index) for index in range(20)]
    assert all(capture.sent_ns >= (capture.scheduled_ns or 0) for capture in captures)
    assert len({capture.stream for capture in captures}) > 1
    assert (end.end_reason, end.in_flight_limit_reached, end.health.achieved_concurrency) == ("work_done", False, None)


def test_an_open_loop_names_the_limit_that_it_hit(child: LoadGenerator, url: str) -> None:
    """Two streams cannot carry what is asked; requests go out late, and their schedule is kept."""
    works = _only(_works(tokens=20, every_ms=10), 12)
    captures, end = _driven(child, _order(url, concurrency=None, ramp_s=0.0, min_requests=1000, in_flight_limit=2), works)

    assert end.in_flight_limit_reached
    assert max(capture.sent_ns - (capture.scheduled_ns or 0) for capture in captures) > ns_of_ms(50)
    assert Counter(capture.problem for capture in captures) == {None: 12}


def test_requests_carry_the_headers_of_their_order_and_no_key_of_their_own(child: LoadGenerator) -> None:
    """S-15, S-09: no Authorization unless it is given; streams are asked for unpacked."""
    seen: list[bytes] = []

    def script(connection: socket.socket) -> None:
        seen.append(read_request(connection).lower())
        connection.sendall(STREAM_HEAD + chunk(said("a")) + chunk(DONE) + END)

    with playing([script, script]) as address:
        for headers in ({}, {"Authorization": "Bearer k"}):
            _driven(child, _order(address, concurrency=1, headers=headers), _only(_works(), 1))

    assert b"authorization" not in seen[0]
    assert b"authorization: bearer k" in seen[1]
    assert b"accept-encoding: identity" in seen[0]


def test_a_child_that_dies_is_our_fault_and_says_what_it_said() -> None:
    """One line with the exit code."""
    with LoadGenerator() as doomed:
        os.kill(doomed.pid, signal.SIGKILL)
        with pytest.raises(InternalError, match=r"exit code -9"):
            _driven(doomed, _order("http://127.0.0.1:1"), _works())


PARENT = """
import sys, time
from specbench.load.parent import LoadGenerator
child = LoadGenerator()
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_child_does_not_outlive_its_parent() -> None:
    """Even one that was killed."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic_ns() + ns_of_s(60.0)
    while Path(f"/proc/{pid}").exists() and time.monotonic_ns() < deadline:
        time.sleep(0.05)

    assert not Path(f"/proc/{pid}").exists()


def test_the_parents_side_loads_neither_locust_nor_gevent() -> None:
    """L-01: importing it patches nothing."""
    code = "import sys, specbench.load.parent; print(sorted({'locust', 'gevent', 'httpx'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def _own_sessions(number: int, think_ms: float = 0.0) -> Iterator[RequestJob]:
    """Sessions of three turns whose later ones hold the answers to the earlier ones."""
    ask, think_ns = '{"messages":[{"role":"user","content":"%s"}', ns_of_ms(think_ms)
    answered, asked = b',{"role":"assistant","content":', b'},{"role":"user","content":"more"}'
    for first in range(0, 3 * number, 3):
        opening = (ask % first).encode()
        then = (
            RequestJob(index=first + 1, body=opening + answered, behind=(asked + b"]}",), think_ns=think_ns),
            RequestJob(index=first + 2, body=opening + answered, behind=(asked + answered, asked + b"]}")),
        )
        yield RequestJob(index=first, body=opening + b"]}", think_ns=think_ns, then=then)


def test_a_session_of_own_answers_ends_where_one_is_missing_and_the_stream_goes_on(child: LoadGenerator) -> None:
    """The turns behind it are never sent, and none of them is waited for; every other turn holds what was said to it."""

    def spoken(messages: Messages, number: int) -> list[bytes] | None:
        session, turn = int(messages[0]["content"]), len(messages) // 2
        if (session, turn) in ((3, 1), (9, 0)):
            return in_words("") if session == 3 else None
        return in_words(f'answer "{number}"\né')

    with chatting(ChatEndpoint(spoken)) as chat:
        captures, end = _driven(child, _order(chat.url, concurrency=1, min_requests=1000), _own_sessions(40, think_ms=1))

    sent = sorted(capture.index for capture in captures)
    assert (end.end_reason, sent) == ("work_done", [at for at in range(120) if at not in (5, 10, 11)])
    assert len(chat.asked) == len(sent)
    for messages in chat.asked:
        for place, message in enumerate(messages):
            if message["role"] == "assistant":
                number = chat.asked.index(messages[:place])
                assert message["content"] == f'answer "{number}"\né'
