"""An open connection whose reads say when their bytes arrived: plain or TLS. Knows nothing of HTTP.

Only blocking calls of the standard library: under gevent the patched socket makes the same code cooperative.
"""

import atexit
import contextlib
import os
import socket
import ssl
import struct
import sys
import time
from functools import lru_cache

import httpx

from specbench.net.proxies import Proxy, tunnel
from specbench.net.urls import PORTS

CLIENT_CERTIFICATE = "SPECBENCH_CLIENT_CERT"
"""The environment variable that names a PEM file with the client's certificate and its key, where an endpoint asks for one."""

TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The environment variables that name the certificates that are trusted, where not the usual ones are."""

READ_SIZE = 65536
KEY_UPDATE_S = 5.0  # to hand over what TLS itself has to say in the middle of an answer: next to nothing, and rare
SO_TIMESTAMPNS = 35
"""The Linux option (asm-generic/socket.h) that lets `recvmsg` tell when data arrived; `socket` has no name for it."""

_ANCILLARY = socket.CMSG_SPACE(16)
_timespec = struct.Struct("@qq").unpack

now_ns = time.monotonic_ns
"""The generator's clock."""


def offset_ns() -> int:
    """What to add to a CLOCK_REALTIME stamp to have it on the monotonic clock, in nanoseconds.

    The realtime clock is read between two reads of the monotonic one; the tightest of three attempts counts, so that a
    preempted process does not shift its stamps.
    """
    best_width, best = 1 << 62, 0
    for _ in range(3):
        before = time.monotonic_ns()
        real = time.time_ns()
        width = time.monotonic_ns() - before
        if width < best_width:
            best_width, best = width, before + width // 2 - real
    return best


class PlainConnection:
    """A TCP connection; `receive` returns the kernel's arrival stamp where the system gives one."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def sealed(self, data: bytes) -> bytes:
        """`data` as it goes over the wire; to be sent next."""
        return data

    def send(self, data: bytes, timeout_s: float) -> None:
        """All of `data`, which was sealed, is handed to the kernel.  Raises: OSError."""
        self._sock.settimeout(timeout_s)
        self._sock.sendall(data)

    def receive(self, timeout_s: float) -> tuple[bytes, int | None]:
        """What has arrived, empty once the peer has closed, and the realtime stamp (ns) of the last segment in it.

        Raises: TimeoutError, BlockingIOError (nothing is there, and `timeout_s` is 0), OSError.
        """
        self._sock.settimeout(timeout_s)
        return self.receive_ready()

    def receive_ready(self) -> tuple[bytes, int | None]:
        """What `receive` gives, within the timeout set last (none on a watched connection).  Raises: BlockingIOError, OSError."""
        data, ancillary, _, _ = self._sock.recvmsg(READ_SIZE, _ANCILLARY)
        for level, kind, value in ancillary:
            if kind == SO_TIMESTAMPNS and level == socket.SOL_SOCKET and len(value) == 16:
                seconds, nanoseconds = _timespec(value)
                return data, seconds * 1_000_000_000 + nanoseconds
        return data, None

    def watch(self) -> int:
        """The socket's descriptor for an event loop to watch; from now on `receive_ready` does not wait."""
        self._sock.settimeout(0.0)
        return self._sock.fileno()

    def quiet(self) -> bool:
        """Whether the peer has neither closed nor said anything unasked: only then may a connection be used again."""
        self._sock.settimeout(0.0)
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def interrupt(self) -> None:
        """Wake whoever waits in `receive`: it sees the end of the stream."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the descriptor back."""
        self._sock.close()


class TlsConnection(PlainConnection):
    """TLS over a plain connection, decrypted in memory so that each read keeps the kernel's stamp."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str, timeout_s: float) -> None:
        super().__init__(sock)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush(timeout_s)
                self._feed()
            else:
                self._flush(timeout_s)
                return

    def sealed(self, data: bytes) -> bytes:
        """`data` encrypted: that is done before the clock of a request starts."""
        self._tls.write(data)
        return self._outgoing.read()

    def receive_ready(self) -> tuple[bytes, int | None]:
        """As for plain connections; the stamp is that of the read that completed the record."""
        while True:
            stamp_ns, ended = self._feed()
            pieces = []
            try:
                while piece := self._tls.read(READ_SIZE):
                    pieces.append(piece)
                ended = True  # the peer said that it closes
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLEOFError:
                ended = True  # it closed without saying so; framing decides whether the answer was whole
            if self._outgoing.pending:
                patience = self._sock.gettimeout()
                self._flush(KEY_UPDATE_S)
                self._sock.settimeout(patience)
            if pieces or ended:
                return b"".join(pieces), stamp_ns

    def quiet(self) -> bool:
        """As for plain connections; session tickets, which a server sends unasked, are nothing said."""
        self._sock.settimeout(0.0)
        try:
            while True:
                _, ended = self._feed()
                if ended or self._speaks():
                    return False
        except BlockingIOError:
            return True
        except OSError:
            return False

    def _speaks(self) -> bool:
        try:
            self._tls.read(1)
        except ssl.SSLWantReadError:
            return False
        return True

    def _feed(self) -> tuple[int | None, bool]:
        data, stamp_ns = super().receive_ready()
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()
        return stamp_ns, not data

    def _flush(self, timeout_s: float) -> None:
        if self._outgoing.pending:
            self.send(self._outgoing.read(), timeout_s)


@lru_cache(maxsize=1)
def keep_stamping() -> socket.socket | None:
    """A socket that asks for stamps and is never used: the kernel stamps packets only while some socket wants it, and starts
    a few milliseconds after the first one does. None where there are no stamps."""
    if sys.platform != "linux":
        return None
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    atexit.register(sock.close)
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return sock


def connect(url: httpx.URL, verify: bool, timeout_s: float, proxy: Proxy | None = None) -> PlainConnection:
    """An open connection to the URL's host, TLS where its scheme says so; through a proxy a stamp is still the arrival here.

    Raises: TimeoutError, OSError (name resolution, the proxy and TLS included).
    """
    keep_stamping()
    port = url.port or PORTS["https" if url.scheme == "https" else "http"]
    sock = socket.create_connection((url.host, port) if proxy is None else (proxy.host, proxy.port), timeout_s)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # some sandboxes refuse: then `receive` gives no stamp, and the record says so
                sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        if url.scheme == "https":
            if proxy is not None:
                tunnel(sock, proxy, url.host, port)
            return TlsConnection(sock, tls_context(verify), url.host, timeout_s)
    except BaseException:
        sock.close()
        raise
    return PlainConnection(sock)


def tls_context(verify: bool) -> ssl.SSLContext:
    """The trust store that httpx would use, and the client's own certificate if it has one; read once, as it takes time.

    Raises: OSError where a file of certificates that the environment names cannot be read.
    """
    return _tls_context(verify, *(os.environ.get(name) for name in (*TRUSTED, CLIENT_CERTIFICATE)))


@lru_cache(maxsize=4)
def _tls_context(verify: bool, trusted: str | None, folder: str | None, certificate: str | None) -> ssl.SSLContext:
    try:
        context = httpx.create_ssl_context(verify=verify)
    except OSError as error:
        named = f"{TRUSTED[0]}={trusted}" if trusted else f"{TRUSTED[1]}={folder}"
        raise OSError(f"{named}: no PEM file of certificates can be read there ({error})") from None
    if certificate is not None:
        try:
            context.load_cert_chain(certificate)
        except OSError as error:
            raise OSError(f"{CLIENT_CERTIFICATE}={certificate}: no PEM file with a certificate and its key ({error})") from None
    context.set_alpn_protocols(["http/1.1"])
    return context
