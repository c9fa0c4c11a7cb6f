"""A loopback server that plays one script per connection, byte for byte, plain or under TLS."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

TLS = Path(__file__).parent / "tls"
CERTIFICATE, KEY = TLS / "localhost.pem", TLS / "localhost.key"
PATIENCE_S = 30.0  # a busy machine takes long to start a client

Script = Callable[[socket.socket], None]


@contextmanager
def playing(scripts: Sequence[Script], *, tls: bool = False) -> Iterator[str]:
    """The server's URL; connection n gets script n, and is closed when that returns."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if tls:
        context.load_cert_chain(CERTIFICATE, KEY)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        stop = threading.Event()

        def serve() -> None:
            for script in scripts:
                with contextlib.suppress(OSError):
                    connection, _ = listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connection.settimeout(PATIENCE_S)
                    with context.wrap_socket(connection, server_side=True) if tls else connection as talking:
                        script(talking)
                if stop.is_set():
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)


def read_request(connection: socket.socket) -> bytes:
    """One request, head and counted body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError("the client has gone")
    return data


def head(*lines: str, status: str = "200 OK") -> bytes:
    """A response head."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


STREAM_HEAD = head("Content-Type: text/event-stream", "Transfer-Encoding: chunked")


def chunk(data: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


END = b"0\r\n\r\n"


def says(*pieces: bytes, pause_s: float = 0.0) -> Script:
    """A script that reads one request and answers with these pieces, each followed by a pause."""

    def script(connection: socket.socket) -> None:
        read_request(connection)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause_s)

    return script


@contextmanager
def cutting(cut: Callable[[], None], started: threading.Event) -> Iterator[None]:
    """Within it another thread cuts once `started` is set."""

    def when_started() -> None:
        assert started.wait(5.0)
        cut()

    thread = threading.Thread(target=when_started)
    thread.start()
    yield
    thread.join()
