"""Facts are texts under known names, with where each is from."""

import pytest

from specbench.model.facts import FACTS
from specbench.telemetry.endpoint_facts import (
    about,
    as_facts,
    fingerprint,
    first_model,
    model_names,
    source_name,
    token_ids,
    with_sources,
)
from tests.support.scrapes import answer


def test_facts_are_texts_and_what_is_not_told_is_no_fact() -> None:
    """Booleans read on and off; None and empty texts are left out."""
    assert as_facts(prefix_caching=True, speculation=False, context_length=4096, revision=None, speculation_config="") == {
        "prefix_caching": "on",
        "speculation": "off",
        "context_length": "4096",
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/models/a/Llama-3-8B/", "Llama-3-8B"),
        ("models/smollm2.gguf", "smollm2.gguf"),
        ("meta-llama/Llama-3-8B", "meta-llama/Llama-3-8B"),
        ("./out/model", "model"),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_weights_are_named_alike_wherever_they_lie(path: object, name: str | None) -> None:
    """A folder differs between machines, a repository's name does not."""
    assert source_name(path) == name


def test_what_is_read_beats_what_is_declared() -> None:
    """And what is neither has no value."""
    facts, sources = with_sources({"model": "a"}, {"model": "b", "revision": "r", "rack": "7"})

    assert facts == {"model": "a", "revision": "r", "rack": "7"}
    assert (sources["model"], sources["revision"], sources["rack"], sources["tokenizer"]) == (
        "read",
        "declared",
        "declared",
        "not declared",
    )
    assert set(FACTS) <= set(sources)


@pytest.mark.parametrize(
    ("found", "ids"),
    [
        ({"count": 2, "max_model_len": 9, "tokens": [1, 2]}, (1, 2)),
        ({"tokens": [{"id": 1, "piece": "a"}, {"id": 2, "piece": "b"}]}, (1, 2)),
        ([{"id": 1, "text": "a", "start": 0, "stop": 1}, {"id": 2, "text": "b", "start": 1, "stop": 2}], (1, 2)),
        ({"tokens": ["a"]}, None),
        ({"tokens": []}, None),
        ({"error": "x"}, None),
        (None, None),
    ],
)
def test_ids_are_found_in_each_engine_s_answer(found: object, ids: tuple[int, ...] | None) -> None:
    """vLLM and SGLang, llama.cpp, TGI; anything else has none."""
    assert token_ids(found) == ids


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"data": []}', '{"data": ["m"]}', '{"data": {"id": "m"}}', "<html>"])
def test_a_list_of_models_of_another_shape_has_no_first(body: str) -> None:
    """Whatever an endpoint answers, reading it does not fail."""
    assert first_model({"/v1/models": answer(body)}) == {}
    assert first_model({}) == {}


def test_the_model_that_is_asked_for_is_the_one_described() -> None:
    """An endpoint may list several; one that is not listed leaves the list as it is."""
    answers = {"/v1/models": answer('{"data": [{"id": "base"}, {"id": "tuned", "root": "/x/tuned"}]}'), "/metrics": answer("a 1")}

    assert first_model(about(answers, "tuned")) == {"id": "tuned", "root": "/x/tuned"}
    assert first_model(about(answers, "other")) == {"id": "base"}
    assert about(answers, "tuned")["/metrics"] == answers["/metrics"]


def test_a_fingerprint_differs_where_texts_do() -> None:
    """Twelve digits, stable over runs."""
    assert fingerprint("a") == "ca978112ca1b"
    assert fingerprint("a") != fingerprint("b")


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ('{"data": [{"id": "a"}, {"name": "b"}, 3, {"id": "c"}]}', ["a", "c"]),
        ('{"data": 5}', []),
        ('{"data": null}', []),
        ("[1]", []),
        ("<html>", []),
    ],
)
def test_the_names_of_models_are_those_that_are_listed(page: str, names: list[str]) -> None:
    """Whatever the endpoint answers."""
    assert model_names({"/v1/models": answer(page)}) == names
    assert model_names({}) == []
