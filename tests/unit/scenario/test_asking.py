"""How an endpoint is asked: its path with a query, whole URLs as they are pasted, the limit's name, fields left out."""

import json
from typing import Any

import pytest

from specbench.errors import ScenarioError
from specbench.model.scenario import Arm, Asking
from specbench.net.urls import address_fault, asked_path, base_url, models_path, redirect_target
from specbench.prompts.request_body import as_body
from specbench.scenario.asking import asking_of, check_asking, limit_fault, path_fault
from specbench.scenario.overrides import Overrides
from specbench.scenario.parse import parse_scenario

USUAL = "/v1/chat/completions"
SCENARIO = """
name: asked
arms:
  baseline: {url: "http://h:1", BASELINE}
  speculative: {url: "http://h:2"}
workload:
  source: {corpus: python}
  bins: [{name: a, input_tokens: [8, 16], output_tokens: [8, 16]}]
"""


def _baseline(more: str = "model: m", **overrides: Any) -> Arm:
    return parse_scenario(SCENARIO.replace("BASELINE", more), "s.yaml", Overrides(**overrides)).baseline


@pytest.mark.parametrize(
    ("url", "path", "asked"),
    [
        ("http://h:8000", None, "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1/", None, "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1/chat/completions", None, "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1/chat/completions/", None, "http://h:8000/v1/chat/completions/"),
        ("http://h/api/paas/v4/chat/completions", None, "http://h/api/paas/v4/chat/completions"),
        ("http://h/api/paas/v4", "/chat/completions", "http://h/api/paas/v4/chat/completions"),
        ("http://h/v1beta/openai/", "/chat/completions", "http://h/v1beta/openai/chat/completions"),
        ("http://h/v1", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1", "/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h", "/generate", "http://h/generate"),
        (
            "https://h/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
            None,
            "https://h/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
        ),
        (
            "https://h/openai/deployments/gpt",
            "/chat/completions?api-version=2024-10-21",
            "https://h/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
        ),
    ],
)
def test_an_endpoint_is_asked_where_it_is(url: str, path: str | None, asked: str) -> None:
    """N-16: with or without `/v1`, with a path of its own, or as it was pasted."""
    assert address_fault(url) is None
    assert base_url(url) + asked_path(url, path, USUAL) == asked
    check_asking(url, Asking(path=path))


def test_a_pasted_url_is_an_arm_with_a_path() -> None:
    """In the file or on the command line; the arm's address is what metrics and models stand beside."""
    pasted = "https://h/openai/deployments/gpt/chat/completions?api-version=1"
    arm = _baseline(baseline_url=pasted)

    assert (arm.url, arm.path) == ("https://h/openai/deployments/gpt", "/chat/completions?api-version=1")
    assert (_baseline("path: /chat/completions").path, _baseline().path) == ("/chat/completions", None)
    assert _baseline(baseline_url="http://h:1/v1/chat/completions").url == "http://h:1/v1"


@pytest.mark.parametrize(
    ("more", "overrides", "message"),
    [
        ("path: chat", {}, "s.yaml:4: arms.baseline.path: must start with one /"),
        ("path: //other/x", {}, "arms.baseline.path: must start with one /"),
        ("path: '/a b'", {}, "arms.baseline.path: must start with one /"),
        ("path: '/a#b'", {}, "arms.baseline.path: must start with one /"),
        ("path: '/x?api-key=sk-1'", {}, "arms.baseline.path: holds what looks like a secret in its query"),
        (
            "path: /v1/completions",
            {},
            "arms.baseline.path: the path /v1/completions is that of completions, and workload.route is",
        ),
        ("path: /x", {"baseline_url": "http://h/v1/chat/completions"}, "arms.baseline.path: the url names a path already"),
        (
            "model: m",
            {"baseline_url": "http://h/v1/completions"},
            "--baseline: the path /completions is that of completions",
        ),
        ("model: m", {"baseline_url": "http://h/chat/completions?key=sk-1"}, "--baseline: holds what looks like a secret"),
        ("limit_key: max tokens", {}, "arms.baseline.limit_key: must be the name of a field of its own"),
        ("limit_key: stream", {}, "arms.baseline.limit_key: must be the name of a field of its own"),
    ],
)
def test_what_cannot_be_asked_is_one_line(more: str, overrides: dict[str, Any], message: str) -> None:
    """With file, line and key, and without the secret."""
    with pytest.raises(ScenarioError) as refused:
        _baseline(more, **overrides)
    assert message in str(refused.value)
    assert "sk-1" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_query_belongs_to_the_path() -> None:
    """N-16 (b): the message does not take it for a key alone."""
    assert "it belongs to the path (path:, or --path)" in str(address_fault("https://h/openai?api-version=2024-10-21"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "x"}, "--path: must start with one /"),
        ({"path": "/x?token=sk-1"}, "--path: holds what looks like a secret"),
        ({"limit_key": "a b"}, "--limit-key: must be the name of a field"),
        ({"limit_key": "messages"}, "--limit-key: must be the name of a field"),
        ({"extra_body": "{"}, "--extra-body: not JSON"),
        ({"extra_body": "[1]"}, "--extra-body: a JSON object is needed"),
        ({"extra_body": '{"a": NaN}'}, "--extra-body: not JSON: NaN is no number of JSON"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(arguments: dict[str, str], message: str) -> None:
    """By its name, without repeating a value."""
    with pytest.raises(ScenarioError) as refused:
        asking_of(**arguments)
    assert str(refused.value).startswith(message)
    assert "sk-1" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h/v1/completions", None),
        ("http://h", "/v1/completions?a=1"),
        ("http://h/chat/completions", "/x"),
        ("http://h/chat/completions?sig=1", None),
    ],
)
def test_a_chat_is_not_asked_for_elsewhere(url: str, path: str | None) -> None:
    """By `probe` and `doctor`, which ask for chats."""
    with pytest.raises(ScenarioError):
        check_asking(url, Asking(path=path))


def test_options_say_how_to_ask() -> None:
    """All three, or none."""
    asked = asking_of("/x?a=1", "max_completion_tokens", '{"stream_options": null, "k": 1}')

    assert (asked.path, asked.limit_key, asked.extra_body) == (
        "/x?a=1",
        "max_completion_tokens",
        {"stream_options": None, "k": 1},
    )
    assert asking_of() == Asking()
    assert (path_fault("/a?b=c&d=/e"), limit_fault("max_completion_tokens"), limit_fault("n_predict")) == (None, None, None)


def test_null_leaves_a_field_out() -> None:
    """N-14: at the top; inside a field it is that field's own."""
    fields = {"model": "m", "temperature": 0, "stream_options": {"include_usage": True}}
    body = as_body(fields, Asking(extra_body={"stream_options": None, "temperature": None, "a": {"b": None}}))

    assert json.loads(body) == {"model": "m", "a": {"b": None}}


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        ("/v1/chat/completions", "/v1/models"),
        ("/chat/completions", "/models"),
        ("/v1/completions/", "/v1/models"),
        ("/chat/completions?api-version=1", "/models?api-version=1"),
        ("/generate", "/v1/models"),
        ("/v1/models", "/v1/models"),
    ],
)
def test_models_are_listed_beside_the_route(asked: str, listed: str) -> None:
    """With the same query."""
    assert models_path(asked) == listed


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/v2/chat", "http://h:80/v2/chat"),
        ("http://h/v1/x/", "http://h/v1/x/"),
        ("x/?a=1#b", "http://h:80/v1/x/?a=1"),
        ("//h/y", "http://h/y"),
        ("https://h/v1/x", None),
        ("http://h:81/x", None),
        ("http://other/x", None),
        ("http://me@h/x", None),
        ("/a b", None),
        ("http://[x", None),
        ("/\u00e9", None),
        ("mailto:x", None),
    ],
)
def test_a_redirect_is_followed_within_its_origin_alone(location: str, target: str | None) -> None:
    """Another scheme, host or port may not see the key."""
    assert redirect_target("http://h:80/v1/chat", location) == target
