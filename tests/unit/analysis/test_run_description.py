"""What a result repeats of its scenario."""

from dataclasses import replace

from specbench.analysis.run_description import config_of, run_info
from specbench.model.run_info import Config
from specbench.model.scenario import Sampling
from tests.support.evidence import NONE, a_scenario, evidence

SCENARIO = a_scenario([1], pairs=2)


def _config(**workload: object) -> Config:
    scenario = replace(SCENARIO, workload=replace(SCENARIO.workload, **workload))  # type: ignore[arg-type]  # any field of it
    return config_of(evidence(NONE, scenario, requests=1), ())


def test_whole_numbers_of_the_sampling_keep_their_digits() -> None:
    """A seed that is rounded is another seed."""
    sampled = Sampling(name="sampled", temperature=0.8, top_p=0.95, top_k=40, seed=1234567)
    assert _config(sampling=(sampled,)).sampling == ("sampled (temperature 0.8, top_p 0.95, top_k 40, seed 1234567)",)
    greedy = Sampling(name="greedy", temperature=0.0, top_p=None, top_k=None, seed=None)
    assert _config(sampling=(greedy,)).sampling == ("greedy (temperature 0)",)


def test_where_prompts_come_from_is_a_field_and_no_phrase() -> None:
    """A file may be named like the corpus."""
    corpus, named_so = _config(corpus="python", dataset=None), _config(dataset="the built-in corpus.jsonl")
    assert (corpus.built_in, corpus.source) == (True, "the built-in corpus python")
    assert (named_so.built_in, named_so.source) == (False, "the built-in corpus.jsonl")


def test_whether_answers_end_by_themselves_is_told() -> None:
    """Natural or forced, as the scenario asks."""
    assert (_config().length, _config(length="forced").length) == ("natural", "forced")


def test_the_words_of_the_command_line_go_into_the_result() -> None:
    """So that a report can name the command that asks the same again."""
    asked = replace(SCENARIO, flags=("--set", "matrix.pairs=2"))
    assert run_info(evidence(NONE, asked, requests=1)).flags == ("--set", "matrix.pairs=2")
