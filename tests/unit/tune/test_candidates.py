"""What a tune tries: one key varied or whole proposers, and everything that is more than one change is refused in one line."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.engine.options import MOST_DRAFTED
from specbench.errors import ScenarioError
from specbench.scenario.parse import Overrides
from specbench.tune.candidates import EMBEDDED_MOST, TuneRequest, candidates_of, check_launches, scenario_of
from tests.support.goldens import same_text

TEXT = Path("scenarios/tune.yaml").read_text()
SHIPPED = TuneRequest(content=TEXT, path="tune.yaml", overrides=Overrides())
LAUNCHED = """
name: launched
arms:
  baseline: {engine: vllm, launch: {model: org/m}}
  speculative: {engine: vllm, launch: {model: org/m%s}, speculative: {method: ngram, num_speculative_tokens: 4}}
workload: {source: {corpus: python}, bins: [{name: a, input_tokens: [8, 16], output_tokens: [8, 16]}]}
tune: {%s}
"""


def _launched(more: str = "", tune: str = "vary: {num_speculative_tokens: [1, 2]}") -> TuneRequest:
    return TuneRequest(content=LAUNCHED % (more, tune), path="launched.yaml", overrides=Overrides())


def _tried(request: TuneRequest) -> list[tuple[str, int]]:
    return [(one.name, one.depth) for one in candidates_of(request)]


def test_the_shipped_scenario_tries_four_depths() -> None:
    """By rising depth; off is tried anyway, and is no candidate of the scenario."""
    assert _tried(SHIPPED) == [("depth-1", 1), ("depth-2", 2), ("depth-4", 4), ("depth-8", 8)]


def test_the_command_line_takes_the_place_of_the_scenario() -> None:
    """Another key keeps the scenario's depth; numbers are numbers."""
    assert _tried(replace(SHIPPED, vary="num_speculative_tokens=5,3")) == [("depth-3", 3), ("depth-5", 5)]
    ngram = replace(SHIPPED, vary="prompt_lookup_max=3,5", base={"method": "ngram", "num_speculative_tokens": 2})
    assert [one.speculative for one in candidates_of(ngram)] == [
        {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 3},
        {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 5},
    ]
    assert [name for name, _ in _tried(ngram)] == ["prompt_lookup_max-3", "prompt_lookup_max-5"]


def test_whole_proposers_bring_their_own_depths() -> None:
    """A list of depths is a candidate each; two of one method and depth have names of their own."""
    request = _launched(
        tune="candidates: [{method: ngram, num_speculative_tokens: [2, 4]},"
        " {method: ngram, num_speculative_tokens: 4, prompt_lookup_max: 8}, {method: suffix}]"
    )

    assert _tried(request) == [("suffix-own", 0), ("ngram-2", 2), ("ngram-4", 4), ("ngram-4-2", 4)]


def test_a_candidate_is_a_scenario_of_its_own() -> None:
    """Its depth is in the block and in the command, each engine is started anew, and a table of the scenario is left out."""
    candidate = candidates_of(_launched())[1]
    scenario = scenario_of(_launched(), candidate, 12)

    assert scenario.speculative.speculative == {"method": "ngram", "num_speculative_tokens": 2}
    assert scenario.speculative.launch is not None
    assert '"num_speculative_tokens":2' in scenario.speculative.launch.command[-1]
    assert (scenario.matrix.schedule, scenario.matrix.pairs, scenario.tune) == ("restart", 12, None)


BAD = {
    "batching": replace(SHIPPED, vary="max_num_seqs=8,16"),
    "flag of llama.cpp": replace(SHIPPED, vary="-np=8,16"),
    "two keys": replace(SHIPPED, vary="num_speculative_tokens=1,prompt_lookup_max=2"),
    "one candidate": replace(SHIPPED, vary="num_speculative_tokens=2"),
    "doubles": replace(SHIPPED, vary="num_speculative_tokens=2,4,2"),
    "depth 0": replace(SHIPPED, vary="num_speculative_tokens=0,2"),
    "no number": replace(SHIPPED, vary="num_speculative_tokens=deep,2"),
    "too deep": replace(SHIPPED, vary="num_speculative_tokens=2,9"),
    "no values": replace(SHIPPED, vary="num_speculative_tokens="),
    "two keys of the scenario": _launched(tune="vary: {num_speculative_tokens: [1, 2], prompt_lookup_max: [2, 3]}"),
    "both forms": _launched(tune="vary: {num_speculative_tokens: [1, 2]}, candidates: [{method: suffix}]"),
    "nothing": _launched(tune=""),
    "a url": replace(SHIPPED, overrides=Overrides(baseline_url="http://a", speculative_url="http://b")),
    "a rate": replace(SHIPPED, overrides=Overrides(settings=(("matrix.rate", "[2]"),))),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_more_than_one_change_is_refused(name: str) -> None:
    """One line: what, where, what to try."""
    with pytest.raises(ScenarioError) as refused:
        candidates_of(BAD[name])

    same_text(name, str(refused.value))


@pytest.mark.parametrize(
    "more", [", arguments: [--max-num-seqs, '8']", ", env: {VLLM_USE_V1: '0'}", ", gpu: '1'"], ids=["words", "variables", "gpu"]
)
def test_arms_that_are_started_unlike_beyond_speculation_are_refused(more: str) -> None:
    """The baseline's command is the candidate's without the words that make it draft."""
    check_launches([scenario_of(_launched(), one, 4) for one in candidates_of(_launched())])
    with pytest.raises(ScenarioError, match=r"arms\.speculative\.launch: one change at a time"):
        check_launches([scenario_of(_launched(more), one, 4) for one in candidates_of(_launched(more))])


def test_a_command_that_takes_no_depth_is_refused() -> None:
    """A command of one's own starts every candidate alike."""
    content = TEXT.replace("{engine: embedded}", "{engine: vllm, launch: {command: [serve, '{port}']}}").replace(
        "engine: embedded, speculative", "engine: vllm, launch: {command: [serve, '{port}', --draft]}, speculative"
    )
    request = replace(SHIPPED, content=content)
    with pytest.raises(ScenarioError, match="is the same for every candidate"):
        check_launches([scenario_of(request, one, 4) for one in candidates_of(request)])


def test_embedded_arms_that_differ_in_options_are_refused_but_for_faults() -> None:
    """A fault is played by one arm; room in the cache is not speculation."""

    def checked(options: str) -> None:
        request = replace(SHIPPED, overrides=Overrides(settings=(("arms.speculative.options", options),)))
        check_launches([scenario_of(request, one, 4) for one in candidates_of(request)])

    checked("{faults: {ignore_schedule: 1}}")
    with pytest.raises(ScenarioError, match=r"arms\.speculative\.options"):
        checked("{prefix_caching: false}")


def test_the_deepest_draft_is_the_embedded_engines_own() -> None:
    """`tune` may not import the engine, so the number is held here."""
    assert EMBEDDED_MOST == MOST_DRAFTED
