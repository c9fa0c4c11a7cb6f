"""`specbench run` from YAML to verdict on the embedded engine, through the command line, as a person runs it."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import SHORT, TOO_BUSY, specbench

pytestmark = pytest.mark.slow


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
    """A short run of code.yaml, at its lowest and its highest load."""
    folder = tmp_path_factory.mktemp("runs") / "code"
    words = (*SHORT, "--set", "matrix.concurrency=[1, 16]", "--out", str(folder))
    return Finished(folder, specbench("run", "scenarios/code.yaml", *words))


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
    """The numbers have the shape that the virtual accelerator gives them: memory-bound below, compute-bound above.

    A busy machine lengthens the steps of both arms, so the bounds lie well inside the 0.46 and 1.27 of a free one.
    """
    ratios = {c["id"]: next(m["ratio"] for m in c["metrics"] if m["metric"] == "tpot_p50") for c in finished.result["cells"]}

    assert ratios["c1"] < 0.7
    assert ratios["c16"] > 1.1


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
