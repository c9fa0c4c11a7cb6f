"""The way of one request over a connection of our own, stamped by the kernel: an httpx transport. Decodes nothing.

A transport holds one connection, as one stream of a load test needs: requests on it follow each other.
"""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator

import httpx

from specbench.model.records import Outcome
from specbench.net.proxies import Proxy, proxy_of
from specbench.stream.connection import PlainConnection, connect, now_ns, offset_ns
from specbench.stream.exchange import Exchange, Timeouts
from specbench.units import NS_PER_S, ns_of_ms

EXCHANGE = "exchange"
"""The httpx extension under which a caller passes an `Exchange` to be filled, and finds it in the response."""

LINGER_NS = ns_of_ms(50.0)
"""How long HTTP's own end may come after the stream's: only then is the connection used again. It is waited for once in vain."""

_OUR_LIMITS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL}


class StampingTransport(httpx.BaseTransport):
    """Sends a request and reads its answer, with the arrival time of every read.

    A connection is opened before the clock of a request starts, and kept for the next. A request is written a second time
    only where a connection that had been used before was closed before any byte of the answer (RFC 9112, 9.3.1).
    """

    def __init__(self, timeouts: Timeouts | None = None, verify: bool = True) -> None:
        self.timeouts = timeouts or Timeouts()
        self._verify = verify
        self._connection: PlainConnection | None = None
        self._origin: tuple[str, str, int | None] | None = None
        self._proxy: Proxy | None = None
        self._connect_ns: int | None = None
        self._used = False
        self._half_sent = False
        self._cut = False
        self._lingers = True

    def open(self, url: httpx.URL) -> None:
        """A connection to the URL's host is open, the one in hand if it can be used.  Raises: TimeoutError, OSError."""
        origin = (url.scheme, url.host, url.port)
        if self._connection is not None:
            if self._origin == origin and self._connection.quiet():
                return
            self.close()
        started = now_ns()
        self._proxy = proxy_of(str(url))
        self._connection = connect(url, self._verify, self.timeouts.connect_s, self._proxy)
        self._connect_ns = now_ns() - started
        self._origin, self._used, self._half_sent = origin, False, False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The head of the answer has come; the body follows as it is read. The `Exchange` is among the extensions.

        Raises: httpx.TransportError; the exchange says what it was in the words of `Outcome`.
        """
        exchange: Exchange = request.extensions.get(EXCHANGE) or Exchange(self.timeouts)
        request.read()
        if self._ask(request, exchange):
            exchange.retries += 1
            self.close()  # whatever it took of the first request, the second must not follow it there
            self._ask(request, exchange)
        status = exchange.framing.status
        if status is None:
            self.finish(exchange)
            raise httpx.TransportError(f"{exchange.problem}: {exchange.problem_text}")
        body = _Body(self, exchange)
        return httpx.Response(status, headers=_for_httpx(exchange.framing.headers), stream=body, extensions={EXCHANGE: exchange})

    def watch(self) -> int:
        """The connection's file descriptor, for an event loop to watch; `read_ready` is then called when it is readable."""
        assert self._connection is not None
        return self._connection.watch()

    def read(self, exchange: Exchange) -> None:
        """One more read of the answer, waiting for it as long as its deadline allows."""
        assert self._connection is not None
        deadline_ns, late = exchange.deadline()
        try:
            data, stamp_ns = self._connection.receive(max(deadline_ns - now_ns(), 1) / NS_PER_S)
        except TimeoutError:
            exchange.fail(late, "nothing came in time")
        except OSError as error:
            self._broken_off(exchange, str(error))
        else:
            if data:
                exchange.take(data, stamp_ns, now_ns())
            else:
                self._ended(exchange)

    def read_ready(self, exchange: Exchange) -> bool:
        """One more read of a watched connection, of what has come already; what is too late is for the caller to see.

        Returns: whether it made a frame.
        """
        assert self._connection is not None
        try:
            data, stamp_ns = self._connection.receive_ready()
        except BlockingIOError:
            return False
        except OSError as error:
            self._broken_off(exchange, str(error))
            return False
        if data:
            return exchange.take(data, stamp_ns, now_ns())
        self._ended(exchange)
        return False

    def _hear_end(self, exchange: Exchange) -> None:
        """The stream is over; what else comes is no part of it, and but for HTTP's own end it spoils the connection."""
        until_ns = now_ns() + LINGER_NS
        while self._connection is not None and not exchange.framing.complete and not exchange.data_after_end:
            try:
                data, stamp_ns = self._connection.receive(max(until_ns - now_ns(), 1) / NS_PER_S)
            except OSError:
                self._lingers = False
                return
            if data:
                exchange.take(data, stamp_ns, now_ns())
            else:
                self._ended(exchange)
                return

    def _ended(self, exchange: Exchange) -> None:
        """The peer has closed, or we have."""
        if self._cut or not exchange.closed():
            self._broken_off(exchange, "closed before the end of the answer")

    def finish(self, exchange: Exchange) -> None:
        """The exchange is over: its clock is checked, its connection kept only where HTTP allows another request on it."""
        if exchange.over and not exchange.framing.complete and self._lingers:
            self._hear_end(exchange)
        exchange.end(now_ns(), offset_ns())
        if exchange.problem is not None or not exchange.framing.reusable or self._half_sent:
            self.close()

    def cut(self) -> None:
        """End what is in flight, from another thread or greenlet, for good: the exchange's problem is `cut`."""
        self._cut = True
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, request: httpx.Request, exchange: Exchange) -> bool:
        """Write the request and read up to the head of the answer; what goes wrong is in the exchange.

        Returns: whether it may be written once more: a connection that had been used before was closed before any byte came.
        """
        exchange.begin(now_ns(), 0)
        try:
            self.open(request.url)
        except OSError as error:
            exchange.fail(*_unopened(error))
            return False
        if self._cut:
            self._broken_off(exchange, "")
            return False
        assert self._connection is not None
        exchange.reused, exchange.connect_ns = self._used, None if self._used else self._connect_ns
        self._used = True
        exchange.begin(now_ns(), offset_ns())
        closed = True
        try:
            sealed = self._connection.sealed(_written(request, self._proxy))
            exchange.sent(now_ns())
            self._connection.send(sealed, self.timeouts.connect_s)
        except OSError as error:
            closed = not isinstance(error, TimeoutError)
            self._hear_out(exchange, error)
        while exchange.framing.status is None and not exchange.finished:
            self.read(exchange)
        return closed and exchange.problem == "disconnected" and exchange.reused and not exchange.touched and not self._cut

    def _hear_out(self, exchange: Exchange, error: OSError) -> None:
        """The request went out by half; an answer that has come all the same is the answer (RFC 9112, 9.5: a 413, say)."""
        assert self._connection is not None
        self._half_sent = True
        with contextlib.suppress(OSError):
            self._connection.watch()  # what is there, without waiting
            while exchange.framing.status is None and not exchange.finished:
                data, stamp_ns = self._connection.receive_ready()
                if not data:
                    break
                exchange.take(data, stamp_ns, now_ns())
        if exchange.framing.status is None and not exchange.finished:
            self._broken_off(exchange, f"while sending: {error}")

    def _broken_off(self, exchange: Exchange, why: str) -> None:
        """The connection ended before the answer did: by us, or by the other side."""
        if self._cut:
            exchange.fail("cut", "the load was over")
        else:
            exchange.fail("disconnected", why)


class _Body(httpx.SyncByteStream):
    """The body as httpx reads it: bytes as they arrive."""

    def __init__(self, transport: StampingTransport, exchange: Exchange) -> None:
        self._transport = transport
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        given = 0
        while True:
            while given < len(self._exchange.pieces):
                yield self._exchange.pieces[given]
                given += 1
            if self._exchange.finished:
                break
            self._transport.read(self._exchange)
        if self._exchange.problem is not None:
            raise httpx.ReadError(f"{self._exchange.problem}: {self._exchange.problem_text}")

    def close(self) -> None:
        self._transport.finish(self._exchange)


def _written(request: httpx.Request, proxy: Proxy | None) -> bytes:
    """The request as bytes, its body counted; a proxy without a tunnel is told the whole address (RFC 9112, 3.2.2)."""
    body, target = request.content, request.url.raw_path
    asks_proxy = proxy is not None and request.url.scheme == "http"
    if asks_proxy:
        target = b"http://" + request.url.netloc + target
    lines = [b"%s %s HTTP/1.1" % (request.method.encode("ascii"), target)]
    if asks_proxy and proxy is not None and proxy.authorization is not None:
        lines.append(b"Proxy-Authorization: " + proxy.authorization.encode("ascii"))
    lines += [b"%s: %s" % header for header in request.headers.raw if header[0].lower() != b"transfer-encoding"]
    if b"content-length" not in {name.lower() for name, _ in request.headers.raw} and body:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def _for_httpx(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers as bytes, which need not be ASCII; without where a redirect points to, as it need not be an address."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items() if name != "location"]


def _unopened(error: OSError) -> tuple[Outcome, str]:
    """Why there is no connection; our own limits are never the endpoint's fault."""
    if isinstance(error, TimeoutError):
        return "timeout_connect", "no connection in time"
    if error.errno in _OUR_LIMITS or (
        isinstance(error, socket.gaierror) and (error.errno == socket.EAI_MEMORY or _no_more_files())
    ):
        return "client_resource", str(error)
    return "connect_failed", str(error)


def _no_more_files() -> bool:
    """Whether this process may open nothing more: a name is then "not known", as the resolver cannot open its files."""
    try:
        os.close(os.dup(0))
    except OSError as error:
        return error.errno in _OUR_LIMITS
    return False


__all__ = ["EXCHANGE", "StampingTransport", "Timeouts"]
