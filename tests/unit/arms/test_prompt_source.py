"""What a run's prompts are drawn from: the dataset in its bins, counted by the endpoint that is to serve it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from specbench.arms.arms import RunningArm
from specbench.arms.prompt_source import prompt_source
from specbench.errors import DataError
from specbench.model.data.datasets import DatasetReading
from specbench.prompts.sampler import prompt
from tests.support.answering import Table, answering
from tests.support.datasets import lines, one_bin, workload
from tests.support.evidence import a_scenario, an_arm

FIFTY = (200, json.dumps({"tokens": list(range(50))}))


def test_the_endpoints_own_count_places_the_rows_whatever_the_file_recorded(tmp_path: Path) -> None:
    """Fifty tokens for each text by the endpoint, 9 by a record of another model; the census and its notes come along."""
    rows = [{"prompt": f"question {number}", "usage": {"prompt_tokens": 9}} for number in range(40)]
    path = lines(tmp_path / "d.jsonl", rows)
    scenario = replace(a_scenario([4]), path=str(tmp_path / "s.yaml"), workload=workload(one_bin(45, 55)))
    with answering(Table({"/tokenize": FIFTY})) as table:
        ready = RunningArm(replace(an_arm(table.url), engine="llamacpp"), table.url, {})
        drawing = prompt_source(scenario, ready)

    assert drawing.census is not None
    assert (drawing.census.counted, drawing.census.sampled, drawing.census.counted_exactly) == ("the endpoint", {"all": 40}, 40)
    assert path.name in drawing.notes[0]
    assert prompt(drawing, "x", None, None, 0).text.startswith("question ")


def test_an_endpoint_that_does_not_count_leaves_it_to_the_record_and_then_to_estimates(tmp_path: Path) -> None:
    """Forty records of 9 tokens are enough to measure by; without any the reader is warned."""
    scenario = replace(a_scenario([4]), path=str(tmp_path / "s.yaml"), workload=workload(one_bin(1, 50)))
    ready = RunningArm(an_arm("http://127.0.0.1:9"), "http://127.0.0.1:9", {})
    recorded = [{"prompt": f"question {number}", "usage": {"prompt_tokens": 9}} for number in range(40)]

    lines(tmp_path / "d.jsonl", recorded)
    assert prompt_source(scenario, ready).census.counted == "the file's own record"  # type: ignore[union-attr]
    lines(tmp_path / "d.jsonl", [{"prompt": row["prompt"]} for row in recorded])
    assert any(note.startswith("lengths_estimated: ") for note in prompt_source(scenario, ready).notes)


def test_a_tokenizer_that_is_named_and_missing_is_one_line(tmp_path: Path) -> None:
    """Where the endpoint counts, it is not even opened."""
    lines(tmp_path / "d.jsonl", [{"prompt": f"question {number}"} for number in range(40)])
    named = workload(one_bin(1, 99), reading=DatasetReading(tokenizer="absent.json"))
    scenario = replace(a_scenario([4]), path=str(tmp_path / "s.yaml"), workload=named)
    with answering(Table({"/tokenize": FIFTY})) as table:
        counting = RunningArm(replace(an_arm(table.url), engine="llamacpp"), table.url, {})
        assert prompt_source(scenario, counting).census is not None
    with pytest.raises(DataError, match=r"absent\.json: (cannot be read|to count with a tokenizer)"):
        prompt_source(scenario, RunningArm(an_arm("http://127.0.0.1:9"), "http://127.0.0.1:9", {}))
