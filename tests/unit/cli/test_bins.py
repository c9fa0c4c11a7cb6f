"""`specbench bins`, and what `plan` says of a dataset: from a file to a scenario that takes it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from specbench.cli.main import app
from specbench.errors import DataError, ScenarioError
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.answering import Table, answering
from tests.support.datasets import lines


def rows(count: int = 2_000) -> list[dict[str, Any]]:
    """A log in which code is long and chat is short."""
    rng = random.Random(1)

    def text(words: int) -> str:
        return " ".join(str(rng.randrange(10_000)) for _ in range(words))

    return [{"prompt": text(rng.randrange(100, 200)), "task": "code"} for _ in range(count // 2)] + [
        {"prompt": text(rng.randrange(5, 15)), "task": "chat"} for _ in range(count // 2)
    ]


def bins(*words: str) -> Any:
    """The finished command."""
    return CliRunner().invoke(app, ["bins", *words])


def test_the_block_goes_to_stdout_and_takes_its_own_dataset(tmp_path: Path) -> None:
    """Shares as they were proposed, within 0.01, and hardly a row outside, when a scenario with the block is planned."""
    path = lines(tmp_path / "log.jsonl", rows())
    done = bins(str(path))
    block = done.stdout
    head = "name: s\narms:\n  baseline: {url: 'http://localhost:1'}\n  speculative: {url: 'http://localhost:2'}\n"
    scenario = parse_scenario(head + block, str(tmp_path / "s.yaml"), Overrides())
    again = json.loads(bins(str(path), "--json", "-").stdout)
    counts = again["census"]["bins"]

    assert block.startswith("workload:\n  source:\n")
    assert len(scenario.workload.bins) == 2
    assert scenario.workload.reading.sha256 == again["census"]["sha256"]
    assert {band.name: band.weight for band in scenario.workload.bins} == {
        name: pytest.approx(count / sum(counts.values()), abs=0.01) for name, count in counts.items()
    }
    assert sum(again["census"]["outside"].values()) <= 0.025 * 2_000
    assert "prompt" in done.stderr
    assert not any(row["prompt"] in done.output for row in rows())


def test_a_whole_scenario_is_one_that_plan_takes(tmp_path: Path) -> None:
    """With bins of each label, the dataset named from where the scenario lies, and each bin's rows in the plan."""
    (tmp_path / "data").mkdir()
    path, out = lines(tmp_path / "data" / "log.jsonl", rows()), tmp_path / "log.yaml"
    done = bins(str(path), "--label", "task", "--output-tokens", "8:16", "-o", str(out))
    planned = CliRunner().invoke(app, ["plan", str(out), "--profile", "smoke"])

    assert done.exit_code == 0, done.output
    assert "dataset: data/log.jsonl" in out.read_text()
    assert [word for word in ("label: [code]", "label: [chat]", "output_tokens: [8, 16]") if word not in out.read_text()] == []
    assert planned.exit_code == 0, planned.output
    assert "code-" in planned.stderr
    assert isinstance(bins(str(path), "-o", str(out)).exception, DataError)


def test_a_plan_refuses_what_a_run_would(tmp_path: Path) -> None:
    """A dataset that is not there, and a bin with fewer rows than streams, before any server is started."""
    out = tmp_path / "log.yaml"
    path = lines(tmp_path / "log.jsonl", rows())
    bins(str(path), "-o", str(out))
    path.unlink()
    assert "cannot be read" in str(CliRunner().invoke(app, ["plan", str(out)]).exception)
    few = lines(tmp_path / "few.jsonl", rows(12))
    bins(str(few), "-o", str(tmp_path / "few.yaml"))
    refused = CliRunner().invoke(app, ["plan", str(tmp_path / "few.yaml"), "--set", "matrix.concurrency=[1, 16]"]).exception

    assert isinstance(refused, DataError)
    assert "largest load needs 16" in str(refused)


def test_an_endpoint_counts_and_one_that_does_not_is_named(tmp_path: Path) -> None:
    """llama.cpp's way to count; a plain endpoint has none, and lengths are estimates."""
    path = lines(tmp_path / "log.jsonl", rows(20))
    answers = {
        "/v1/models": (200, json.dumps({"data": [{"id": "m", "owned_by": "llamacpp"}]})),
        "/props": (200, json.dumps({"default_generation_settings": {}, "build_info": "b1", "total_slots": 1})),
        "/tokenize": (200, json.dumps({"tokens": list(range(50))})),
    }
    with answering(Table(answers)) as table:
        counted = json.loads(bins(str(path), "--endpoint", table.url, "--json", "-").stdout)["census"]
    with answering(Table({"/v1/models": answers["/v1/models"]})) as table:
        done = bins(str(path), "--endpoint", table.url, "--json", "-")

    assert (counted["counted"], counted["counted_exactly"] > 0) == ("the endpoint", True)
    assert json.loads(done.stdout)["census"]["counted"] == "estimated"
    assert "does not count tokens" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--output-tokens", "9"], 2),
        (["--output-tokens", "9:3"], 2),
        (["--shape", "excel"], 2),
        (["--endpoint", "http://localhost:1", "--tokenizer", "t.json"], 2),
    ],
)
def test_what_makes_no_sense_is_an_error_of_the_command_line(words: list[str], code: int, tmp_path: Path) -> None:
    """Exit 2, before the file is read."""
    assert bins(str(tmp_path / "absent.jsonl"), *words).exit_code == code


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    """By the option's name."""
    done = bins(str(tmp_path / "absent.jsonl"), "--endpoint", "localhost:8000")

    assert isinstance(done.exception, ScenarioError)
    assert str(done.exception).startswith("--endpoint")


def test_labels_and_names_that_look_like_numbers_are_written_so_that_plan_takes_them(tmp_path: Path) -> None:
    """`1e3` is a number to our reader though not to the YAML writer; so are `no`, `null` and dates text again."""
    named = ["1e3", "no", "null", "2026-03-01", "a: b"]
    held = [{"prompt": f"question {n} of many", "task": named[n % 5]} for n in range(100)]
    path, out = lines(tmp_path / "1e3", held), tmp_path / "s.yaml"
    done = bins(str(path), "--label", "task", "-o", str(out))
    scenario = parse_scenario(out.read_text(), str(out), Overrides()) if done.exit_code == 0 else None

    assert (done.exit_code, done.exception) == (0, None)
    assert scenario is not None
    assert sorted(label for band in scenario.workload.bins for label in band.label) == sorted(named)


def test_a_label_that_no_row_has_is_refused(tmp_path: Path) -> None:
    """Bins of one label would be proposed as if nobody had asked."""
    done = bins(str(lines(tmp_path / "log.jsonl", rows(20))), "--label", "tasks")

    assert isinstance(done.exception, DataError)
    assert str(done.exception).endswith("log.jsonl: no row has the field tasks for a label; name another (dots go inwards)")
