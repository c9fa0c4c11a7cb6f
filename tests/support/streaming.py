"""Streams as endpoints and what stands before them write them: any number of connections, each request answered by a script."""

import json
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager

from tests.support.raw_server import head
from tests.support.serving import serving, whole

Answer = Callable[[socket.socket], None]
MODELS = json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode()


def streaming(answer: Answer, host: str = "127.0.0.1") -> AbstractContextManager[str]:
    """The URL of an endpoint that lists one model and answers every POST by the script, until that closes the connection."""

    def handle(connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"POST"):
            answer(connection)
        elif request.startswith(b"GET /v1/models"):
            connection.sendall(whole(MODELS, "Content-Type: application/json"))
        else:
            connection.sendall(head("Content-Length: 0", status="404 Not Found"))

    return serving(handle, host)
