"""A route sends enabled slices to the speculative arm, and everything else to the baseline."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from specbench.errors import ScenarioError
from specbench.export.http_routes import HEADER, RouteBackends, backend, http_route, route_remarks
from specbench.export.yaml_text import yaml_text
from specbench.model.result import Result
from specbench.report.formats.policy import policy_of
from tests.support.gateway_api import faults, shares
from tests.support.goldens import same_text
from tests.support.results import capped, every_verdict, promote, rollback, sliced, slices_with_a_cap

SPEC, BASE = "vllm-spec", "vllm-base"


def route_of(result: Result, weight: int = 100, allow_capped: bool = False) -> Any:
    """The route as a reader of its YAML has it, which the schema takes."""
    backends = RouteBackends(speculative=backend(f"{SPEC}:8000", "-"), baseline=backend(f"{BASE}:8000", "-"), weight=weight)
    policy = policy_of(result, allow_capped)
    text = yaml_text(http_route(policy, backends, "code", "gateway"), route_remarks(policy, demonstration=False))
    route = yaml.safe_load(text)
    assert faults(route) == []
    return route


def test_a_promoted_run_sends_its_share_of_all_traffic() -> None:
    """Ten of a hundred as a canary, whatever a request says; all of it without a weight."""
    assert shares(route_of(promote(), weight=10), {}) == {SPEC: 0.1, BASE: 0.9}
    assert shares(route_of(promote()), {HEADER: "any"}) == {SPEC: 1.0}


def test_only_slices_that_may_be_switched_on_leave_the_baseline() -> None:
    """A slice by its header; one that does harm, an unknown one and none at all stay."""
    route = route_of(sliced(), weight=25)

    assert shares(route, {HEADER: "complete/greedy"}) == {SPEC: 0.25, BASE: 0.75}
    for headers in ({HEADER: "creative/greedy"}, {HEADER: "complete"}, {}):
        assert shares(route, headers) == {BASE: 1.0}


def test_a_cap_that_no_run_confirmed_is_not_routed_unless_it_is_allowed() -> None:
    """Of two slices one has such a cap; a cap itself is a remark, never a rule."""
    result = slices_with_a_cap("PROMOTE", "CAPPED")

    assert shares(route_of(result), {HEADER: "complete/greedy"}) == {SPEC: 1.0}
    assert shares(route_of(result), {HEADER: "complete/sampled"}) == {BASE: 1.0}
    assert shares(route_of(result, allow_capped=True), {HEADER: "complete/sampled"}) == {SPEC: 1.0}
    assert shares(route_of(capped()), {}) == {BASE: 1.0}
    same_text("remarks on a cap", *route_remarks(policy_of(result), demonstration=False))
    same_text("remarks on an allowed cap", *route_remarks(policy_of(capped(), allow_capped=True), demonstration=True))


@pytest.mark.parametrize("word", ["ROLLBACK", "HOLD", "INVALID"])
def test_what_is_not_switched_on_goes_to_the_baseline_alone(word: str) -> None:
    """The speculative arm is not even named."""
    result = {str(verdict): made for verdict, made in every_verdict().items()}[word]
    route = route_of(result, allow_capped=True)

    assert shares(route, {HEADER: "complete/greedy"}) == {BASE: 1.0}
    assert SPEC not in str(route)


def test_the_remarks_of_a_rollback_say_where_traffic_goes() -> None:
    """In the golden file."""
    same_text("remarks on a rollback", *route_remarks(policy_of(rollback()), demonstration=False))


def test_many_slices_share_rules_and_keep_their_arms() -> None:
    """A route holds sixteen rules; two slices of one name in the header are refused."""
    made = slices_with_a_cap("PROMOTE")
    many = replace(made, slices=tuple(replace(made.slices[0], bin=f"band {n}") for n in range(40)))
    route = route_of(many)

    assert {str(shares(route, {HEADER: f"band-{n}/greedy"})) for n in range(40)} == {str({SPEC: 1.0})}
    twice = replace(made, slices=tuple(replace(made.slices[0], bin=name) for name in ("a b", "a-b")))
    with pytest.raises(ScenarioError, match="a-b/greedy"):
        route_of(twice)


def test_backends_are_services_or_pools() -> None:
    """A port that is none, a name that is none, a pool with a port."""
    assert backend("vllm:8000", "-") == {"name": "vllm", "port": 8000}
    assert backend("InferencePool/vllm", "-") == {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "vllm"}
    for wrong in ("vllm", "vllm:0", "vllm:70000", "VLLM:80", "InferencePool/vllm:80", "http://vllm:80", ""):
        with pytest.raises(ScenarioError):
            backend(wrong, "-")
