"""A tune and what it leaves on disk, and an engine that ignores its table, through the command line."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specbench.tune.picks import read_tune
from tests.support.goldens import same_text

pytestmark = [pytest.mark.slow, pytest.mark.beside]
TABLE = "num_speculative_tokens_per_batch_size"
DRAFT = {"method": "draft_model", "num_speculative_tokens": 4}
SMALL = ["--profile", "smoke", "--set", "matrix.block={min_requests: 4, min_s: 0.5, max_s: 20}"]
TUNE = [
    *("tune", "scenarios/tune.yaml", *SMALL, "--vary", "num_speculative_tokens=1,4"),
    *("--set", "matrix.concurrency=[1]", "--series", "2", "--blocks", "1"),
]


def _specbench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "specbench", *words], capture_output=True, text=True, check=False)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tune's folder: two depths at one stream, two series of one block."""
    folder = tmp_path_factory.mktemp("tunes") / "t"
    done = _specbench(*TUNE, "--out", str(folder))
    assert done.returncode in (0, 30), done.stderr  # a busy machine may spoil the generator's timing
    return folder


@pytest.mark.campaign
def test_each_series_starts_every_arm_once_in_rotated_order(tuned: Path) -> None:
    """Three starts a series; the baseline's blocks are in both folders, and prompts are the same for all."""
    blocks = {name: _lines(tuned / name / "blocks.jsonl") for name in ("depth-1", "depth-4")}
    told = {(one["arm"] if one["arm"] == "baseline" else name, one["order"]) for name, of in blocks.items() for one in of}
    order = [name for name, _ in sorted(told, key=lambda one: one[1])]
    prompts = {
        (name, one["arm"]): [r["prompt_tokens"] for r in _lines(tuned / name / "requests.jsonl") if r["block"] == one["id"]][:4]
        for name, of in blocks.items()
        for one in of
        if one["pair"] == 0
    }

    assert order == ["baseline", "depth-1", "depth-4", "depth-1", "depth-4", "baseline"]
    assert {(one["pair"], one["launch"]) for of in blocks.values() for one in of} == {(0, 0), (1, 1)}
    assert len({tuple(sorted(of)) for of in prompts.values()}) == 1, prompts
    assert read_tune(tuned).starts == 6
    assert [one.state for one in read_tune(tuned).candidates] == ["tried", "tried"]  # after the last series none is given up


@pytest.mark.campaign
def test_each_candidate_is_a_run_that_can_be_judged_again(tuned: Path) -> None:
    """`analyze`, `report` and `gate` work on it; four launches would be needed to promote."""
    folder = str(tuned / "depth-4")
    judged = json.loads(_specbench("analyze", folder, "--json").stdout)

    assert judged["config"]["pairs"] == 2
    assert _specbench("gate", folder).returncode in (10, 20, 30)
    assert _specbench("report", folder, "--format", "markdown").returncode == 0


@pytest.mark.campaign
def test_the_picks_are_made_again_from_what_is_on_disk(tuned: Path) -> None:
    """The same picks and the same setting; a tune's folder is no run for the gate."""
    before = read_tune(tuned)
    again = _specbench("analyze", str(tuned), "--json")

    assert again.returncode == 0, again.stderr
    assert read_tune(tuned) == before
    assert _specbench("report", str(tuned)).stdout.splitlines()[0].startswith("tune: ")
    assert _specbench("report", str(tuned), "--format", "html").returncode == 0
    assert (tuned / "tune.html").read_text() == _specbench("report", str(tuned), "--format", "html", "-o", "-").stdout
    assert _specbench("gate", str(tuned)).returncode == 65
    assert _specbench("report", str(tuned), "--format", "junit").returncode == 65


@pytest.mark.campaign
def test_a_tune_that_is_interrupted_has_picks_so_far_and_no_setting(tmp_path: Path) -> None:
    """Ctrl-C in the second series: 130, partial, and nothing that could be typed in."""
    folder = tmp_path / "t"
    command = [sys.executable, "-m", "specbench", *TUNE, "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("series 2, start 1"):
                running.send_signal(signal.SIGINT)
                break
        running.communicate()
    again = _specbench("analyze", str(folder))

    assert running.returncode == 130
    assert again.returncode == 0, again.stderr
    assert ": partial " in again.stdout.splitlines()[0]
    assert (read_tune(folder).setting, (folder / "setting.txt").exists()) == (None, False)
    assert _specbench("confirm", str(folder)).returncode == 65


@pytest.mark.campaign
def test_of_two_methods_the_deepest_are_started_first_and_the_others_predicted(tmp_path: Path) -> None:
    """A screen of three starts, then series of what it left; nothing is picked by prediction alone."""
    folder = tmp_path / "t"
    methods = [{"method": method, "num_speculative_tokens": [1, 2, 4]} for method in ("draft_model", "ngram")]
    loads = ("matrix.concurrency=[1, 4]", f"tune={json.dumps({'candidates': methods})}")
    settings = [word for one in loads for word in ("--set", one)]
    words = ("tune", "scenarios/tune.yaml", *SMALL, *settings, "--series", "2", "--blocks", "1", "--out", str(folder))
    done = _specbench(*words)
    said = [line for line in done.stderr.splitlines() if ", start " in line]
    found = read_tune(folder)
    started = {one.candidate.name: one.series for one in found.candidates}

    assert done.returncode in (0, 30), done.stderr
    assert [line.partition(": ")[2] for line in said[:3]] == ["off", "draft_model-4", "ngram-4"]
    assert said[3].startswith("series 1, start 1")
    assert found.starts == len(said)
    assert {name for name, series in started.items() if series == 0} == {
        one.candidate.name for one in found.candidates if one.state == "dropped" and one.series == 0
    }
    assert all(started[load.pick] >= 1 for load in found.loads if load.pick in started)


@pytest.mark.campaign
def test_candidates_that_do_not_start_are_out(tmp_path: Path) -> None:
    """An option that the engine refuses: both are out with its last lines, nothing is picked, and that is INVALID."""
    folder = tmp_path / "t"
    words = ["--set", "arms.speculative.speculative={method: draft_model, num_speculative_tokens: 2, draft_sampling: often}"]
    done = _specbench(*TUNE, *words, "--out", str(folder))

    assert done.returncode == 30, done.stderr
    assert [(one.state, "draft_sampling" in (one.reason or "")) for one in read_tune(folder).candidates] == [("failed", True)] * 2


def _checks(folder: Path, *words: str) -> dict[str, dict[str, bool | None]]:
    """The checks of the speculative arm by load, in a run with a table that drafts 1 at four streams and nothing at sixteen."""
    block = json.dumps({**DRAFT, TABLE: [[1, 1, 4], [2, 8, 1], [9, 16, 0]]})
    loads = ("matrix.concurrency=[4, 16]", "matrix.primary=4", "matrix.pairs=2", f"arms.speculative.speculative={block}")
    settings = [word for load in loads for word in ("--set", load)]
    done = _specbench("run", "scenarios/tune.yaml", *SMALL, *settings, *words, "--out", str(folder))
    assert done.returncode in (0, 30), done.stderr
    result = json.loads((folder / "result.json").read_text())
    named = ("setting_in_effect", "speculation_speculative")
    return {cell["id"]: {c["id"]: c["ok"] for c in cell["integrity"] if c["id"] in named} for cell in result["cells"]}


@pytest.mark.campaign
def test_an_engine_that_ignores_its_table_is_found(tmp_path: Path) -> None:
    """With its table it drafts 1 at four streams, and nothing at sixteen, as it should; without it, the most at both."""
    kept = _checks(tmp_path / "kept")
    ignored = _checks(tmp_path / "ignored", "--set", "arms.speculative.options={faults: {ignore_schedule: 1}}")
    broken = json.loads((tmp_path / "ignored" / "result.json").read_text())
    sentences = [c["message"] for cell in broken["cells"] for c in cell["integrity"] if c["id"] == "setting_in_effect"]

    assert kept == {cell: {"setting_in_effect": True, "speculation_speculative": True} for cell in ("c4", "c16")}
    assert [checks["setting_in_effect"] for checks in ignored.values()] == [False, False]
    assert broken["verdict"] == "INVALID"
    assert "setting_in_effect" in {reason["code"] for reason in broken["reasons"]}
    same_text("ignored at four streams", sentences[0].partition(";")[2])
