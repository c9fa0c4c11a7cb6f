"""A real llama.cpp, started by launch blocks, from scenario to verdict. Only facts that hold on a noisy machine are asserted.

`make test` installs what this needs; without it these tests fail, and say so.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import specbench
from tests.support.leftovers import left_after, marked
from tests.support.real import Run, first_answer_of, run

pytestmark = [pytest.mark.slow, pytest.mark.beside]
SHORT_ANSWERS = ("--set", "workload.bins[0].output_tokens=[8, 16]")  # where what is counted is engines and blocks, not tokens


@pytest.fixture(scope="session", autouse=True)
def models() -> None:
    """The wheel can be loaded, and the small models are there."""
    done = subprocess.run(["tools/real/models", sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the models could not be made: {done.stdout + done.stderr}"
    loaded = subprocess.run([sys.executable, "-c", "import xllamacpp"], capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, f"xllamacpp is missing; `make dev` installs it: {loaded.stderr}"


def check_counts(done: Run) -> None:
    """The client's tokens and acceptance are the engine's own, block by block.

    A block ends with a request in flight, which the client leaves out and the engine counts as far as it got: so the engine may
    have a little more, never less.
    """
    records = done.lines("requests.jsonl")
    blocks = done.lines("blocks.jsonl")
    for block in blocks:
        answered = [r for r in records if r["block"] == block["id"] and r["outcome"] == "ok"]
        cut = [r for r in records if r["block"] == block["id"] and r["outcome"] == "cut"]
        assert len(answered) >= 4
        assert all(r["output_tokens"] == sum(r["event_tokens"]) for r in answered)
        for r in (r for r in answered if r["acceptance"] is not None):
            steps = len(r["step_events"] or r["event_ns"])  # the end may cut tokens off that were accepted
            assert r["burst_ns"] is None
            assert 0 <= steps - (r["output_tokens"] - r["acceptance"]["accepted"]) <= max(r["step_events"] or [1])
        room = sum(r["max_tokens"] for r in cut)
        counted, told = block["telemetry"], [r["acceptance"] for r in answered if r["acceptance"] is not None]
        assert 0 <= counted["generated_tokens"] - sum(r["output_tokens"] for r in answered) <= room
        assert 0 <= counted["acceptance"]["accepted"] - sum(a["accepted"] for a in told) <= room
        assert counted["acceptance"]["drafted"] >= sum(a["drafted"] for a in told)
        if not cut:
            assert counted["acceptance"]["drafted"] == sum(a["drafted"] for a in told)
        if block["arm"] == "baseline":
            assert counted["acceptance"]["drafted"] == 0
    drafted = sum(b["telemetry"]["acceptance"]["drafted"] for b in blocks if b["arm"] == "speculative")
    assert drafted > 0


def answers_of(scenario: str, input_tokens: str, *words: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """The finished check of answers to 64 prompts, of 96 tokens each at 4 streams, and its JSON."""
    size = ("--prompts", "64", "--set", "matrix.concurrency=[4]", "--json")
    bins = f"workload.bins=[{{name: all, input_tokens: {input_tokens}, output_tokens: [96, 96]}}]"
    done = specbench("answers", f"scenarios/real/{scenario}.yaml", *size, "--set", bins, *words)
    return done, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("scenario", "lengths"),
    [("llamacpp-ngram", "[24, 40]"), pytest.param("llamacpp-draft", "[8, 16]", marks=pytest.mark.campaign)],
)
def test_a_real_pair_is_measured_as_its_engine_counts(tmp_path: Path, scenario: str, lengths: str) -> None:
    """Both arms complete, token and acceptance counts agree with the engine's, the verdict has reasons, nothing is left."""
    words = ("--set", "matrix.concurrency=[1]", "--set", f"workload.bins[0].output_tokens={lengths}")
    done = run(scenario, tmp_path / "run", *words)

    assert done.code in (0, 30), done.said
    result = done.result
    assert result["reasons"]
    assert not result["run"]["partial"]
    assert [cell["pairs_used"] for cell in result["cells"]] == [2]
    counts = result["cells"][0]["counts"]
    assert counts["baseline"]["failed"] == counts["speculative"]["failed"] == 0
    assert counts["baseline"]["token_sources"]["engine_counts"] >= counts["baseline"]["ok"]
    assert result["endpoints"]["speculative"]["facts"]["speculation"] == "on"
    assert result["endpoints"]["baseline"]["facts"]["speculation"] == "off"
    check_counts(done)
    assert left_after(done.mark, 30) == {}


@pytest.mark.campaign
def test_an_honest_real_pair_parts_at_near_ties_alone() -> None:
    """Prompts that hold much to copy: more than a third of its greedy answers part, and none does clearly."""
    done, found = answers_of("llamacpp-ngram", "[128, 224]", "--set", "arms.speculative.speculative.prompt_lookup_max=2")
    states = {one["metric"]: one["state"] for one in found["findings"]}
    greedy = found["answers"]["greedy"]

    assert greedy["compared"] >= 60
    assert greedy["compared"] - greedy["equal"] > greedy["compared"] / 3
    assert greedy["clear"] == 0
    assert states["answers_greedy"] in ("PASS", "INCONCLUSIVE")
    assert done.returncode in (0, 10), done.stdout + done.stderr


@pytest.mark.campaign
def test_drafts_that_are_taken_whatever_they_are_change_the_answers() -> None:
    """Three tokens a round are accepted, right or wrong: more answers leave the baseline's than it would, where it is sure."""
    taken = ("--set", 'arms.speculative.launch.arguments=[--spec-synth-len, "3"]')
    done, found = answers_of("llamacpp-draft", "[24, 64]", *taken)
    states = {one["metric"]: one["state"] for one in found["findings"]}

    assert states["answers_greedy"] == "FAIL"
    assert done.returncode == 20, done.stdout + done.stderr


@pytest.mark.campaign
def test_restart_starts_each_engine_for_its_pair_and_does_not_promote_on_two_starts(tmp_path: Path) -> None:
    """One engine at a time, launches counted; two starts an arm are too few for PROMOTE, and the report says what it costs."""
    most = 0

    def count(process: subprocess.Popen[str], so_far: Run) -> None:
        nonlocal most
        while process.poll() is None:
            servers = [command for command in marked(so_far.mark).values() if "specbench.arms.supervisor" not in command]
            most = max(most, len(servers))
            time.sleep(0.1)

    words = ("--set", "matrix.schedule=restart", "--set", "matrix.concurrency=[1]", *SHORT_ANSWERS)
    done = run("llamacpp-ngram", tmp_path / "run", *words, during=count)

    assert done.code in (0, 30), done.said
    assert most == 1
    assert sorted((b["arm"], b["launch"]) for b in done.lines("blocks.jsonl")) == [
        ("baseline", 0),
        ("baseline", 1),
        ("speculative", 0),
        ("speculative", 1),
    ]
    assert done.result["verdict"] not in ("PROMOTE", "CAPPED")
    assert any("schedule: restart" in note for note in done.result["notes"])
    assert left_after(done.mark, 30) == {}


@pytest.mark.parametrize("arm", ["speculative", pytest.param("baseline", marks=pytest.mark.campaign)])
def test_an_engine_killed_in_the_middle_of_a_block_is_a_hold_whichever_it_was(tmp_path: Path, arm: str) -> None:
    """One kill from outside: no pair is made of it, the last log lines shown, nothing measured is lost, no process is left."""

    def kill(process: subprocess.Popen[str], so_far: Run) -> None:
        first_answer_of(so_far.folder, arm, process)
        servers = {pid: command for pid, command in marked(so_far.mark).items() if "specbench.arms.supervisor" not in command}
        victims = [pid for pid, command in servers.items() if ("--spec-type" in command) == (arm == "speculative")]
        assert len(servers) == 2
        os.kill(victims[0], signal.SIGKILL)

    words = ("--set", "matrix.concurrency=[4]", "--set", "matrix.block={min_requests: 12, min_s: 2, max_s: 60}", "--gate")
    done = run("llamacpp-ngram", tmp_path / "run", *words, during=kill)

    assert (done.code, done.result["verdict"]) == (10, "HOLD"), done.said
    assert done.result["reasons"][0]["code"] == "killed_from_outside"
    assert f"arms.{arm}: the engine was ended by SIGKILL" in done.said
    assert "serving .real/models/draft.gguf" in done.said
    died = done.lines("blocks.jsonl")[-1]
    assert (died["arm"], died["engine_exit"]) == (arm, "was ended by SIGKILL")
    outcomes = [r["outcome"] for r in done.lines("requests.jsonl") if r["block"] == died["id"]]
    assert "ok" in outcomes
    assert {"connect_failed", "disconnected"} & set(outcomes)
    assert done.result["cells"][0]["counts"][arm]["failed"] == 0
    assert left_after(done.mark, 30) == {}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_no_engine_outlives_a_run_that_was_stopped(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """By Ctrl-C, or killed outright in the middle of a block."""

    def stop(process: subprocess.Popen[str], so_far: Run) -> None:
        first_answer_of(so_far.folder, "baseline", process)
        assert len(marked(so_far.mark)) == 4
        process.send_signal(number)

    done = run("llamacpp-ngram", tmp_path / "run", "--set", "matrix.concurrency=[1]", *SHORT_ANSWERS, during=stop)

    assert done.code == code, done.said
    assert left_after(done.mark, 30) == {}
