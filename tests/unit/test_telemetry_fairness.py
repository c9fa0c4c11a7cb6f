"""Arms that differ in more than the change under test are told apart from those that differ by it."""

from collections.abc import Mapping

import pytest

from specbench.model.seen import Endpoint
from specbench.telemetry.facts import with_sources
from specbench.telemetry.fairness import contradictions, differences

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


def test_the_treatment_s_own_marks_refuse_nothing() -> None:
    """Speculation and fewer KV blocks are what is under test."""
    fairness = differences(endpoint(), endpoint(speculation="on", kv_capacity_tokens="80"))

    assert fairness.refusals == ()
    assert {fact.name for fact in fairness.follows if fact.baseline != fact.speculative} == {"speculation", "kv_capacity_tokens"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "other"), ("context_length", "2048"), ("prefix_caching", "off"), ("engine", "sglang")],
)
def test_another_model_context_or_cache_is_refused(name: str, value: str) -> None:
    """Unless the scenario accepts that difference by its name."""
    baseline, speculative = endpoint(), endpoint(**{"speculation": "on", name: value})

    assert [fact.name for fact in differences(baseline, speculative).refusals] == [name]
    assert differences(baseline, speculative, [name]).refusals == ()
    assert differences(baseline, speculative, ["revision"]).refusals != ()


def test_a_fact_that_one_arm_does_not_tell_is_a_warning() -> None:
    """Never a refusal: nobody knows whether it differs."""
    fairness = differences(endpoint(), endpoint(prefix_caching=None, speculation="on"))

    assert fairness.refusals == ()
    assert "prefix_caching" in {fact.name for fact in fairness.unknown}
    assert any("prefix_caching" in warning for warning in fairness.warnings)


def test_a_declared_fact_is_compared_as_a_read_one() -> None:
    """Two declared revisions that differ are a stated difference."""
    baseline, speculative = endpoint({"revision": "a"}), endpoint({"revision": "b"}, speculation="on")

    assert [(fact.name, fact.baseline_source) for fact in differences(baseline, speculative).refusals] == [
        ("revision", "declared")
    ]
    assert "revision" not in {fact.name for fact in differences(baseline, speculative).unknown}


def test_a_fact_of_the_user_s_own_and_the_place_are_shown_only() -> None:
    """The verdict weighs another place; a remark decides nothing."""
    baseline = endpoint({"hardware": "H100", "rack": "7"})
    fairness = differences(baseline, endpoint({"hardware": "A100", "rack": "8"}, speculation="on"))

    assert fairness.refusals == ()
    assert {"hardware", "rack"} <= {fact.name for fact in fairness.follows}


@pytest.mark.parametrize(
    ("baseline", "speculative", "words"),
    [
        ("on", "off", "are the arms swapped"),
        ("off", "off", "off in both arms"),
        ("on", "on", "on in both arms"),
        ("off", "on", None),
    ],
)
def test_arms_that_speculate_unexpectedly_are_remarked(baseline: str, speculative: str, words: str | None) -> None:
    """A swap, or an A/A that was not meant as one."""
    warnings = differences(endpoint(speculation=baseline), endpoint(speculation=speculative)).warnings
    about = [warning for warning in warnings if "speculat" in warning.lower()]

    assert (words is None and about == []) or (words is not None and words in about[0])


def test_an_accepted_difference_that_does_not_exist_is_remarked() -> None:
    """A name that was mistyped, or a difference that is gone."""
    warnings = differences(endpoint(), endpoint(speculation="on"), ["context_length", "quantisation"]).warnings

    assert "Accepted differences that do not exist: context_length, quantisation" in warnings


def test_a_declaration_that_the_endpoint_contradicts_is_said() -> None:
    """The endpoint's word holds, and the scenario's author hears of it."""
    declared = {"context_length": "8192", "revision": "r", "model": "m"}

    assert contradictions(endpoint(declared), declared) == (
        "arms.speculative.declare.context_length: declared 8192, but the endpoint says 4096",
    )


def test_swapping_the_arms_swaps_nothing_but_the_sides() -> None:
    """The same names are refused, whichever arm is which."""
    one, other = endpoint(context_length="1"), endpoint(speculation="on", model="x")

    assert {fact.name for fact in differences(one, other).refusals} == {fact.name for fact in differences(other, one).refusals}
