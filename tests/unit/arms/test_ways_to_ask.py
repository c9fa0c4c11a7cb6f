"""Endpoints that are asked in another way than most, over sockets: refused fields, redirects, paths, unlisted models."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from specbench.arms.arms import RunningArm
from specbench.arms.preflight import Way, first_way, tried, way_of
from specbench.doctor import doctor
from specbench.errors import RefusedError, UnreachableError
from specbench.load.parent import LoadGenerator
from specbench.model.scenario import Asking, Scenario
from specbench.probe.probe import ProbeRequest, as_text, probe
from specbench.prompts.corpora import documents
from specbench.prompts.sampler import PromptSource
from specbench.prompts.token_estimate import DEFAULT_ESTIMATOR
from specbench.telemetry.scrape import MetricsSource, moved_pages, scrape
from tests.support.captures import DONE, final_usage, finish, said
from tests.support.evidence import a_scenario, an_arm
from tests.support.goldens import same_text
from tests.support.raw_server import END, STREAM_HEAD, chunk, head
from tests.support.serving import serving, target_of, whole

WORDS = b"".join(map(chunk, [said("a "), said("b "), said("c "), finish()]))
GOOD = STREAM_HEAD + WORDS + chunk(final_usage(3)) + chunk(DONE) + END
UNTOLD = STREAM_HEAD + WORDS + chunk(DONE) + END
REFUSED = whole(b'{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}', status="422 Unprocessable Entity")
USUAL = "POST /v1/chat/completions"

Reply = Callable[[dict[str, Any]], bytes]


@dataclass
class Endpoint:
    """What each request (`POST /path`) is answered, and what was asked."""

    replies: dict[str, Reply | bytes]
    models: tuple[str, ...] = ("m",)
    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def handle(self, connection: socket.socket, request: bytes) -> None:
        """Answers one request."""
        target = target_of(request)
        body = json.loads(request.partition(b"\r\n\r\n")[2] or b"{}")
        with threading.Lock():
            self.asked.append((target, body))
        reply = self.replies.get(target)
        if reply is None and target == "GET /v1/models":
            reply = whole(json.dumps({"data": [{"id": model} for model in self.models]}).encode())
        if reply is None:
            reply = whole(b'{"detail":"Not Found"}', status="404 Not Found")
        connection.sendall(reply if isinstance(reply, bytes) else reply(body))

    def posts(self) -> list[str]:
        """The paths that were posted to, in order."""
        return [target.removeprefix("POST ") for target, _ in self.asked if target.startswith("POST")]


@contextmanager
def _up(endpoint: Endpoint) -> Iterator[Endpoint]:
    with serving(endpoint.handle) as url:
        endpoint.url = url
        yield endpoint


@pytest.fixture(scope="module")
def child() -> Iterator[LoadGenerator]:
    """One load generator for all of these."""
    with LoadGenerator() as started:
        yield started


def _scenario() -> Scenario:
    return a_scenario()


def _tried(child: LoadGenerator, endpoint: Endpoint, **arm: Any) -> tuple[Way, tuple[str, ...]]:
    """What the preflight finds of this endpoint, and the outcomes of its requests."""
    scenario = _scenario()
    ready = RunningArm(replace(an_arm(endpoint.url), engine="openai", **arm), endpoint.url, {})
    way = first_way(ready, "baseline")
    drawing = PromptSource(documents=documents("python"), unit=DEFAULT_ESTIMATOR, workload=scenario.workload, seed=1)
    found, records = tried(child, scenario, way_of(ready, way), "baseline", drawing, way)
    return found, tuple(record.outcome for record in records)


def _redirect(status: str, location: str) -> bytes:
    return head(f"Location: {location}", "Content-Length: 0", status=status)


def _without_options(body: dict[str, Any]) -> bytes:
    return REFUSED if body.get("stream_options") else UNTOLD


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Entity"])
def test_refused_stream_options_are_left_out(child: LoadGenerator, status: str) -> None:
    """N-14: once with them, then without, and a note."""

    def reply(body: dict[str, Any]) -> bytes:
        return whole(b'{"error":"unknown field"}', status=status) if "stream_options" in body else UNTOLD

    with _up(Endpoint({USUAL: reply})) as endpoint:
        way, outcomes = _tried(child, endpoint)

    assert (way.left_out, set(outcomes)) == (("stream_options",), {"ok"})
    same_text("refused options", *(note.replace(endpoint.url, "URL") for note in way.notes))
    assert way_of(RunningArm(an_arm("http://h"), "http://h", {}), way).arm.extra_body == {"stream_options": None}


def test_another_refusal_is_told_in_the_first_words(child: LoadGenerator) -> None:
    """Where leaving them out does not help, the answer to what was asked for counts."""
    reply = whole(b'{"error":"temperature must be 1"}', status="400 Bad Request")
    with _up(Endpoint({USUAL: reply})) as endpoint, pytest.raises(UnreachableError, match="temperature must be 1"):
        _tried(child, endpoint)


def test_a_null_of_ones_own_is_not_tried_again(child: LoadGenerator) -> None:
    """What the arm leaves out already cannot be the reason."""
    with _up(Endpoint({USUAL: REFUSED})) as endpoint, pytest.raises(UnreachableError):
        _tried(child, endpoint, extra_body={"stream_options": None})
    assert len(endpoint.posts()) == len(_scenario().workload.sampling)


@pytest.mark.parametrize("status", ["307 Temporary Redirect", "308 Permanent Redirect"])
@pytest.mark.parametrize("location", ["/v1/chat/completions/", "/gateway/a?b=1"])
def test_a_redirect_to_the_same_origin_is_followed_once(child: LoadGenerator, status: str, location: str) -> None:
    """The request goes there as it is, and from then on all do; noted."""
    with _up(Endpoint({USUAL: _redirect(status, location), f"POST {location}": GOOD})) as endpoint:
        way, outcomes = _tried(child, endpoint)

    assert (way.moved, set(outcomes)) == (location, {"ok"})
    assert way.notes == (f"arms.baseline: {endpoint.url} redirects requests to {location}",)
    assert endpoint.posts()[:2] == ["/v1/chat/completions", location]
    assert set(endpoint.posts()[1:]) == {location}
    assert [body["model"] for target, body in endpoint.asked if target.startswith("POST")] == ["m"] * len(endpoint.posts())


@pytest.mark.parametrize(
    ("status", "location"),
    [
        ("307 Temporary Redirect", "http://127.0.0.2:9/v1/chat/completions"),
        ("308 Permanent Redirect", "https://127.0.0.1/v1/chat/completions"),
        ("301 Moved Permanently", "/v1/chat/completions/"),
        ("302 Found", "/login"),
        ("303 See Other", "/v1/chat/completions/"),
        ("307 Temporary Redirect", "/v1/chat/completions"),
    ],
)
def test_other_redirects_are_refused_with_their_location(child: LoadGenerator, status: str, location: str) -> None:
    """Another origin may not see the request, another status means another request, and a circle is none."""
    replies: dict[str, Reply | bytes] = {USUAL: _redirect(status, location), "POST /v1/chat/completions/": GOOD}
    with _up(Endpoint(replies)) as endpoint, pytest.raises(UnreachableError) as refused:
        _tried(child, endpoint)

    assert f"HTTP {status[:3]}: redirects are not followed under load; use {location}" in str(refused.value)


@pytest.mark.parametrize(("asked", "listed"), [("llama3.2", "llama3.2:latest"), ("my-adapter", "base"), ("deployment", "gpt-5")])
def test_a_model_that_is_not_listed_is_tried(child: LoadGenerator, asked: str, listed: str) -> None:
    """N-25: the list is a hint; noted."""
    with _up(Endpoint({USUAL: GOOD}, models=(listed,))) as endpoint:
        way, outcomes = _tried(child, endpoint, model=asked)

    assert (way.model, set(outcomes)) == (asked, {"ok"})
    same_text(f"{asked} is not listed", *(note.replace(endpoint.url, "URL") for note in way.notes))


@pytest.mark.parametrize("status", ["404 Not Found", "400 Bad Request", "200 OK"])
def test_a_model_that_the_server_does_not_know_is_refused(child: LoadGenerator, status: str) -> None:
    """In the server's own words, beside what it lists."""
    reply = whole(b'{"error":{"message":"no such model"}}', "Content-Type: application/json", status=status)
    with _up(Endpoint({USUAL: reply}, models=("other",))) as endpoint, pytest.raises(RefusedError) as refused:
        _tried(child, endpoint)

    assert f"{endpoint.url} serves other, not m" in str(refused.value)
    assert "no such model" in str(refused.value)


def _probed(endpoint: Endpoint, **changes: Any) -> dict[str, Any]:
    order: dict[str, Any] = {
        "url": endpoint.url,
        "model": "m",
        "engine": "openai",
        "concurrency": 1,
        "requests": 2,
        "max_tokens": 9,
    }
    return probe(ProbeRequest(**(order | changes)))


def test_a_probe_asks_where_and_how_it_is_told() -> None:
    """N-16: a path with a query and no list of models, another name of the limit, a field left out and one added."""
    asking = Asking(path="/chat?v=1", limit_key="max_completion_tokens", extra_body={"temperature": None, "k": 1})
    with _up(Endpoint({"POST /api/v4/chat?v=1": GOOD}, models=())) as endpoint:
        told = _probed(endpoint, url=endpoint.url + "/api/v4", asking=asking, engine=None)
    bodies = [body for target, body in endpoint.asked if target.startswith("POST")]

    assert (told["requests"]["by_outcome"], told["engine"], "notes" in told) == ({"ok": 2}, "openai", False)
    assert [sorted(body) for body in bodies] == [
        ["k", "max_completion_tokens", "messages", "model", "stream", "stream_options"]
    ] * 2


def test_a_probe_leaves_out_what_is_refused_and_follows_a_redirect() -> None:
    """And says so."""
    moved = _redirect("307 Temporary Redirect", "/other")
    with _up(Endpoint({USUAL: moved, "POST /other": _without_options, "GET /metrics": moved})) as endpoint:
        told = _probed(endpoint)

    assert (told["requests"]["by_outcome"], told["flags"]["redirected"]) == ({"ok": 2}, 2)
    assert [note.split(" ", 1)[1].split(", so")[0] for note in told["notes"]] == [
        "refuses stream_options",
        "redirects requests to /other",
    ]
    assert "note: " in as_text(told)


def test_a_doctor_asks_in_the_same_ways() -> None:
    """A whole URL is pasted; the model is listed beside it."""
    replies: dict[str, Reply | bytes] = {
        "GET /openai/models?v=1": whole(b'{"data":[{"id":"m"}]}'),
        "POST /openai/chat/completions?v=1": _without_options,
    }
    with _up(Endpoint(replies, models=())) as endpoint:
        diagnosis = doctor(f"{endpoint.url}/openai/chat/completions?v=1", asking=Asking(limit_key="max_new_tokens"))
    bodies = [body for target, body in endpoint.asked if target.startswith("POST")]

    assert dict(diagnosis.facts)["model"] == "m"
    assert "no_stream_options" in [symptom.id for symptom in diagnosis.symptoms]
    assert all("max_new_tokens" in body and "max_tokens" not in body for body in bodies)


def test_metrics_are_read_where_they_redirect_to() -> None:
    """Once, within the origin; anything else is named with its location."""
    samples = whole(b"vllm:num_requests_running 0\n")
    replies: dict[str, Reply | bytes] = {
        "GET /metrics": _redirect("307 Temporary Redirect", "/metrics/"),
        "GET /metrics/": samples,
        "GET /away": _redirect("308 Permanent Redirect", "http://127.0.0.2:9/metrics"),
        "GET /found": _redirect("302 Found", "/metrics/"),
        "GET /twice": _redirect("307 Temporary Redirect", "/metrics"),
    }
    with _up(Endpoint(replies)) as endpoint:
        pages = scrape(MetricsSource(urls=tuple((endpoint.url + path, {}) for path in ("/metrics", "/away", "/found", "/twice"))))
    absent = [page.absent for page in pages.pages]

    assert moved_pages(pages)[0] == f"{endpoint.url}/metrics redirects to {endpoint.url}/metrics/; metrics are read there"
    assert pages.pages[0].url == f"{endpoint.url}/metrics"
    assert absent[0] is None
    assert [str(reason).split(":", 1)[0] for reason in absent[1:]] == ["http_308", "http_302", "http_307"]
    assert "'http://127.0.0.2:9/metrics'; name its address as metrics_url" in str(absent[1])


def test_what_a_proxy_in_front_of_an_engine_refuses_is_left_out(child: LoadGenerator) -> None:
    """It knows no field of the engine behind it: asked without all of them, and the engine stays known."""

    def reply(body: dict[str, Any]) -> bytes:
        return REFUSED if "return_token_ids" in body or "stream_options" in body else UNTOLD

    with _up(Endpoint({USUAL: reply})) as endpoint:
        scenario = _scenario()
        ready = RunningArm(replace(an_arm(endpoint.url), engine="vllm"), endpoint.url, {})
        drawing = PromptSource(documents=documents("python"), unit=DEFAULT_ESTIMATOR, workload=scenario.workload, seed=1)
        way, records = tried(child, scenario, ready, "baseline", drawing, Way("m"))

    assert (way.left_out, {record.outcome for record in records}) == (("return_token_ids", "stream_options"), {"ok"})


@pytest.mark.parametrize(
    ("owner", "named", "engine"), [("vllm", None, "vllm"), ("somebody", None, "openai"), ("vllm", "sglang", "sglang")]
)
def test_an_engine_that_is_not_named_is_recognised(owner: str, named: str | None, engine: str) -> None:
    """By what the endpoint says of itself; a name in the scenario stands."""
    listed = json.dumps({"object": "list", "data": [{"id": "m", "owned_by": owner}]}).encode()
    replies: dict[str, Reply | bytes] = {"GET /v1/models": whole(listed, "Content-Type: application/json")}
    with _up(Endpoint(replies)) as endpoint:
        arm = replace(an_arm(endpoint.url), engine=named or "openai", recognise=named is None)
        ready = RunningArm(arm, endpoint.url, {})
        found = way_of(ready, first_way(ready, "baseline")).arm.engine

    assert found == engine


def test_a_probe_takes_the_only_model_that_is_served() -> None:
    """As `run` and `doctor` do; of several it asks which."""
    with _up(Endpoint({USUAL: GOOD}, models=("alone",))) as endpoint:
        _probed(endpoint, model=None)
        assert {body["model"] for target, body in endpoint.asked if target.startswith("POST")} == {"alone"}
    with (
        _up(Endpoint({USUAL: GOOD}, models=("a", "b"))) as endpoint,
        pytest.raises(RefusedError, match=r"lists 2 models .*--model"),
    ):
        _probed(endpoint, model=None)
