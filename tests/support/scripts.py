"""Answers that go wrong, or look odd, in the ways that people met: each by its name, as bytes with a time before each.

Those of framing and HTTP are in `scripts_framing.py`, those of what events say in `scripts_chunks.py`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

DONE = b"data: [DONE]\n\n"
STEP_MS = 12.0
"""Between two writes of a script where nothing else is said: long enough that no two are read at once."""


def head(*lines: str, status: str = "200 OK") -> bytes:
    """The head of an answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


STREAM_HEAD = head("Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked")


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes of the body that are written at once, so long after what came before them.

    `tokens`: of each event with tokens, by whatever right it counts as one, whose last byte is among them.
    """

    data: bytes
    tokens: tuple[int, ...] = ()
    after_ms: float = STEP_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One answer. `framed`: its body goes out as HTTP chunks, the closing one included unless it `stays_open`.

    `refuses_reused`: a connection that has carried an answer is closed on the next request, as by an idle limit.
    `refuses_keys`: a request that brings a key is answered with 401.
    """

    writes: Sequence[Write] = ()
    head: bytes = STREAM_HEAD
    framed: bool = True
    stays_open: bool = False
    refuses_reused: bool = False
    refuses_keys: bool = False


def event(body: dict[str, Any], lead: str = "data: ") -> bytes:
    """One server-sent event."""
    return lead.encode() + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def delta(finish: str | None = None, usage: int | None = None, **fields: Any) -> dict[str, Any]:
    """A chat event's body; `usage` is the running count of output tokens."""
    body: dict[str, Any] = {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}
    if usage is not None:
        body["usage"] = counts(usage)
    return body


def counts(tokens: int) -> dict[str, int]:
    """Usage as engines tell it."""
    return {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}


def said(text: str, usage: int | None = None) -> bytes:
    """Text of the answer."""
    return event(delta(content=text, usage=usage))


def ended(tokens: int, reason: str = "stop") -> bytes:
    """The finish, the final usage and the end mark."""
    return event(delta(finish=reason)) + event({"choices": [], "usage": counts(tokens)}) + DONE


ROLE = event(delta(role="assistant", content=""))
REFUSED = b'{"error":{"message":"this endpoint wants no key","code":401}}'
NO_KEY = head("Content-Type: application/json", f"Content-Length: {len(REFUSED)}", status="401 Unauthorized") + REFUSED


def one_by_one(text: str) -> tuple[Write, ...]:
    """A token a letter, each in a write of its own."""
    return tuple(Write(said(letter), (1,)) for letter in text)
