"""Streams of real engines, recorded under `tests/golden/streams`, as captures."""

import json
from pathlib import Path

from specbench.model.captures import Capture, TimedRead
from specbench.stream.http_response import ResponseParser
from tests.support.captures import SENT_NS, a_capture

FOLDER = Path("tests/golden/streams")


def recorded(name: str) -> Capture:
    """The recording of that name as our client would have read it."""
    content = (FOLDER / name).read_bytes()
    if name.endswith(".timed.jsonl"):
        lines = [json.loads(line) for line in content.splitlines()]
        reads = tuple(
            TimedRead(SENT_NS + round(1e9 * at), SENT_NS + round(1e9 * at), f"{text}\n\n".encode()) for at, text in lines
        )
        return a_capture((0, b""), frames=reads)
    if name.endswith(".sse"):
        return a_capture((100, content))
    return _of_head_and_body(content)


def _of_head_and_body(content: bytes) -> Capture:
    """The recordings have the head as it came, and the body with its chunks already joined."""
    head, _, body = content.partition(b"\r\n\r\n") if b"\r\n\r\n" in content else content.partition(b"\n\n")
    framing = ResponseParser()
    framing.feed(b"\r\n".join(head.splitlines()) + b"\r\n\r\n")
    return a_capture((100, body), status=framing.status, headers=framing.headers)
