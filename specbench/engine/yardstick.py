"""A loopback endpoint that knows what it sent and when: the yardstick for the client. Decides nothing about the client.

One thread. Every stream follows a fixed schedule (first chunk after `ttft_ms`, then one each `interval_us`, so many tokens in
each), and the monotonic time of every write is kept. A request counts from its arrival as the kernel stamped it, so that a
busy machine, which lets this process read late, does not shorten what it calls true. It speaks both OpenAI routes, and tells on
`/truth` what it did. A request whose model is the name of a play (docs/yardstick.md) is answered by that;
`/truth/plays` tells when each of its events left.

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
import time

from specbench.engine.arrivals import ask_for_stamps, received
from specbench.engine.even_stream import WORDS, Connection, Schedule, chunk_of, event_of
from specbench.engine.player import Player
from specbench.engine.plays import STREAM_HEAD, Play
from specbench.engine.plays_chunks import CHUNKS
from specbench.engine.plays_framing import FRAMING
from specbench.engine.sent import Performed, Sent

NS_PER_MS = 1_000_000
POLL_NS = 1_200_000  # selectors wait in whole milliseconds: the last stretch before a write is waited for otherwise
WINDOW = "/truth/window/"
PLAYS: dict[str, Play] = FRAMING | CHUNKS


class Endpoint:
    """The endpoint's one loop."""

    def __init__(
        self, listener: socket.socket, schedule: Schedule, tls: ssl.SSLContext | None = None, leash: int | None = None
    ) -> None:
        self._listener = listener
        self._schedule = schedule
        self._tls = tls
        self._sent = Sent()
        self._player = Player(self._send, self._close, self._schedule_next)
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
            name = str(asked.get("model"))
            if name in PLAYS:
                performed = Performed(name, connection.asked_ns, b"\r\nauthorization:" in head.lower())
                self._sent.plays.append(performed)
                self._player.begin(connection, PLAYS[name], performed)
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
            self._reply(connection, "application/json", json.dumps(self._sent.told()))
        elif path.startswith(WINDOW):
            opened_ns, closed_ns = map(int, path.removeprefix(WINDOW).split("/"))
            self._reply(connection, "application/json", json.dumps(self._sent.inside(opened_ns, closed_ns)))
        elif path == "/truth/plays":
            self._reply(connection, "application/json", json.dumps(self._sent.performed()))
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
            elif connection.writes:
                self._player.go_on(connection)

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
        connection.writes.clear()
        self._busy.discard(connection)

    def _close(self, connection: Connection) -> None:
        self._poll.unregister(connection.sock)
        del self._open[connection.sock.fileno()]
        connection.sock.close()
        self._forget(connection)

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


def main() -> None:
    """Serve on a free port, named on the first line of standard output."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ttft-ms", type=float, default=50.0)
    parser.add_argument("--interval-us", type=float, default=10_000.0)
    parser.add_argument("--tokens-per-chunk", type=int, default=1)
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
    Endpoint(listener, Schedule(asked.ttft_ms, asked.interval_us, asked.tokens_per_chunk), context, leash).serve()


if __name__ == "__main__":
    main()
