"""Captures made by hand: what arrived when, in the short forms of engines' events."""

import json
from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from specbench.model.captures import UNKNOWN, Capture, TimedRead
from specbench.model.records import RequestRecord, StreamFormat
from specbench.stream.exchange import Exchange
from specbench.stream.record import RequestSpec, record_and_text
from specbench.telemetry import ENGINES
from specbench.units import ms, ns_of_ms

SENT_NS = 5_000_000_000
SSE = {"content-type": "text/event-stream"}
DONE = b"data: [DONE]\n\n"
BY_EVENT = replace(ENGINES["openai"].stream, engine="vllm", answer_counts=ENGINES["vllm"].stream.answer_counts)
BY_BURST = replace(ENGINES["llamacpp"].stream, burst_ns=ns_of_ms(1.5), token_sources=("token_ids", "engine_counts", "events"))
ASKED = RequestSpec("code", "greedy", 128)


def event(body: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def delta(finish: str | None = None, usage: int | None = None, **fields: Any) -> bytes:
    """One chat event; `usage` is the running count of output tokens."""
    body: dict[str, Any] = {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}
    if usage is not None:
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": usage, "total_tokens": 10 + usage}
    return event(body)


def role() -> bytes:
    """The event that only names the role."""
    return delta(role="assistant", content="")


def said(text: str, usage: int | None = None) -> bytes:
    """Text of the answer."""
    return delta(content=text, usage=usage)


def thought(text: str) -> bytes:
    """Text of the reasoning."""
    return delta(reasoning_content=text)


def finish(reason: str = "stop") -> bytes:
    """The event that ends the answer."""
    return delta(finish=reason)


def final_usage(tokens: int) -> bytes:
    """The event that only brings the final usage."""
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    return event({"choices": [], "usage": usage})


def a_capture(*reads: tuple[float, bytes], **fields: Any) -> Capture:
    """What arrived: (milliseconds since the request was sent, body bytes) per read, or `frames` with all their moments."""
    at_once = [TimedRead(SENT_NS + ns_of_ms(at), SENT_NS + ns_of_ms(at) + 50_000, data) for at, data in reads]
    frames: Sequence[TimedRead] = fields.pop("frames", at_once)
    values: dict[str, Any] = {
        "block": "baseline-0",
        "index": 0,
        "stream": 0,
        "scheduled_ns": None,
        "sent_ns": SENT_NS,
        "connect_ns": None,
        "reused": True,
        "retries": 0,
        "status": 200,
        "headers": SSE,
        **columns_of(frames),
        "end_ns": frames[-1].stamp_ns if frames else SENT_NS,
        "stamp_source": "kernel",
        "problem": None,
        "problem_text": None,
        "clock_step": False,
    }
    return Capture(**(values | fields))


def columns_of(frames: Sequence[TimedRead]) -> dict[str, Any]:
    """The same as fields of a capture."""
    return {
        "stamps": array("q", [frame.stamp_ns for frame in frames]).tobytes(),
        "reads": array("q", [frame.read_ns for frame in frames]).tobytes(),
        "firsts": array("q", [UNKNOWN if frame.first_ns is None else frame.first_ns for frame in frames]).tobytes(),
        "sizes": array("q", [len(frame.data) for frame in frames]).tobytes(),
        "body": b"".join(frame.data for frame in frames),
    }


def a_record(*reads: tuple[float, bytes], rule: StreamFormat = BY_EVENT, **fields: Any) -> RequestRecord:
    """The record of what arrived."""
    return record_and_text(a_capture(*reads, **fields), ASKED, rule)[0]


def text_of(*reads: tuple[float, bytes]) -> str:
    """The text of what arrived."""
    return record_and_text(a_capture(*reads), ASKED, BY_EVENT)[1]


def times_ms(record: RequestRecord) -> list[float]:
    """When the content events came, in milliseconds since the request was sent."""
    return [ms(time_ns) for time_ns in record.event_ns]


def gaps_ms(record: RequestRecord) -> list[float]:
    """The gaps between content events in milliseconds."""
    times = times_ms(record)
    return [later - earlier for earlier, later in pairwise(times)]


def capture_of(exchange: Exchange, block: str = "b", index: int = 0, stream: int = 0) -> Capture:
    """The whole exchange as a value."""
    return Capture(
        block=block,
        index=index,
        stream=stream,
        scheduled_ns=None,
        sent_ns=exchange.sent_ns,
        connect_ns=exchange.connect_ns,
        reused=exchange.reused,
        retries=exchange.retries,
        status=exchange.framing.status,
        headers=exchange.framing.headers,
        stamps=exchange.stamps.tobytes(),
        reads=exchange.reads.tobytes(),
        firsts=exchange.firsts.tobytes(),
        sizes=array("q", map(len, exchange.pieces)).tobytes(),
        body=b"".join(exchange.pieces),
        end_ns=exchange.end_ns,
        stamp_source=exchange.stamp_source,
        problem=exchange.problem,
        problem_text=exchange.problem_text,
        clock_step=exchange.clock_step,
    )
