"""What the client measured is what the embedded engine did, by the engine's own stamps and counts."""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import numpy as np
import pytest

from specbench.load.messages import BlockSpec, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.prompts.corpora import documents
from specbench.stream.record import RequestSpec, record_of
from specbench.telemetry import ENGINES

pytestmark = pytest.mark.slow
STREAMS, REQUESTS, TOKENS = 4, 32, 48
OPTIONS = {"speculative": {"method": "draft_model", "num_speculative_tokens": 4}}


@contextmanager
def engine() -> Iterator[str]:
    """The URL of an embedded engine with a draft model."""
    command = [sys.executable, "-m", "specbench.engine", json.dumps(OPTIONS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def works() -> Iterator[RequestJob]:
    """Requests for the next 48 tokens of some Python source."""
    extras = ENGINES["embedded"].request_extras("completions", True)
    for index, text in enumerate(itertools.islice(documents("python"), REQUESTS)):
        body = {
            "model": "specbench-ngram",
            "prompt": text[:200],
            "max_tokens": TOKENS,
            "temperature": 0,
            "stream": True,
            "ignore_eos": True,
        }
        yield RequestJob(index=index, body=json.dumps({**body, **extras}).encode())


Both = tuple[list[RequestRecord], dict[int, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def both() -> Both:
    """As measured once."""
    return measured()


def measured() -> Both:
    """The client's records, the engine's truth of the same requests by index, and its sums."""
    with engine() as url, LoadGenerator() as child:
        order = BlockSpec(
            block="b",
            url=url,
            path="/v1/completions",
            headers={},
            concurrency=STREAMS,
            min_requests=REQUESTS,
            min_s=0,
            max_s=60,
            ramp_s=0,
        )
        captures = [message for message in child.run_block(order, works()) if isinstance(message, Capture)]
        records = [record_of(capture, RequestSpec("", "", TOKENS), ENGINES["embedded"].stream) for capture in captures]
        told = httpx.get(f"{url}/truth/requests", params={"last": REQUESTS}, trust_env=False).json()
        sums = httpx.get(f"{url}/truth", trust_env=False).json()
    requests = told if isinstance(told, list) else told["requests"]
    by_id = {request["id"]: request for request in requests}
    return records, {capture.index: by_id[answer_id(capture)] for capture in captures}, sums


def answer_id(capture: Capture) -> str:
    """The id that the engine gave the request, as every event of its answer says."""
    found = re.search(rb'"id": ?"([^"]+)"', capture.body)
    assert found is not None
    return found.group(1).decode()


def test_every_request_is_the_same_one_on_both_sides(both: Both) -> None:
    """32 requests, each with the tokens per event that the engine sent, and acceptance by position as it counted."""
    records, truth, sums = both

    assert len(records) == REQUESTS
    assert len({id(request) for request in truth.values()}) == REQUESTS
    for record in records:
        assert record.outcome == "ok"
        assert list(record.event_tokens) == truth[record.index]["tokens"]
        assert record.prompt_tokens == truth[record.index]["prompt_tokens"]
        assert record.acceptance is not None
        assert record.acceptance.accepted == sum(truth[record.index]["accepted"])
        assert record.acceptance.drafted == sum(truth[record.index]["drafted"])
    positions = [record.acceptance.per_position for record in records if record.acceptance and record.acceptance.per_position]
    assert [sum(column) for column in zip(*positions, strict=True)] == sums["per_position"]


def test_times_are_those_at_which_the_engine_sent(both: Both) -> None:
    """Gaps and TTFT, median and p95, within 1 % or half a millisecond; censored events are left out.

    In one of three measurements: what a busy machine does to one it does not do to all, as a fault of the client's would.
    """
    off = far_apart(both)
    for _ in range(2):
        off = off and far_apart(measured())

    assert off == []


def far_apart(both: Both) -> list[tuple[float, float]]:
    """The figures that are not the engine's own: as measured, and as they were."""
    records, truth, _ = both
    gaps: list[float] = []
    true_gaps: list[float] = []
    for record in records:
        timed = [place for place in range(1, len(record.event_ns)) if not {place - 1, place} & set(record.censored)]
        for times, found in ((record.event_ns, gaps), (truth[record.index]["sent_ns"], true_gaps)):
            found += [(times[place] - times[place - 1]) / 1e6 for place in timed]
    ttft = [record.event_ns[0] / 1e6 for record in records]
    true_ttft = [(truth[record.index]["sent_ns"][0] - record.sent_ns) / 1e6 for record in records]

    pairs = [
        (float(np.quantile(found, share)), float(np.quantile(true, share)))
        for found, true in ((gaps, true_gaps), (ttft, true_ttft))
        for share in (0.5, 0.95)
    ]
    return [(found, true) for found, true in pairs if found != pytest.approx(true, rel=0.01, abs=0.5)]
