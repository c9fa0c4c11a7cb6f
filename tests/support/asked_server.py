"""A loopback server that says what a small model thinks of given tokens, in the forms of several engines. No assertion here.

The model: after token n comes n + 1 (log probability -0.1), then n + 2 (-2.4), then n + 3 (-5). A token's text is its letter.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.loopback import on_loopback

JOINED = 99
STEPS = {1: -0.1, 2: -2.4, 3: -5.0}


@dataclass(slots=True)
class AskedServer:
    """What it was asked, (path, body); `refuses` answers every scoring with this status, `shifted` tells places one too early.

    `joins`: letters that its tokenizer takes for one token, which the model never says.
    """

    url: str = ""
    refuses: int | None = None
    shifted: bool = False
    zero: bool = False
    joins: str = "no letters"
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and JSON of one answer."""
        if path == "/apply-template":
            return 200, {"prompt": "a"}
        if path == "/tokenize":
            whole, _, rest = body["content"].partition(self.joins)
            joined = self.joins if len(whole) < len(body["content"]) else ""
            pieces = [*whole, *([joined] if joined else []), *rest]
            return 200, {"tokens": [{"id": JOINED if one == joined else number_of(one), "piece": one} for one in pieces]}
        if self.refuses is not None:
            return self.refuses, {"error": {"message": "prompt_logprobs are switched off."}}
        if path == "/completion":
            last = body["prompt"][-1]
            text = self.joins if last == JOINED else last
            last = text if isinstance(text, int) else number_of(text[-1])
            best = [{"id": last + step, "token": letter(last + step), "logprob": log_p} for step, log_p in STEPS.items()]
            return 200, {"completion_probabilities": [{"top_logprobs": best}]}
        if isinstance(body["prompt"], str):
            last = number_of(body["prompt"][-1])
            told = {letter(last + step): log_p for step, log_p in STEPS.items()}
            return 200, {"choices": [{"text": "?", "logprobs": {"top_logprobs": [told]}}]}
        ids = body["prompt"]
        places: list[dict[str, Any] | None] = [None]
        for place, own in enumerate(ids[1:]):
            before = ids[max(0, place - 1)] if self.shifted else ids[place]
            told = {before + step: log_p for step, log_p in STEPS.items()}
            told = {own: 0.0} if self.zero else {**told, own: told.get(own, -9.0)}
            places.append({str(token): {"logprob": log_p} for token, log_p in told.items()})
        return 200, {"choices": [{"text": "?", "prompt_logprobs": places}]}


def letter(number: int) -> str:
    """The text of a token: `a` of 0."""
    return chr(ord("a") + number)


def number_of(text: str) -> int:
    """The token of a letter."""
    return ord(text) - ord("a")


@contextmanager
def served(server: AskedServer) -> Iterator[AskedServer]:
    """The server, with its `url` while the context is open."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing: the tests read their own output."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            with lock:
                server.asked.append((self.path, body))
            status, told = server.answer(self.path, body)
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with on_loopback(Handler) as server.url:
        yield server
