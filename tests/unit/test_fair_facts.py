"""Arms that differ in more than the change under test are told apart from those that differ by it."""

from collections.abc import Mapping

import pytest

from specbench.arms.comparability import comparison_notes, contradictions
from specbench.model.facts import FactPair, compare
from specbench.model.records import Endpoint
from specbench.telemetry.endpoint_facts import with_sources

READ = {
    "model": "m",
    "context_length": "4096",
    "prefix_caching": "on",
    "engine": "vllm",
    "speculation": "off",
    "kv_capacity_tokens": "100",
}


def endpoint(declared: Mapping[str, str] | None = None, /, **changed: str | None) -> Endpoint:
    """An endpoint that tells READ, but for what is changed; None for what it does not tell."""
    read = {name: value for name, value in (READ | changed).items() if value is not None}
    facts, sources = with_sources(read, declared or {})
    return Endpoint(arm="speculative", url="u", model="m", engine="vllm", engine_version=None, facts=facts, sources=sources)


def differing(baseline: Endpoint, speculative: Endpoint, *accepted: str) -> list[FactPair]:
    """The differences that make a comparison unfair."""
    return [fact for fact in compare(baseline.facts, speculative.facts, accepted) if fact.state == "differs"]


def states(baseline: Endpoint, speculative: Endpoint) -> dict[str, str]:
    """What each fact means, where either arm tells it or both should."""
    facts = compare(baseline.facts, speculative.facts)
    return {fact.name: fact.state for fact in facts if fact.state != "may differ" or fact.baseline or fact.speculative}


def warnings_of(baseline: Endpoint, speculative: Endpoint, *accepted: str) -> list[str]:
    """What to know of the two besides refusals."""
    return comparison_notes(compare(baseline.facts, speculative.facts, accepted), accepted)


def test_the_treatment_s_own_marks_refuse_nothing() -> None:
    """Speculation and fewer KV blocks are what is under test."""
    treated = endpoint(speculation="on", kv_capacity_tokens="80")

    assert differing(endpoint(), treated) == []
    shown = [name for name, state in states(endpoint(), treated).items() if state == "may differ"]
    assert shown == ["speculation", "kv_capacity_tokens"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "other"), ("context_length", "2048"), ("prefix_caching", "off"), ("engine", "sglang")],
)
def test_another_model_context_or_cache_is_refused(name: str, value: str) -> None:
    """Unless the scenario accepts that difference by its name."""
    baseline, speculative = endpoint(), endpoint(**{"speculation": "on", name: value})

    assert [fact.name for fact in differing(baseline, speculative)] == [name]
    assert differing(baseline, speculative, name) == []
    assert differing(baseline, speculative, "revision") != []


def test_a_fact_that_one_arm_does_not_tell_is_a_warning() -> None:
    """Never a refusal: nobody knows whether it differs."""
    silent = endpoint(prefix_caching=None, speculation="on")

    assert differing(endpoint(), silent) == []
    assert states(endpoint(), silent)["prefix_caching"] == "not known"
    assert any("prefix_caching" in warning for warning in warnings_of(endpoint(), silent))


def test_a_declared_fact_is_compared_as_a_read_one() -> None:
    """Two declared revisions that differ are a stated difference."""
    baseline, speculative = endpoint({"revision": "a"}), endpoint({"revision": "b"}, speculation="on")

    assert [fact.name for fact in differing(baseline, speculative)] == ["revision"]
    assert baseline.sources["revision"] == "declared"


def test_a_fact_of_the_user_s_own_and_the_place_are_shown_only() -> None:
    """The verdict weighs another place; a remark decides nothing."""
    baseline = endpoint({"hardware": "H100", "rack": "7"})
    elsewhere = endpoint({"hardware": "A100", "rack": "8"}, speculation="on")

    assert differing(baseline, elsewhere) == []
    assert {states(baseline, elsewhere)[name] for name in ("hardware", "rack")} == {"may differ"}


@pytest.mark.parametrize(
    ("baseline", "speculative", "words"),
    [
        ("on", "off", "the arms are not swapped"),
        ("off", "off", "off in both arms"),
        ("on", "on", "on in both arms"),
        ("off", "on", None),
    ],
)
def test_arms_that_speculate_unexpectedly_are_remarked(baseline: str, speculative: str, words: str | None) -> None:
    """A swap, or an A/A that was not meant as one."""
    warnings = warnings_of(endpoint(speculation=baseline), endpoint(speculation=speculative))
    about = [warning for warning in warnings if "speculat" in warning.lower()]

    assert (words is None and about == []) or (words is not None and words in about[0])


def test_an_accepted_difference_that_does_not_exist_is_remarked() -> None:
    """A name that was mistyped, or a difference that is gone."""
    warnings = warnings_of(endpoint(), endpoint(speculation="on"), "context_length", "quantisation")

    assert "Accepted differences that do not exist: context_length, quantisation" in warnings


def test_a_declaration_that_the_endpoint_contradicts_is_said() -> None:
    """The endpoint's word holds, and the scenario's author hears of it."""
    declared = {"context_length": "8192", "revision": "r", "model": "m"}

    assert contradictions(endpoint(declared), declared) == (
        "arms.speculative.declare.context_length: declared 8192, but the endpoint reports 4096",
    )


def test_swapping_the_arms_swaps_nothing_but_the_sides() -> None:
    """The same names are refused, whichever arm is which."""
    one, other = endpoint(context_length="1"), endpoint(speculation="on", model="x")

    assert [fact.name for fact in differing(one, other)] == [fact.name for fact in differing(other, one)] != []
