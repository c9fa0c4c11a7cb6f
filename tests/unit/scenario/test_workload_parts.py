"""Sessions hold the dataset's answers or the arm's own; where its own cannot stand the scenario is refused in one line."""

import pytest

from specbench.errors import ScenarioError
from specbench.model.scenario import Scenario, Sessions
from specbench.scenario.parse import Overrides, parse_scenario
from specbench.tune.candidates import TuneRequest, candidates_of

TEXT = """\
name: talks
arms:
  baseline: {engine: embedded}
  speculative: {engine: embedded, speculative: {method: draft_model, num_speculative_tokens: 4}}
workload:
  source: {dataset: talks.jsonl, turns: each}
  sessions: {turns: [2, 3], history: own}
  bins: [{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}]
"""
ROUTE, HISTORY, FIELDS = "workload.route", "workload.sessions.history", "arms.baseline.extra_body"


def talks(*settings: tuple[str, str]) -> Scenario:
    """The scenario with these settings."""
    return parse_scenario(TEXT, "s.yaml", Overrides(settings=settings))


def test_the_history_is_the_datasets_unless_it_is_the_arms_own() -> None:
    """Which the workload knows of itself."""
    own, recorded, plain = talks(), talks((HISTORY, "dataset")), talks(("workload.sessions", "{}"))

    assert own.workload.sessions == Sessions(turns=(2, 3), think_s=(1.0, 8.0), history="own")
    assert [one.workload.own_history for one in (own, recorded, plain)] == [True, False, False]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (((ROUTE, "completions"),), f"s.yaml:7: {HISTORY}: is own, and only chat has answers among its messages"),
        (((FIELDS, "{messages: []}"),), f"{FIELDS}.messages: leaves no place for the arm's own answers"),
        (((HISTORY, "mine"),), f"{HISTORY}: must be 'dataset' or 'own' (it is 'mine')"),
        ((("workload.source", "{corpus: python}"),), "workload.sessions: sends conversations of a dataset"),
    ],
)
def test_where_own_answers_cannot_stand_is_one_line(settings: tuple[tuple[str, str], ...], said: str) -> None:
    """With the key; with recorded answers the first two are sent."""
    with pytest.raises(ScenarioError) as refused:
        talks(*settings)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    if settings[0][0] in (ROUTE, FIELDS):
        assert not talks(*settings, (HISTORY, "dataset")).workload.own_history


def test_a_tune_needs_one_list_of_prompts() -> None:
    """Candidates with histories of their own are refused before anything is started."""
    request = TuneRequest(content=TEXT, path="s.yaml", overrides=Overrides(), vary="num_speculative_tokens=1,2")
    with pytest.raises(ScenarioError, match=f"s.yaml: {HISTORY}: candidates need the same prompts"):
        candidates_of(request)

    recorded = Overrides(settings=((HISTORY, "dataset"),))
    assert (
        len(candidates_of(TuneRequest(content=TEXT, path="s.yaml", overrides=recorded, vary="num_speculative_tokens=1,2"))) == 2
    )
