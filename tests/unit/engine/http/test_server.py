"""The engine as a process: what it serves, what it says about itself, and how it ends."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

COMMAND = [sys.executable, "-m", "specbench.engine"]
SPECULATIVE = {"method": "draft_model", "num_speculative_tokens": 4}
BODY = {"prompt": "    def write(self, data):\n        ", "max_tokens": 20, "temperature": 0, "stream": True}
USAGE: dict[str, Any] = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}, "return_token_ids": True}
END_S = 10.0


@dataclass(frozen=True)
class Served:
    """A running engine: its process, and a client of its URL."""

    process: "subprocess.Popen[str]"
    client: httpx.Client
    hello: dict[str, Any]


@contextmanager
def served(**options: Any) -> Iterator[Served]:
    """An engine of its own process, ended with the context."""
    command = [*COMMAND, json.dumps(options)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdin is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        hello = json.loads(line)
        with httpx.Client(base_url=hello["url"], timeout=30, trust_env=False) as client:
            yield Served(process, client, hello)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


@pytest.fixture(scope="module")
def speculative() -> Iterator[Served]:
    """One speculative engine for the tests that only ask."""
    with served(speculative=SPECULATIVE, model="small") as engine:
        yield engine


@pytest.fixture(scope="module")
def plain() -> Iterator[Served]:
    """One engine without speculation."""
    with served() as engine:
        yield engine


def events(served: Served, route: str = "/v1/completions", **body: Any) -> list[Any]:
    """The events of one streamed answer."""
    response = served.client.post(route, json={**BODY, **body})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    parts = response.text.split("\n\n")
    assert parts[-2:] == ["data: [DONE]", ""]
    return [json.loads(part.removeprefix("data: ")) for part in parts[:-2]]


def families(served: Served) -> dict[str, Any]:
    """The metrics page, by family."""
    response = served.client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {family.name: family for family in text_string_to_metric_families(response.text)}


def value(found: dict[str, Any], sample: str) -> float:
    """The one sample of that name."""
    (only,) = [each.value for family in found.values() for each in family.samples if each.name == sample]
    return float(only)


def test_it_says_where_it_is(speculative: Served) -> None:
    """One line of JSON on standard output: URL, process and model."""
    assert speculative.hello["pid"] == speculative.process.pid
    assert speculative.hello["model"] == "small"
    assert speculative.hello["url"].startswith("http://127.0.0.1:")


def test_it_says_what_it_is(speculative: Served, plain: Served) -> None:
    """Models, version and health in vLLM's form; the model card names speculation and the virtual hardware."""
    (card,) = speculative.client.get("/v1/models").json()["data"]
    (other,) = plain.client.get("/v1/models").json()["data"]

    assert (card["id"], card["owned_by"], card["max_model_len"]) == ("small", "specbench", 8192)
    assert json.loads(card["speculation_config"])["num_speculative_tokens"] == 4
    assert other["speculation_config"] is None
    assert card["hardware"].endswith("(virtual)")
    assert speculative.client.get("/health").status_code == 200
    assert set(speculative.client.get("/version").json()) == {"version"}


def test_tokens_are_told(plain: Served) -> None:
    """What `/tokenize` counts is what a prompt costs, and `/detokenize` gives the text back."""
    text = "def f(x):\n    return naïve🎉"
    told = plain.client.post("/tokenize", json={"prompt": text}).json()
    usage = plain.client.post("/v1/completions", json={"prompt": text, "max_tokens": 1}).json()["usage"]

    assert told["count"] == len(told["tokens"]) == usage["prompt_tokens"]
    assert told["max_model_len"] == 8192
    assert plain.client.post("/detokenize", json={"tokens": told["tokens"]}).json() == {"prompt": text}
    assert plain.client.post("/tokenize", json={"prompt": ""}).json()["tokens"] == []
    assert plain.client.post("/detokenize", json={"tokens": []}).json() == {"prompt": ""}


def test_streamed_and_whole_answers_agree(speculative: Served) -> None:
    """The same seed gives the same text on either form, on both routes."""
    chat = {"messages": [{"role": "user", "content": BODY["prompt"]}], "max_tokens": 20, "temperature": 0.8, "seed": 5}
    told = [event["choices"][0]["delta"]["content"] for event in events(speculative, "/v1/chat/completions", **chat)]
    whole = speculative.client.post("/v1/chat/completions", json=chat).json()
    completion = speculative.client.post("/v1/completions", json={**BODY, "temperature": 0.8, "seed": 5, "stream": False}).json()

    assert "".join(told) == whole["choices"][0]["message"]["content"] == completion["choices"][0]["text"]


def test_speculation_changes_no_greedy_answer(speculative: Served, plain: Served) -> None:
    """Over the wire as well: the same tokens, in fewer events."""
    one, other = events(speculative, **USAGE), events(plain, **USAGE)

    def ids(told: list[Any]) -> list[int]:
        return [token for event in told[:-1] for token in event["choices"][0]["token_ids"]]

    assert ids(one) == ids(other)
    assert len(one) < len(other) == 21


def test_a_client_sees_the_truth(speculative: Served) -> None:
    """Events, tokens and rounds of an answer are those that `/truth/requests` remembers of it."""
    told = events(speculative, **USAGE)
    last = speculative.client.get("/truth/requests", params={"last": 1}).json()[0]
    counts = told[-1]["metrics"]["speculative_decoding"]

    assert last["id"] == told[0]["id"]
    assert last["tokens"] == [len(event["choices"][0]["token_ids"]) for event in told[:-1]]
    assert len(last["sent_ns"]) == len(last["due_ns"]) == len(last["tokens"])
    assert all(sent >= due for sent, due in zip(last["sent_ns"], last["due_ns"], strict=True))
    assert last["arrival_ns"] <= last["scheduled_ns"] < last["due_ns"][0]
    assert (sum(last["accepted"]), sum(last["drafted"])) == (counts["num_accepted_draft_tokens"], counts["num_draft_tokens"])
    assert last["finish"] == "length"


def test_metrics_are_the_truth(speculative: Served) -> None:
    """Counters under vLLM's names equal `/truth`, per position too, and histograms count what happened."""
    events(speculative)
    truth, found = speculative.client.get("/truth").json(), families(speculative)
    positions = found["vllm:spec_decode_num_accepted_tokens_per_pos"].samples

    assert value(found, "vllm:spec_decode_num_drafts_total") == truth["rounds"] > 0
    assert value(found, "vllm:spec_decode_num_draft_tokens_total") == truth["drafted"] == 4 * truth["rounds"]
    assert value(found, "vllm:spec_decode_num_accepted_tokens_total") == truth["accepted"]
    assert [s.value for s in positions if s.name.endswith("_total")] == truth["per_position"]
    assert value(found, "vllm:generation_tokens_total") == truth["emitted_tokens"]
    assert value(found, "vllm:prompt_tokens_total") == truth["prompt_tokens"]
    assert value(found, "vllm:inter_token_latency_seconds_count") == truth["decodes"]
    assert value(found, "vllm:iteration_tokens_total_sum") == truth["computed_tokens"]
    assert value(found, "vllm:time_to_first_token_seconds_count") == truth["requests"]
    assert value(found, "vllm:num_requests_running") == 0
    assert "process_start_time_seconds" in found


def test_names_are_vllms(speculative: Served, plain: Served) -> None:
    """Every family is one of a recorded page of vLLM; without speculation its series do not exist."""
    with open("tests/golden/metrics/vllm-draft-metrics.txt") as page:
        recorded = {family.name for family in text_string_to_metric_families(page.read())}
    ours, other = set(families(speculative)), set(families(plain))

    assert ours <= recorded
    assert {name for name in recorded if name.startswith("vllm:spec_decode")} <= ours
    assert not any(name.startswith("vllm:spec_decode") for name in other)
    assert {name for name in ours if not name.startswith("vllm:spec_decode")} == other


@pytest.mark.parametrize(
    ("route", "body", "status", "param"),
    [
        ("/v1/completions", {"prompt": "a", "model": "other"}, 404, "model"),
        ("/v1/completions", {"prompt": "a", "n": 2}, 400, "n"),
        ("/v1/completions", {"prompt": [97] * 9000}, 400, "input_tokens"),
        ("/v1/chat/completions", {"messages": "hello"}, 400, "messages"),
        ("/v1/completions", {"prompt": "a", "temperature": 10**400}, 400, "temperature"),
        ("/tokenize", {}, 400, "prompt"),
        ("/detokenize", {}, 400, "tokens"),
    ],
)
def test_bad_requests_are_refused(plain: Served, route: str, body: dict[str, Any], status: int, param: str) -> None:
    """The status, and an error object that names the parameter."""
    response = plain.client.post(route, json=body)

    assert response.status_code == response.json()["error"]["code"] == status
    assert response.json()["error"]["param"] == param


NESTED = b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", NESTED], ids=["open", "list", "no UTF-8", "nested"])
def test_what_is_no_json_is_refused(plain: Served, body: bytes) -> None:
    """A body that is no JSON object is the client's error, on every route."""
    for route in ("/v1/completions", "/tokenize"):
        response = plain.client.post(route, content=body, headers={"content-type": "application/json"})
        assert (response.status_code, response.json()["error"]["type"]) == (400, "BadRequestError")


@pytest.mark.parametrize("last", ["²", "٣", "-1", "", "1.5", "9" * 5000], ids=lambda last: last[:5])
def test_a_number_of_requests_is_digits(plain: Served, last: str) -> None:
    """Anything else after `last=` is the client's error."""
    response = plain.client.get("/truth/requests", params={"last": last})

    assert (response.status_code, response.json()["error"]["param"]) == (400, "last")
    assert plain.client.get("/truth/requests", params={"last": "999999999"}).status_code == 200


def test_a_client_that_leaves_stops_its_request(plain: Served) -> None:
    """Closing the connection frees the request's place, and it counts as aborted."""
    aborted = plain.client.get("/truth").json()["finished"]["abort"]
    with plain.client.stream("POST", "/v1/completions", json={**BODY, "max_tokens": 4000, "ignore_eos": True}) as response:
        next(response.iter_raw())
    deadline = time.monotonic() + END_S
    while plain.client.get("/truth").json()["finished"]["abort"] == aborted:
        assert time.monotonic() < deadline, "the request went on without its client"
        time.sleep(0.05)

    assert value(families(plain), "vllm:num_requests_running") == 0


def test_requests_share_the_steps() -> None:
    """Four at once are decoded together: far fewer steps than four answers one after the other have."""
    with served(prefix_caching=False) as engine:
        bodies = [json.dumps({**BODY, "max_tokens": 60, "ignore_eos": True}).encode() for _ in range(4)]
        port = int(engine.hello["url"].rsplit(":", 1)[1])
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in bodies]
        for connection, body in zip(connections, bodies, strict=True):
            head = f"POST /v1/completions HTTP/1.1\r\nHost: engine\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
        for connection in connections:
            while connection.recv(65536):
                pass
            connection.close()
        truth = engine.client.get("/truth").json()

    assert truth["emitted_tokens"] == 240
    assert truth["steps"] < 120


def test_faults_are_played() -> None:
    """A share of the requests is answered with an error, and the process ends when it was told to."""
    with served(faults={"error_share": 0.5, "exit_after_requests": 3}) as engine:
        statuses = [engine.client.post("/v1/completions", json={"prompt": "a", "max_tokens": 1}).status_code for _ in range(3)]
        assert statuses == [200, 500, 200]
        with pytest.raises(httpx.TransportError):
            engine.client.post("/v1/completions", json={"prompt": "a", "max_tokens": 1})
        assert engine.process.wait(END_S) == 70


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(signum: signal.Signals) -> None:
    """Even while an answer is on its way, and without a word on standard error."""
    with served() as engine, engine.client.stream("POST", "/v1/completions", json={**BODY, "max_tokens": 4000}) as response:
        next(response.iter_raw())
        engine.process.send_signal(signum)
        assert engine.process.wait(END_S) in (0, -signum)
        assert engine.process.stderr is not None
        assert engine.process.stderr.read() == ""


@pytest.mark.parametrize(("arguments", "code"), [(["{"], 64), (["[]"], 64), (['{"port": -1}'], 64), (["{}", "{}"], 64)], ids=str)
def test_bad_options_are_one_line(arguments: list[str], code: int) -> None:
    """What is wrong, on standard error, and the exit code of a wrong scenario."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)

    assert done.returncode == code
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_a_taken_port_is_one_line(plain: Served) -> None:
    """The address cannot be bound twice."""
    port = int(plain.hello["url"].rsplit(":", 1)[1])
    done = subprocess.run([*COMMAND, json.dumps({"port": port})], capture_output=True, text=True, check=False)

    assert done.returncode == 69
    assert str(port) in done.stderr
    assert len(done.stderr.splitlines()) == 1
