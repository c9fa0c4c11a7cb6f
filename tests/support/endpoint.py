"""A small OpenAI-compatible endpoint that does as a script says: streams well, then fails, stops streaming or hangs up."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.loopback import on_loopback

TOKENS = 6
GAP_S = 0.004
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the endpoint does: `good` requests are answered well first, then every one as `then` says.

    `metrics` are what its page answers in turn, status and text, the last one for ever; without any there is no page.
    """

    model: str = "scripted"
    good: int | None = None
    then: str = "http_500"
    gap_s: float = GAP_S
    metrics: Sequence[tuple[int, str]] = ()


@contextmanager
def endpoint(behaviour: Behaviour, port: int = 0) -> Iterator[str]:
    """The URL of a running endpoint with this behaviour, at that port or a free one; it ends with the context."""
    served = 0
    lock = threading.Lock()

    def is_good() -> bool:
        nonlocal served
        with lock:
            served += 1
            return behaviour.good is None or served <= behaviour.good

    with on_loopback(_answering(behaviour, is_good), port) as url:
        yield url


def _answering(behaviour: Behaviour, is_good: Callable[[], bool]) -> type[BaseHTTPRequestHandler]:
    pages = iter(behaviour.metrics)
    page = (404, "")

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing: the tests read their own output."""

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._json(200, {"object": "list", "data": [{"id": behaviour.model, "object": "model"}]})
            elif self.path == "/metrics" and behaviour.metrics:
                nonlocal page
                page = next(pages, page)
                self._answer(page[0], page[1].encode(), "text/plain")
            else:
                self._json(404, {"error": {"message": "not here", "code": 404}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.startswith("/v1/"):
                self._json(404, {"error": {"message": "not here", "code": 404}})
            elif is_good():
                self._stream(min(TOKENS, body["max_tokens"]))
            elif behaviour.then == "http_500":
                self._json(500, {"error": {"message": "engine is gone", "code": 500}})
            elif behaviour.then == "out_of_memory":
                print(OUT_OF_MEMORY, flush=True)  # noqa: T201  (an engine's log)
                self._json(500, {"error": {"message": OUT_OF_MEMORY, "code": 500}})
            elif behaviour.then == "whole":
                self._json(200, {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": "all at once"}}]})
            elif behaviour.then == "hang_up":
                self.close_connection = True
                self.connection.close()

        def _json(self, status: int, value: dict[str, Any]) -> None:
            self._answer(status, json.dumps(value).encode(), "application/json")

        def _answer(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, tokens: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for count in range(tokens):
                time.sleep(behaviour.gap_s)
                finish = "length" if count == tokens - 1 else None
                delta = {"content": f"w{count} "}
                self._event({"choices": [{"index": 0, "delta": delta, "text": delta["content"], "finish_reason": finish}]})
            usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
            self._event({"choices": [], "usage": usage})
            self._piece(b"data: [DONE]\n\n")
            self._piece(b"")

        def _event(self, value: dict[str, Any]) -> None:
            self._piece(b"data: " + json.dumps(value).encode() + b"\n\n")

        def _piece(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    return Answering
