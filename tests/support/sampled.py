"""A server that answers as Prometheus would that had scraped two steady arms for ever: any time of the past can be asked for."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import floor, inf, sin
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.serving import serving, target_of, whole

EVERY_S = 0.25  # between two scrapes
BEGAN_S = floor(time()) - 100_000.0
ANSWER = 100  # tokens
EDGES = {
    "time_to_first_token_seconds": (0.05, 0.1, 0.25, 0.5),
    "request_time_per_output_token_seconds": (0.005, 0.01, 0.025, 0.05, 0.075),
    "e2e_request_latency_seconds": (0.5, 1.0, 2.5, 5.0),
    "request_decode_time_seconds": (0.5, 1.0, 2.5, 5.0),
    "request_generation_tokens": (50.0, 100.0, 200.0),
}
FAILED = "failed_share"  # a query of it has this share for each arm, by the label arm


@dataclass(frozen=True)
class SteadyArm:
    """So many requests a second, each with these times; its series have this label `arm` and stand on this host."""

    arm: str
    host: str
    tpot_s: float = 0.010
    ttft_s: float = 0.120
    rate: float = 40.0
    failed: float = 0.0


@contextmanager
def sampled(*arms: SteadyArm) -> Iterator[str]:
    """The URL of the server."""

    def handle(connection: socket.socket, request: bytes) -> None:
        query = parse_qs(urlsplit(target_of(request).split(" ")[1]).query)
        body = json.dumps({"status": "success", "data": _answer(arms, query["query"][0], float(query.get("time", ["0"])[0]))})
        connection.sendall(whole(body.encode(), "Content-Type: application/json"))

    with serving(handle) as url:
        yield url


def _answer(arms: tuple[SteadyArm, ...], query: str, at_s: float) -> dict[str, Any]:
    if FAILED in query:
        named = "new {}" if "others" in query else "{}"
        rows = [{"metric": {"arm": named.format(one.arm)}, "value": [at_s, str(one.failed)]} for one in arms]
        return {"resultType": "vector", "result": rows}
    reach = re.search(r"\[(\d+)s\]", query)
    chosen = [one for one in arms if f'arm="{one.arm}"' in query]
    if reach is None:
        return {"resultType": "vector", "result": [{"metric": {}, "value": [at_s, "1"]}] if chosen else []}
    moments = [at for at in _moments(at_s, int(reach[1])) if at > at_s - int(reach[1])]
    return {"resultType": "matrix", "result": [one for arm in chosen for one in _series(arm, moments)]}


def _moments(at_s: float, reach_s: int) -> list[float]:
    last = floor(at_s / EVERY_S)
    return [EVERY_S * place for place in range(last - floor(reach_s / EVERY_S), last + 1)]


def _series(arm: SteadyArm, moments: list[float]) -> Iterator[dict[str, Any]]:
    decode_s = (ANSWER - 1) * arm.tpot_s
    means = (arm.ttft_s, arm.tpot_s, arm.ttft_s + decode_s, decode_s, float(ANSWER))
    for (name, edges), mean in zip(EDGES.items(), means, strict=True):
        counts = [floor(arm.rate * (at - BEGAN_S)) for at in moments]
        # Tokens are whole; times sway by a few per cent, as any do.
        sway = 0.0 if name == "request_generation_tokens" else 0.02
        phase = sum(map(ord, arm.arm))
        sums = [mean * (count + arm.rate * sway * sin(3 * at + phase)) for count, at in zip(counts, moments, strict=True)]
        yield _one(arm, f"vllm:{name}_sum", moments, sums)
        yield _one(arm, f"vllm:{name}_count", moments, counts)
        for edge in (*edges, inf):
            held = [count if mean <= edge else 0 for count in counts]
            yield _one(arm, f"vllm:{name}_bucket", moments, held, le="+Inf" if edge == inf else str(edge))
    tokens = [ANSWER * floor(arm.rate * (at - BEGAN_S)) for at in moments]
    yield _one(arm, "vllm:generation_tokens_total", moments, tokens)
    yield _one(arm, "vllm:num_requests_running", moments, [4.0] * len(moments))


def _one(arm: SteadyArm, name: str, moments: list[float], values: list[Any], **more: str) -> dict[str, Any]:
    labels = {"__name__": name, "instance": f"{arm.host}:8000", "arm": arm.arm, "model_name": "m", **more}
    return {"metric": labels, "values": [[at, str(value)] for at, value in zip(moments, values, strict=True)]}
