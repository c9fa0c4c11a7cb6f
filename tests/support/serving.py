"""A loopback server of any number of connections; what becomes of each request is for a function to say."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.support.raw_server import PATIENCE_S, head, read_request

Handle = Callable[[socket.socket, bytes], None]


@contextmanager
def serving(handle: Handle, host: str = "127.0.0.1") -> Iterator[str]:
    """The URL of a server that hands over each request with its connection, until one of both sides closes that."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, backlog=1024) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=_talk, args=(connection, handle), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """A counted answer."""
    return head(*lines, f"Content-Length: {len(body)}", status=status) + body


def target_of(request: bytes) -> str:
    """Method and path of a request, as in `GET /v1/models`."""
    return request.split(b" HTTP/", 1)[0].decode("latin-1")


def _talk(connection: socket.socket, handle: Handle) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(PATIENCE_S)
    with connection, contextlib.suppress(OSError):
        while True:
            handle(connection, read_request(connection))
