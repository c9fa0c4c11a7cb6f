"""What the texts of both arms have in common."""

from dataclasses import replace

from specbench.analysis.answers.answer_texts import answer_texts
from specbench.analysis.cells import cells_of
from specbench.analysis.judge import judge
from specbench.model.records import RequestRecord, RunData
from specbench.model.scenario import Sampling, Scenario
from specbench.model.shown import AnswerTexts
from specbench.report.view.cells import cell_view
from specbench.report.view.load_tables import load_tables
from tests.support.evidence import Answer, a_scenario, an_arm, literal_run

PROMPTS = 4


def _run(scenario: Scenario, *speculative: str) -> RunData:
    """One pair of blocks: the baseline's greedy answers have the texts a, b, c, d, of 11 tokens and 44 characters each."""

    def answers(texts: tuple[str, ...], chars: int) -> list[Answer]:
        return [Answer(e2e_ms=300.0, fields={"text_sha256": text, "text_chars": chars}) for text in texts]

    return literal_run(scenario, [answers(("a", "b", "c", "d"), 44)], [answers(speculative, 22)])


def _found(run: RunData) -> AnswerTexts:
    (cell,) = cells_of(run)
    return answer_texts(cell, run.manifest.scenario)


def test_texts_are_compared_prompt_by_prompt() -> None:
    """Two of four are the same, and an arm needs half the characters a token."""
    assert _found(_run(a_scenario([4], pairs=1), "a", "x", "b", "d")) == AnswerTexts(
        characters_per_token_baseline=4.0, characters_per_token_speculative=2.0, greedy_compared=4, greedy_same=2
    )


def test_only_good_greedy_answers_have_texts_to_compare() -> None:
    """A failed one has none, one that was sampled may differ, and behind one URL prompts carry the salt of their block."""
    run = _run(a_scenario([4], pairs=1), "a", "b", "c", "d")
    sampled = Sampling(name="sampled", temperature=0.8, top_p=None, top_k=None, seed=None)

    def changed(record: RequestRecord) -> RequestRecord:
        return replace(record, outcome="http_error") if record.index == 0 else replace(record, sampling="sampled")

    scenario = run.manifest.scenario
    both = replace(scenario, workload=replace(scenario.workload, sampling=(*scenario.workload.sampling, sampled)))
    mixed = [record if record.index > 1 else changed(record) for record in run.records]
    odd = replace(run, manifest=replace(run.manifest, scenario=both), records=tuple(mixed))
    gateway = an_arm("http://gateway/v1")
    one_url = _run(a_scenario([4], pairs=1, baseline=gateway, speculative=gateway), "a", "b", "c", "d")

    assert (_found(odd).greedy_compared, _found(odd).greedy_same) == (2, 2)
    assert (_found(one_url).greedy_compared, _found(one_url).characters_per_token_baseline) == (0, 4.0)


def test_they_are_in_the_result_and_beside_the_counts() -> None:
    """Finish reasons are counts already."""
    result = judge(_run(a_scenario([4], pairs=1), "a", "x", "b", "d"), "0")
    rows = {row.label: (row.baseline, row.speculative) for row in cell_view(result.cells[0], load_tables(result)[0], 0).counts}

    assert result.cells[0].answers is not None
    assert rows["characters per token"] == ("4.00", "2.00")
    assert ("2 of 4", "2 of 4") in rows.values()
    assert rows["finish: stop"] == ("4", "4")
