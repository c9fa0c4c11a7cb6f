"""An endpoint is recognised and described from its own answers, and from what the scenario declares of it."""

import json
from dataclasses import replace

from specbench.model.scenario import Arm
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import PROBE_TEXT, ServedEndpoint, endpoint_of, get_all, recognise
from tests.support.answering import Table, answering
from tests.support.evidence import an_arm
from tests.support.scrapes import recorded

LLAMACPP = {
    path: (200, recorded(f"llamacpp-ngram-{name}.txt"))
    for path, name in (
        ("/props", "props"),
        ("/slots", "slots"),
        ("/v1/models", "v1_models"),
        ("/metrics", "metrics"),
        ("/tokenize", "tokenize"),
    )
}


def arm(**declare: str) -> Arm:
    """A speculative arm that declares this."""
    return replace(an_arm(), engine="llamacpp", model=None, declare=declare)


def test_a_recorded_llamacpp_describes_itself() -> None:
    """Facts as read, the tokenizer by the ids of a fixed text, the rest as declared or not."""
    with answering(Table(LLAMACPP)) as table:
        served = ServedEndpoint(table.url, {"Authorization": "Bearer k"}, "smollm2")
        endpoint = endpoint_of("speculative", arm(revision="v2", context_length="1"), served, ENGINES["llamacpp"])

    assert (endpoint.arm, endpoint.model, endpoint.engine, endpoint.engine_version) == (
        "speculative",
        "smollm2",
        "llamacpp",
        "b0-unknown",
    )
    assert endpoint.facts["speculation"] == "on"
    assert endpoint.facts["context_length"] == "4096"
    assert endpoint.facts["tokenizer"].startswith("9 ids ")
    assert (endpoint.sources["tokenizer"], endpoint.sources["engine"], endpoint.sources["revision"]) == (
        "read",
        "read",
        "declared",
    )
    assert endpoint.sources["prefix_caching"] == "not declared"
    assert {headers["authorization"] for _, headers, _ in table.asked} == {"Bearer k"}
    assert json.loads(next(body for path, _, body in table.asked if path == "/tokenize")) == {"content": PROBE_TEXT}


def test_an_endpoint_that_is_not_what_the_scenario_says_is_taken_at_its_word() -> None:
    """The engine is then declared, not read, and what is asked for is the model."""
    with answering(Table({"/v1/models": (200, '{"data": [{"id": "m", "owned_by": "somebody"}]}')})) as table:
        endpoint = endpoint_of("baseline", arm(), ServedEndpoint(table.url, {}, "m"), ENGINES["llamacpp"])

    assert (endpoint.facts["engine"], endpoint.sources["engine"]) == ("llamacpp", "declared")
    assert endpoint.facts["model"] == "m"
    assert "tokenizer" not in endpoint.facts


def test_an_engine_is_recognised_over_http() -> None:
    """From the answers of one endpoint to every engine's paths."""
    with answering(Table(LLAMACPP)) as table:
        found = recognise(table.url, {})

    assert found is ENGINES["llamacpp"]


def test_an_endpoint_that_is_down_is_asked_once() -> None:
    """A dozen paths would otherwise wait for a dozen time-outs."""
    answers = get_all("http://127.0.0.1:9", {}, ["/version", "/v1/models", "/metrics"])

    assert list(answers) == ["/version"]
    assert not answers["/version"].connected


def test_nobody_is_nobody() -> None:
    """An endpoint that is down, or no model server at all, is not recognised."""
    assert recognise("http://127.0.0.1:9", {}) is None
    with answering(Table({"/": (200, "hello")})) as table:
        assert recognise(table.url, {}) is None
