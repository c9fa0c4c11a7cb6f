"""`specbench run` from YAML to verdict on the embedded engine, through the command line, as a person runs it."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Behaviour, endpoint

pytestmark = pytest.mark.slow
# What a machine that is busy with other work does to a load generator on the same cores; never the program's own fault.
TOO_BUSY = {"merged_events", "read_lag", "send_delay", "client_saturated", "achieved_concurrency", "clock_step"}
SHORT = ["--set", "matrix.pairs=2", "--set", "matrix.block={min_requests: 6, min_s: 0.7, max_s: 6}", "--profile", "smoke"]


def specbench(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The finished command."""
    return subprocess.run([sys.executable, "-m", "specbench", *words], capture_output=True, text=True, check=False, cwd=cwd)


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its folder and what the command said."""

    folder: Path
    said: subprocess.CompletedProcess[str]

    @property
    def result(self) -> dict[str, Any]:
        """The parsed result.json, by a strict parser."""
        text = (self.folder / "result.json").read_text()
        result: dict[str, Any] = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in result.json"))
        return result


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A short run of code.yaml."""
    folder = tmp_path_factory.mktemp("runs") / "code"
    return Finished(folder, specbench("run", "scenarios/code.yaml", *SHORT, "--out", str(folder)))


def test_the_run_ends_with_a_verdict_and_leaves_its_report(finished: Finished) -> None:
    """A verdict on the terminal within 80 columns, and all files in the folder; INVALID only if this machine was too busy."""
    broken = {check["id"] for cell in finished.result["cells"] for check in cell["integrity"] if check["ok"] is False}
    assert finished.said.returncode == (30 if finished.result["verdict"] == "INVALID" else 0), finished.said.stderr
    assert broken <= TOO_BUSY
    assert finished.result["verdict"] != "INVALID" or broken
    assert finished.result["verdict"] in finished.said.stdout
    assert max(map(len, finished.said.stdout.splitlines())) <= 80 + len(str(finished.folder))
    names = {path.name for path in finished.folder.iterdir()}
    assert names >= {"manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json", "result.json", "report.html"}


def test_speculation_is_seen_winning_at_one_stream_and_losing_at_sixteen(finished: Finished) -> None:
    """The numbers have the shape that the virtual accelerator gives them: memory-bound below, compute-bound above."""
    ratios = {c["id"]: next(m["ratio"] for m in c["metrics"] if m["metric"] == "tpot_p50") for c in finished.result["cells"]}

    assert ratios["c1"] < 0.7
    assert ratios["c16"] > 1.2


def test_what_the_client_counted_is_what_the_engine_did(finished: Finished) -> None:
    """Acceptance as measured equals the engine's own truth."""
    for cell in finished.result["cells"]:
        truth = cell["engine_truth"]["speculative"]
        measured = cell["acceptance"]
        assert measured["source"]
        assert measured["length"] == pytest.approx(1 + truth["accepted"] / truth["rounds"], rel=0.15)


def test_gate_exits_with_the_verdicts_code(finished: Finished) -> None:
    """A pipeline reads the verdict from the exit code."""
    codes = {"PROMOTE": 0, "HOLD": 10, "CAPPED": 11, "ROLLBACK": 20, "INVALID": 30}

    assert specbench("gate", str(finished.folder)).returncode == codes[finished.result["verdict"]]


def test_analysing_twice_gives_the_same_bytes(finished: Finished) -> None:
    """Facts decide, not the moment of the analysis."""
    before = {name: (finished.folder / name).read_bytes() for name in ("result.json", "report.html")}

    assert specbench("analyze", str(finished.folder)).returncode == 0
    assert {name: (finished.folder / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_a_report_is_written_to_standard_output(finished: Finished, format: str) -> None:
    """Formats for people and pipes."""
    said = specbench("report", str(finished.folder), "--format", format)

    assert said.returncode == 0, said.stderr
    assert finished.result["verdict"] in said.stdout


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a run that was killed with SIGKILL after its second block."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", *SHORT, "--out", str(folder)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and run.poll() is None:
            if (folder / "blocks.jsonl").exists() and (folder / "blocks.jsonl").read_bytes().count(b"\n") >= 2:
                break
            time.sleep(0.1)
        run.send_signal(signal.SIGKILL)
    finally:
        run.kill()
        run.wait()
    return folder


def test_a_killed_run_is_analysed_and_called_partial(killed: Path) -> None:
    """What was measured before the kill is there, and no verdict promotes."""
    said = specbench("analyze", str(killed))
    result = json.loads((killed / "result.json").read_text())

    assert said.returncode == 0, said.stderr
    assert result["run"]["partial"] is True
    assert result["promote"] is False
    assert "partial" in said.stdout
    assert sum(cell["counts"]["baseline"]["requests"] for cell in result["cells"]) > 0


def children_with(marker: str) -> list[int]:
    """Processes whose command line holds this marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if marker in command:
                found.append(int(entry.name))
    return found


def test_ctrl_c_keeps_what_was_measured_and_stops_every_process(tmp_path: Path) -> None:
    """Exit 130, a partial result, and no engine or load child left."""
    folder = tmp_path / "run"
    before = set(children_with("specbench.engine")) | set(children_with("specbench.load"))
    command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", *SHORT, "--out", str(folder)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not ((folder / "blocks.jsonl").exists() and (folder / "blocks.jsonl").stat().st_size):
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    said, errors = run.communicate(timeout=60)

    assert run.returncode == 130, errors
    assert "partial" in said
    assert "Traceback" not in errors
    assert set(children_with("specbench.engine")) | set(children_with("specbench.load")) <= before


def scripted(folder: Path, baseline: str, speculative: str) -> list[str]:
    """The command line of a short run against two scripted endpoints."""
    scenario = folder / "scripted.yaml"
    scenario.write_text(
        "name: scripted\n"
        f"arms: {{baseline: {{url: '{baseline}'}}, speculative: {{url: '{speculative}'}}}}\n"
        "workload:\n"
        "  source: {corpus: python}\n"
        "  bins: [{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}]\n"
        "matrix: {concurrency: [2], pairs: 2, block: {min_requests: 10, min_s: 0.5, max_s: 5}}\n"
    )
    return ["run", str(scenario), "--out", str(folder / "run"), "--profile", "smoke"]


def test_a_run_whose_every_request_fails_in_both_arms_is_invalid(tmp_path: Path) -> None:
    """Nobody can judge two dead arms: exit 30."""
    with endpoint(Behaviour(good=1)) as baseline, endpoint(Behaviour(good=1)) as speculative:
        said = specbench(*scripted(tmp_path, baseline, speculative))

    assert said.returncode == 30, said.stdout + said.stderr
    assert json.loads((tmp_path / "run" / "result.json").read_text())["verdict"] == "INVALID"


def test_a_speculative_arm_that_alone_fails_is_rolled_back_and_does_not_flood(tmp_path: Path) -> None:
    """A dead arm is a reason to roll back, and costs few records."""
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour(good=1)) as speculative:
        said = specbench(*scripted(tmp_path, baseline, speculative), "--gate")

    assert said.returncode == 20, said.stdout + said.stderr
    failed = [line for line in (tmp_path / "run" / "requests.jsonl").read_text().splitlines() if "/speculative" in line]
    assert 0 < len(failed) < 400


@pytest.mark.parametrize(
    ("behaviour", "code", "message"),
    [
        (Behaviour(good=0, then="http_500"), 69, "failed the first request"),
        (Behaviour(good=0, then="hang_up"), 69, "failed the first request"),
        (Behaviour(good=0, then="whole"), 30, "does not stream"),
        (Behaviour(model="other"), 30, "other"),
    ],
)
def test_an_unfit_endpoint_ends_the_run_in_one_line_before_load(
    tmp_path: Path, behaviour: Behaviour, code: int, message: str
) -> None:
    """Down or failing: 69. Not streaming, or another model: 30, with a result that has reasons and no cells."""
    with endpoint(Behaviour()) as baseline, endpoint(behaviour) as speculative:
        said = specbench(*scripted(tmp_path, baseline, speculative), "--model", "scripted")

    assert said.returncode == code, said.stdout + said.stderr
    assert message in said.stdout + said.stderr
    assert "Traceback" not in said.stderr
    if code == 30:
        result = json.loads((tmp_path / "run" / "result.json").read_text())
        assert result["cells"] == []
        assert result["reasons"]


def test_an_endpoint_that_is_down_is_named(tmp_path: Path) -> None:
    """Nobody listens: exit 69, one line."""
    with endpoint(Behaviour()) as baseline:
        said = specbench(*scripted(tmp_path, baseline, "http://127.0.0.1:9"))

    assert said.returncode == 69
    assert "http://127.0.0.1:9 does not answer" in said.stderr
    assert not (tmp_path / "run").exists()


def test_an_endpoint_that_dies_in_the_middle_is_judged_by_what_was_seen(tmp_path: Path) -> None:
    """Failures after a good start count against the arm that failed, and everything is on disk."""
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour(good=30)) as speculative:
        said = specbench(*scripted(tmp_path, baseline, speculative), "--gate")

    assert said.returncode == 20, said.stdout + said.stderr
