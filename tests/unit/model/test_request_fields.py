"""Where the bodies of the two arms' requests differ, and by which hash two runs of one file are told apart."""

from dataclasses import replace
from typing import Any

import pytest

from specbench.model.request_fields import differing_fields, refused_fields, resolved_sha256
from specbench.model.scenario import Sampling, Scenario
from tests.support.evidence import a_scenario, an_arm


def asked(baseline: dict[str, Any], speculative: dict[str, Any], **changes: Any) -> Scenario:
    """A scenario whose arms add these fields to their requests, at temperature 0."""
    one, other = (replace(an_arm(), extra_body=body) for body in (baseline, speculative))
    return a_scenario([1], baseline=one, speculative=other, **changes)


@pytest.mark.parametrize(
    ("baseline", "speculative", "fields"),
    [
        ({}, {"temperature": 0.7}, ("temperature",)),
        ({}, {"temperature": 0}, ()),  # as both are asked anyway
        ({}, {"top_p": None}, ()),  # nobody sends it
        ({}, {"stream_options": None}, ("stream_options",)),  # which engines are asked besides
        ({"model": "a"}, {"model": "b"}, ("model",)),
        ({"priority": 1}, {"priority": 1.0}, ()),
        ({"draft": 1}, {"draft": True}, ("draft",)),
        ({"stop": ["a", "b"]}, {"stop": ["a"]}, ("stop",)),
        ({"stop": ["a"]}, {"stop": ["a"]}, ()),
        ({"kwargs": {"a": 1, "b": {"c": 2}}}, {"kwargs": {"a": 1, "b": {"c": 3, "d": 4}}}, ("kwargs.b.c", "kwargs.b.d")),
        ({"list": [{"a": 1}]}, {"list": [{"a": 2}]}, ("list",)),
    ],
)
def test_the_fields_that_differ_are_those_that_a_server_sees(
    baseline: dict[str, Any], speculative: dict[str, Any], fields: tuple[str, ...]
) -> None:
    """Whatever their depth; what says the same is no difference."""
    assert differing_fields(asked(baseline, speculative)) == fields
    assert differing_fields(asked(speculative, baseline)) == fields


def test_a_field_that_equals_one_sampling_alone_differs() -> None:
    """Two settings take turns: a fixed temperature is another one for half of the requests."""
    plain = asked({}, {"temperature": 0})
    hot = Sampling(name="hot", temperature=0.8, top_p=None, top_k=None, seed=None)
    both = replace(plain, workload=replace(plain.workload, sampling=(*plain.workload.sampling, hot)))

    assert differing_fields(both) == ("temperature",)


def test_another_name_for_the_token_limit_is_a_difference() -> None:
    """A server that does not know the name limits nothing."""
    renamed = replace(an_arm(), limit_key="max_completion_tokens")

    assert differing_fields(a_scenario([1], baseline=an_arm(), speculative=renamed)) == ("max_completion_tokens", "max_tokens")


@pytest.mark.parametrize("accepted", ["kwargs", "kwargs.b", "kwargs.b.c", "extra_body", "extra_body.kwargs.b"])
def test_a_field_is_accepted_by_its_name_or_by_one_that_holds_it(accepted: str) -> None:
    """The beginning of a name is another name."""
    scenario = asked({"kwargs": {"b": {"c": 1}}}, {"kwargs": {"b": {"c": 2}}}, accept_differences=(accepted,))

    assert refused_fields(scenario) == ()
    assert refused_fields(replace(scenario, accept_differences=("kw", "kwargs.b.cc"))) == ("kwargs.b.c",)


def test_a_resolved_scenario_has_a_hash_of_its_own() -> None:
    """What the command line changed shows in it; a comment of the file, its place and the words that changed it do not."""
    scenario = a_scenario([1])

    assert resolved_sha256(scenario) == resolved_sha256(
        replace(scenario, sha256="1" * 64, path="other.yaml", flags=("--set", "x"))
    )
    assert resolved_sha256(scenario) != resolved_sha256(replace(scenario, seed=2))
    assert resolved_sha256(scenario) != resolved_sha256(replace(scenario, speculative=an_arm("http://h:1")))
