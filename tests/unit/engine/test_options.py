"""Options are checked before anything is started, in one line that names the key."""

from typing import Any

import pytest

from specbench.engine.options import (
    TABLE,
    EngineOptions,
    Speculation,
    VerifierFaults,
    lookahead_of,
    options_of,
    speculation_of,
    tree_nodes,
)
from specbench.errors import ScenarioError

TREE = {"method": "heads", "num_speculative_tokens": 2, "tree": [2, 2]}


def test_nothing_asked_is_the_default() -> None:
    """A loopback engine without speculation on any free port."""
    assert options_of({}) == EngineOptions()
    assert (EngineOptions().host, EngineOptions().port, EngineOptions().speculative) == ("127.0.0.1", 0, None)


def test_everything_can_be_asked() -> None:
    """Each key reaches its field."""
    asked: dict[str, Any] = {
        "host": "::1",
        "port": 8000,
        "model": "m",
        "corpus": "prose",
        "speculative": {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_min": 1, "prompt_lookup_max": 2},
        "slow_by": 0.3,
        "times_as_fast": 10.0,
        "kv_capacity_tokens": 4096,
        "max_model_len": 2048,
        "max_num_seqs": 4,
        "max_num_batched_tokens": 512,
        "prefix_caching": False,
        "seed": 5,
        "jitter_nats": 0.1,
        "faults": {"error_share": 0.5, "exit_after_requests": 3, "garble_tool_call": 0.25},
    }
    options = options_of(asked)

    assert {name: getattr(options, name) for name in asked if name not in ("speculative", "faults")} == {
        name: value for name, value in asked.items() if name not in ("speculative", "faults")
    }
    assert options.speculative == Speculation(
        method="ngram", num_speculative_tokens=3, draft_sampling="greedy", prompt_lookup_min=1, prompt_lookup_max=2
    )
    assert dict(options.faults) == asked["faults"]


@pytest.mark.parametrize(
    ("mapping", "key"),
    [
        ({"prot": 1}, "prot"),
        ({"port": "80"}, "port"),
        ({"port": 70000}, "port"),
        ({"port": True}, "port"),
        ({"model": ""}, "model"),
        ({"corpus": "latin"}, "corpus"),
        ({"slow_by": -0.1}, "slow_by"),
        ({"slow_by": "30%"}, "slow_by"),
        ({"times_as_fast": 0.5}, "times_as_fast"),
        ({"prefix_caching": "no"}, "prefix_caching"),
        ({"kv_capacity_tokens": 1000}, "kv_capacity_tokens"),
        ({"faults": {"flood": 1}}, "faults.flood"),
        ({"faults": ["error_share"]}, "faults"),
        ({"faults": {"garble_tool_call": 2}}, "faults.garble_tool_call"),
        ({"faults": {"verifier": "late"}}, "faults.verifier"),
        ({"faults": {"verifier": {"sloppy": 1}}}, "faults.verifier.sloppy"),
        ({"faults": {"verifier": {"lost_token": 5}}}, "faults.verifier.lost_token"),
        ({"faults": {"verifier": {"lenient": -1}}}, "faults.verifier.lenient"),
        ({"faults": {"verifier": {"no_residual": 1}}}, "faults.verifier.no_residual"),
        ({"faults": {"verifier": {"temperature": 0}}}, "faults.verifier.temperature"),
        ({"faults": {"verifier": {"temperature": float("nan")}}}, "faults.verifier.temperature"),
        ({"faults": {"verifier": {"from_batch": 0}}}, "faults.verifier.from_batch"),
        ({"faults": {"verifier": {"late": True}}}, "faults.verifier.late"),
        ({"faults": {"verifier": {"equality": True}}, "speculative": TREE}, "faults.verifier.equality"),
        ({"jitter_nats": -0.1}, "jitter_nats"),
        ({"jitter_nats": True}, "jitter_nats"),
        ({"speculative": "ngram"}, "speculative"),
        ({"speculative": {TABLE: []}}, f"speculative.{TABLE}"),
        ({"speculative": {TABLE: [[1, 4]]}}, f"speculative.{TABLE}"),
        ({"speculative": {TABLE: [[2, 4, 1]]}}, f"speculative.{TABLE}"),
        ({"speculative": {TABLE: [[1, 4, 2], [4, 8, 1]]}}, f"speculative.{TABLE}"),
        ({"speculative": {TABLE: [[4, 1, 2]]}}, f"speculative.{TABLE}"),
        ({"speculative": {TABLE: [[1, 4, 3]], "num_speculative_tokens": 2}}, f"speculative.{TABLE}"),
        ({"speculative": {TABLE: [[1, 4, 2]], "method": "heads"}}, f"speculative.{TABLE}"),
        ({"speculative": {"method": "eagle"}}, "speculative.method"),
        ({"speculative": {"gamma": 4}}, "speculative.gamma"),
        ({"speculative": {"num_speculative_tokens": 9}}, "speculative.num_speculative_tokens"),
        ({"speculative": {"draft_sampling": "nucleus"}}, "speculative.draft_sampling"),
        ({"speculative": {"method": "ngram", "draft_sampling": "sampled"}}, "speculative.draft_sampling"),
        ({"speculative": {"prompt_lookup_max": 4}}, "speculative.prompt_lookup_max"),
        ({"speculative": {"method": "ngram", "prompt_lookup_min": 5}}, "speculative.prompt_lookup_min"),
        ({"speculative": {"method": "heads", "num_speculative_tokens": 3, "tree": [2, 2]}}, "speculative.tree"),
        ({"speculative": {"method": "heads", "num_speculative_tokens": 3, "tree": [8, 8, 8]}}, "speculative.tree"),
        ({"speculative": {"method": "heads", "num_speculative_tokens": 1, "tree": [0]}}, "speculative.tree"),
        ({"speculative": {"method": "heads", "num_speculative_tokens": 1, "tree": 3}}, "speculative.tree"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(mapping: dict[str, Any], key: str) -> None:
    """One line that begins with the key."""
    with pytest.raises(ScenarioError) as caught:
        options_of(mapping)

    assert str(caught.value).startswith(f"{key}:")
    assert "\n" not in str(caught.value)


def test_rules_to_break_are_read() -> None:
    """Each by its name; what is left out is kept."""
    faults = {"verifier": {"lost_token": 0.05, "lenient": 5, "late": True, "relaxed": 0.5, "from_batch": 4}}
    options = options_of({"speculative": {}, "faults": faults})

    assert options.faults["verifier"] == VerifierFaults(lost_token=0.05, lenient=5.0, late=True, relaxed=0.5, from_batch=4)
    assert options_of({"faults": {"verifier": {"lost_token": 0.05}}}).faults["verifier"].lost_token == 0.05
    assert options_of({"faults": {"verifier": {"lenient": 3}}, "speculative": TREE}).faults["verifier"].lenient == 3.0


@pytest.mark.parametrize(
    ("speculative", "drafts"),
    [
        (None, 0),
        ({"method": "ngram", "num_speculative_tokens": 8}, 8),
        ({"method": "heads", "num_speculative_tokens": 3, "tree": [4, 3, 3]}, 52),
    ],
    ids=str,
)
def test_what_one_request_may_draft(speculative: dict[str, Any] | None, drafts: int) -> None:
    """A chain has as many tokens as it is deep; a tree has 4 + 4 * 3 + 4 * 3 * 3."""
    assert lookahead_of(options_of({"speculative": speculative}).speculative) == drafts


def test_a_step_holds_a_request_with_its_drafts() -> None:
    """One token and the 52 of the tree fit in a budget of 53; one of 52 would be exceeded by every step."""
    tree = {"method": "heads", "num_speculative_tokens": 3, "tree": [4, 3, 3]}

    assert options_of({"speculative": tree, "max_num_batched_tokens": 53}).max_num_batched_tokens == 53
    with pytest.raises(ScenarioError, match=r"^max_num_batched_tokens: 52 cannot hold one token and its 52 drafted ones;"):
        options_of({"speculative": tree, "max_num_batched_tokens": 52})


def test_a_tree_is_of_best_guesses() -> None:
    """Heads that draft a tree do not draw."""
    assert speculation_of({"method": "heads", "num_speculative_tokens": 2, "tree": [3, 2]}).draft_sampling == "greedy"
    assert speculation_of({"method": "heads", "num_speculative_tokens": 2}).draft_sampling == "sampled"


def test_a_tree_has_all_its_paths() -> None:
    """3 + 3 * 2 + 3 * 2 * 1."""
    assert tree_nodes((3, 2, 1)) == 15
