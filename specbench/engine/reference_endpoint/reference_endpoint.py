"""A loopback endpoint that knows what it sent and when: the yardstick for the client. Decides nothing about the client.

One thread. Every stream follows a fixed schedule (first chunk after `ttft_ms`, then one each `interval_us`, so many tokens in
each), and the monotonic time of every write is kept. A request counts from its arrival as the kernel stamped it, so that a
busy machine, which lets this process read late, does not shorten what it calls true. It speaks both OpenAI routes, and tells on
`/truth` what it did. A request whose model is the name of a script that it was given is answered by that.

    python -m specbench.engine.yardstick --interval-us 10000 --tokens-per-chunk 4 [--tls CERTIFICATE KEY] [--while-input-lasts]
"""

import argparse
import contextlib
import heapq
import json
import resource
import select
import selectors
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from specbench.engine.reference_endpoint.send_log import SendLog

NS_PER_MS = 1_000_000
POLL_NS = 1_200_000  # selectors wait in whole milliseconds: the last stretch before a write is waited for otherwise
WINDOW = "/truth/window/"
READ_SIZE = 1 << 18
SO_TIMESTAMPNS = 35  # asm-generic/socket.h: `recvmsg` then tells when data arrived; `socket` has no name for it
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
WORDS = (
    *(" the", " model", " keeps", " each", " token", " it", " would"),
    *(" have", " drawn", " anyway", ",", " or", " draws", " anew"),
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When chunks are due, how many tokens each holds, and what share of requests is never answered."""

    ttft_ms: float = 50.0
    interval_us: float = 10_000.0
    tokens_per_chunk: int = 1
    never_answers: float = 0.0

    def answers(self, number: int) -> bool:
        """Whether the request of this number, from 1, is answered: the share that is not lies evenly among the others."""
        return int(number * self.never_answers) == int((number - 1) * self.never_answers)


@dataclass(frozen=True, slots=True)
class Request:
    """What a script is told: when the request arrived (monotonic clock), its head, and how many its connection had carried."""

    arrived_ns: int
    head: bytes
    earlier: int


Performance = Generator[tuple[int, bytes] | None, int, None]
"""What is to be written, and from when on; it is sent the moment of that write. None closes the connection."""

Scripts = Mapping[str, Callable[[Request], Performance]]


@dataclass(slots=True, eq=False)
class Connection:
    """One client connection and the answer under way on it."""

    sock: socket.socket
    received: bytes = b""
    left: int = 0
    given: int = 0
    chunks: int = 0
    chat: bool = True
    asked_ns: int = 0
    last_ns: int = 0
    answers: int = 0
    script: Performance | None = None
    next_write: bytes = b""


class ReferenceEndpoint:
    """The endpoint's one loop."""

    def __init__(
        self,
        listener: socket.socket,
        schedule: Schedule,
        tls: ssl.SSLContext | None = None,
        leash: int | None = None,
        scripts: Scripts = MappingProxyType({}),
    ) -> None:
        self._listener = listener
        self._schedule = schedule
        self._tls = tls
        self._sent = SendLog()
        self._scripts = scripts
        self._due: list[tuple[int, int, Connection]] = []
        self._turn = 0
        self._busy: set[Connection] = set()
        self._open: dict[int, Connection] = {}
        self._poll = selectors.DefaultSelector()
        self._poll.register(listener, selectors.EVENT_READ)
        self._leash = leash
        if leash is not None:
            self._poll.register(leash, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until the leash, an open descriptor on which nothing is ever said, is let go; without one until killed."""
        while True:
            for key, _ in self._poll.select(self._patience_s()):
                if key.fd == self._leash:
                    return
                if key.fd == self._listener.fileno():
                    self._accept()
                else:
                    self._receive(self._open[key.fd])
            self._write_what_is_due()

    def _patience_s(self) -> float | None:
        """How long to wait for requests, None without end; a due chunk that is near is waited for here, to the microsecond."""
        if not self._due:
            return None
        left_ns = self._due[0][0] - time.monotonic_ns()
        if left_ns > POLL_NS:
            return (left_ns - POLL_NS) / 1e9
        if left_ns > 0:
            select.select([self._poll.fileno()], [], [], left_ns / 1e9)  # a request is answered at once all the same
        return 0

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ask_for_stamps(sock)
        if self._tls is not None:
            sock = self._tls.wrap_socket(sock, server_side=True)
        self._open[sock.fileno()] = Connection(sock)
        self._poll.register(sock, selectors.EVENT_READ)

    def _receive(self, connection: Connection) -> None:
        data, arrived_ns = received(connection.sock)
        if not data:
            self._close(connection)
            return
        connection.received += data
        head, blank, body = connection.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
        if blank and len(body) >= length:
            connection.received = body[length:]
            connection.asked_ns = arrived_ns
            self._answer(connection, head, body[:length])

    def _answer(self, connection: Connection, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1].decode()
        if path.endswith("completions"):
            asked = json.loads(body)
            script = self._scripts.get(str(asked.get("model")))
            connection.script = None
            if script is not None:
                connection.script = script(Request(connection.asked_ns, head, connection.answers))
                connection.answers += 1
                self._await_script(connection, next(connection.script))
                return
            self._sent.asked += 1
            if not self._schedule.answers(self._sent.asked):
                self._sent.never_answered += 1
                return
            connection.left = max(1, int(asked.get("max_tokens", 128)))
            connection.chat = "chat" in path
            connection.given = connection.chunks = 0
            self._sent.first_ns = self._sent.first_ns or connection.asked_ns
            self._busy.add(connection)
            self._sent.most_in_flight = max(self._sent.most_in_flight, len(self._busy))
            self._send(connection, STREAM_HEAD)
            self._schedule_next(connection, connection.asked_ns + round(self._schedule.ttft_ms * NS_PER_MS))
        elif path == "/truth":
            self._reply(connection, "application/json", json.dumps(self._sent.truth()))
        elif path.startswith(WINDOW):
            opened_ns, closed_ns = map(int, path.removeprefix(WINDOW).split("/"))
            self._reply(connection, "application/json", json.dumps(self._sent.inside(opened_ns, closed_ns)))
        elif path == "/metrics":
            self._reply(connection, "text/plain; version=0.0.4", self._sent.metrics())
        else:
            models = {"object": "list", "data": [{"id": "truth", "object": "model", "owned_by": "truth"}]}
            self._reply(connection, "application/json", json.dumps(models))

    def _reply(self, connection: Connection, kind: str, text: str) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n"
        self._send(connection, (head + text).encode())

    def _schedule_next(self, connection: Connection, due_ns: int) -> None:
        self._turn += 1
        heapq.heappush(self._due, (due_ns, self._turn, connection))

    def _write_what_is_due(self) -> None:
        now_ns = time.monotonic_ns()
        while self._due and self._due[0][0] <= now_ns:
            due_ns, _, connection = heapq.heappop(self._due)
            if connection.left:
                self._write_chunk(connection, due_ns)
            elif connection.script is not None:
                self._write_scripted(connection, connection.script)

    def _send(self, connection: Connection, data: bytes) -> bool:
        """Whether the bytes went out; a client that has gone is forgotten when its end is read."""
        try:
            connection.sock.sendall(data)
        except OSError:
            self._forget(connection)
            return False
        return True

    def _forget(self, connection: Connection) -> None:
        connection.left = 0
        connection.script = None
        self._busy.discard(connection)

    def _close(self, connection: Connection) -> None:
        self._poll.unregister(connection.sock)
        del self._open[connection.sock.fileno()]
        connection.sock.close()
        self._forget(connection)

    def _write_scripted(self, connection: Connection, script: Performance) -> None:
        now_ns = time.monotonic_ns()  # before the write: whoever reads it may run before this process does again
        if not self._send(connection, connection.next_write):
            return
        try:
            self._await_script(connection, script.send(now_ns))
        except StopIteration:
            connection.script = None

    def _await_script(self, connection: Connection, step: tuple[int, bytes] | None) -> None:
        """The script's next write has its time, or it closes the connection."""
        if step is None:
            self._close(connection)
        else:
            due_ns, connection.next_write = step
            self._schedule_next(connection, due_ns)

    def _write_chunk(self, connection: Connection, due_ns: int) -> None:
        sent, count = self._sent, min(self._schedule.tokens_per_chunk, connection.left)
        text = "".join(WORDS[(connection.given + place) % len(WORDS)] for place in range(count))
        connection.left -= count
        connection.given += count
        event = event_of(connection.chat, text, "length" if not connection.left else None)
        now_ns = time.monotonic_ns()
        if not self._send(connection, event):
            return
        if connection.chunks:
            sent.gap_ms.append((now_ns - connection.last_ns) / NS_PER_MS)
            sent.gap_end_ns.append(now_ns)
        else:
            sent.ttft_ms.append((now_ns - connection.asked_ns) / NS_PER_MS)
            sent.asked_ns.append(connection.asked_ns)
        connection.chunks += 1
        connection.last_ns = sent.last_ns = now_ns
        sent.tokens += count
        if self._schedule.tokens_per_chunk > 1:
            sent.rounds += 1
            sent.drafted += self._schedule.tokens_per_chunk + 1
            sent.accepted += count - 1
        if connection.left:
            self._schedule_next(connection, due_ns + round(self._schedule.interval_us * 1000))
        else:
            sent.requests += 1
            self._busy.discard(connection)
            sent.e2e_ms.append((now_ns - connection.asked_ns) / NS_PER_MS)
            usage = {"prompt_tokens": 10, "completion_tokens": connection.given, "total_tokens": 10 + connection.given}
            last = json.dumps({"choices": [], "usage": usage}).encode()
            self._send(connection, chunk_of(b"data: " + last + b"\n\n") + chunk_of(b"data: [DONE]\n\n") + b"0\r\n\r\n")


def event_of(chat: bool, text: str, finish: str | None) -> bytes:
    """One chunk as vLLM writes it; put together by hand, as a JSON encoder would take longer than the write."""
    said = f'"delta":{{"content":"{text}"}}' if chat else f'"text":"{text}"'
    reason = f'"{finish}"' if finish else "null"
    body = (
        f'data: {{"id":"chatcmpl-truth","object":"chat.completion.chunk","created":1700000000,"model":"truth",'
        f'"choices":[{{"index":0,{said},"logprobs":null,"finish_reason":{reason}}}]}}\n\n'
    )
    return chunk_of(body.encode())


def chunk_of(data: bytes) -> bytes:
    """The bytes as one HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def ask_for_stamps(sock: socket.socket) -> None:
    """The kernel will stamp what arrives, where it can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # some sandboxes have no stamps
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def received(sock: socket.socket) -> tuple[bytes, int]:
    """What has come, empty once the client has gone, and when it arrived on the monotonic clock; under TLS, when it was read."""
    try:
        if isinstance(sock, ssl.SSLSocket):
            return sock.recv(READ_SIZE), time.monotonic_ns()
        data, ancillary, _, _ = sock.recvmsg(READ_SIZE, socket.CMSG_SPACE(16))
    except OSError:
        return b"", time.monotonic_ns()
    waited_ns = 0
    for level, kind, value in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(value) == 16:
            seconds, nanoseconds = struct.unpack("@qq", value)
            waited_ns = max(0, time.time_ns() - seconds * 1_000_000_000 - nanoseconds)
    return data, time.monotonic_ns() - waited_ns


def main(scripts: Scripts = MappingProxyType({})) -> None:
    """Serve on a free port, named on the first line of standard output."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ttft-ms", type=float, default=50.0)
    parser.add_argument("--interval-us", type=float, default=10_000.0)
    parser.add_argument("--tokens-per-chunk", type=int, default=1)
    parser.add_argument("--never-answers", type=float, default=0.0, metavar="SHARE", help="of requests, such as 0.01")
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    parser.add_argument("--while-input-lasts", action="store_true", help="end when standard input, a pipe, is closed")
    asked = parser.parse_args()
    context = None
    if asked.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*asked.tls)
    with contextlib.suppress(ValueError, OSError):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    listener = socket.create_server(("127.0.0.1", asked.port), backlog=4096)
    print(f"{'https' if asked.tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201 - whoever started it reads this
    leash = 0 if asked.while_input_lasts else None
    schedule = Schedule(asked.ttft_ms, asked.interval_us, asked.tokens_per_chunk, asked.never_answers)
    ReferenceEndpoint(listener, schedule, context, leash, scripts).serve()


if __name__ == "__main__":
    main()
