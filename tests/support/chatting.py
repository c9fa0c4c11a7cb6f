"""A chat endpoint that keeps what it was asked, and answers as its test says. No assertion lives here."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.captures import DONE, event, finish, said
from tests.support.loopback import on_loopback

Messages = Sequence[dict[str, Any]]


@dataclass(slots=True)
class ChatEndpoint:
    """Where it is, and what it was asked, in the order of arrival.

    `answer` is given a request's messages and its number, from 0, and returns the events of the answer; None fails it (HTTP 500).
    An event follows the one before after `gap_s`.
    """

    answer: Callable[[Messages, int], Sequence[bytes] | None]
    gap_s: float = 0.0
    url: str = ""
    asked: list[Messages] = field(default_factory=list)


def in_words(text: str, messages: Messages = ()) -> list[bytes]:
    """The events of an answer that says this, a word each; its usage counts the words of these messages as the prompt."""
    words = text.split(" ")
    pieces = [word if place == len(words) - 1 else f"{word} " for place, word in enumerate(words)]
    prompt = sum(len(str(message["content"]).split()) for message in messages)
    usage = {"prompt_tokens": prompt, "completion_tokens": len(words), "total_tokens": prompt + len(words)}
    return [*map(said, pieces), finish(), event({"choices": [], "usage": usage})]


@contextmanager
def chatting(chat: ChatEndpoint) -> Iterator[ChatEndpoint]:
    """The endpoint, with its `url` while the context is open."""
    lock = threading.Lock()

    class Chatting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing: the tests read their own output."""

        def do_GET(self) -> None:
            listed = {"object": "list", "data": [{"id": "chatty", "object": "model"}]}
            self._send(200 if self.path == "/v1/models" else 404, json.dumps(listed).encode(), "application/json")

        def do_POST(self) -> None:
            messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
            with lock:
                chat.asked.append(messages)
                number = len(chat.asked) - 1
            events = chat.answer(messages, number)
            if events is None:
                self._send(500, b"{}", "application/json")
            else:
                self._stream([*events, DONE])

        def _stream(self, events: Sequence[bytes]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for one in events:
                time.sleep(chat.gap_s)
                self.wfile.write(f"{len(one):x}\r\n".encode() + one + b"\r\n")
                if chat.gap_s:
                    self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        def _send(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with on_loopback(Chatting) as chat.url:
        yield chat
