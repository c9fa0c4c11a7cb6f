"""What the yardstick's even streams are made of: when chunks are due, their bytes, and the state of one connection.

Values and bytes only: who writes them when is in `yardstick.py`.
"""

import socket
from collections import deque
from dataclasses import dataclass, field

from specbench.engine.plays import Play, Write
from specbench.engine.sent import Performed

WORDS = (
    " the",
    " model",
    " keeps",
    " each",
    " token",
    " it",
    " would",
    " have",
    " drawn",
    " anyway",
    ",",
    " or",
    " draws",
    " anew",
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When chunks are due and how many tokens each holds."""

    ttft_ms: float = 50.0
    interval_us: float = 10_000.0
    tokens_per_chunk: int = 1


@dataclass(slots=True, eq=False)
class Connection:
    """One client connection and the answer under way on it."""

    sock: socket.socket
    received: bytes = b""
    left: int = 0
    given: int = 0
    chunks: int = 0
    chat: bool = True
    asked_ns: int = 0
    last_ns: int = 0
    answers: int = 0
    play: Play | None = None
    writes: deque[Write] = field(default_factory=deque)
    performed: Performed | None = None


def event_of(chat: bool, text: str, finish: str | None) -> bytes:
    """One chunk as vLLM writes it; put together by hand, as a JSON encoder would take longer than the write."""
    said = f'"delta":{{"content":"{text}"}}' if chat else f'"text":"{text}"'
    reason = f'"{finish}"' if finish else "null"
    body = (
        f'data: {{"id":"chatcmpl-truth","object":"chat.completion.chunk","created":1700000000,"model":"truth",'
        f'"choices":[{{"index":0,{said},"logprobs":null,"finish_reason":{reason}}}]}}\n\n'
    )
    return chunk_of(body.encode())


def chunk_of(data: bytes) -> bytes:
    """The bytes as one HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)
