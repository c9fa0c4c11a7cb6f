"""The prompts that are asked after the load: both samplings alike at each load, and each pair remembers its own."""

import json
from collections import Counter
from typing import Any

from specbench.answers.more_answers import Answered, MorePrompts, more_prompts, pairs_of
from specbench.model.answers.kept_pairs import GeneratedAnswer
from specbench.model.result import PerArm
from specbench.model.scenario import Scenario
from specbench.prompts.dataset.row import Row
from specbench.prompts.sampler import PromptSource
from specbench.prompts.token_estimate import TokenEstimator
from tests.support.scenarios import code

MISSING = {"greedy": 64, "sampled": 64}


def more(scenario: Scenario, loads: tuple[int, ...]) -> MorePrompts:
    """The prompts, of a dataset of two rows."""
    rows = {one.name: (Row(f"{one.name} 1"), Row(f"{one.name} 2")) for one in scenario.workload.bins}
    drawing = PromptSource(documents=(), unit=TokenEstimator(1.0, measured=True), workload=scenario.workload, seed=0, rows=rows)
    return more_prompts(scenario, drawing, loads, MISSING)


def test_both_samplings_are_asked_alike_at_each_load() -> None:
    """8 prompts of each at 1 and at 4 streams, 48 at 16, numbered in the order in which they are asked, the lowest load first."""
    found = more(code(), (1, 4, 16))

    assert Counter(zip(found.streams, (one.sampling.name for one in found.prompts), strict=True)) == {
        **{(load, name): 8 for load in (1, 4) for name in MISSING},
        **{(16, name): 48 for name in MISSING},
    }
    assert list(found.streams) == sorted(found.streams)
    assert [one.index for one in found.prompts] == list(range(128))


def test_a_prompt_rests_on_its_number_not_on_the_loads() -> None:
    """The same texts, whether one load is asked or three."""
    at_one, at_three = more(code(), (16,)), more(code(), (1, 4, 16))

    def texts(found: MorePrompts) -> Counter[tuple[str, str, int]]:
        return Counter((one.sampling.name, one.text, one.max_tokens) for one in found.prompts)

    assert texts(at_one) == texts(at_three)


def test_a_pair_of_answers_keeps_the_load_at_which_it_was_asked() -> None:
    """Of the first prompt and of the last, which both arms answered; what one arm left out is no pair."""
    found = more(code(), (1, 4, 16))
    answered: dict[int, Answered] = {index: an_answer() for index in (0, 5, 127)}
    pairs = pairs_of(code(), found, PerArm(answered, {index: an_answer() for index in (0, 127)}))

    assert [(kept.index, kept.concurrency) for kept, _ in pairs] == [(0, 1), (127, 16)]
    assert json.loads(pairs[0][0].body)["prompt"] == found.prompts[0].text


def an_answer() -> Any:
    """An answer; of its record nothing is read here."""
    return None, GeneratedAnswer(text="a", content="a", finish_reason="stop", tokens=1)
