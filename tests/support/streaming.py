"""Streams as endpoints and what stands before them write them: any number of connections, each request answered by a script."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.support.raw_server import PATIENCE_S, head, read_request

Answer = Callable[[socket.socket], None]
MODELS = json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode()


@contextmanager
def streaming(answer: Answer, host: str = "127.0.0.1") -> Iterator[str]:
    """The URL of an endpoint that lists one model and answers every POST by the script, until that closes the connection."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, backlog=1024) as listener:
        listener.settimeout(PATIENCE_S)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    try:
                        connection, _ = listener.accept()
                    except TimeoutError:  # a busy machine takes long to start a client
                        continue
                    threading.Thread(target=_talk, args=(connection, answer), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)


def _talk(connection: socket.socket, answer: Answer) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(PATIENCE_S)
    with connection, contextlib.suppress(OSError):
        while True:
            request = read_request(connection)
            if request.startswith(b"POST"):
                answer(connection)
            elif request.startswith(b"GET /v1/models"):
                connection.sendall(head("Content-Type: application/json", f"Content-Length: {len(MODELS)}") + MODELS)
            else:
                connection.sendall(head("Content-Length: 0", status="404 Not Found"))
