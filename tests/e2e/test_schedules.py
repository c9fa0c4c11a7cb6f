"""The schedules on the embedded engine, and one engine as both arms, through the command line."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import QUICK

pytestmark = pytest.mark.slow
SMALL = [
    *(*QUICK, "--set", "matrix.pairs=2", "--set", "matrix.block={min_requests: 6, min_s: 0.5, max_s: 20}"),
]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run of code.yaml."""

    result: dict[str, Any]
    blocks: list[dict[str, Any]]


def run(folder: Path, *words: str) -> Run:
    """The run with these further words."""
    command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", *SMALL, *words, "--out", str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode in (0, 30), said.stdout + said.stderr  # a busy machine may spoil the generator's timing
    blocks = [json.loads(line) for line in (folder / "blocks.jsonl").read_text().splitlines()]
    return Run(json.loads((folder / "result.json").read_text()), blocks)


@contextmanager
def an_engine() -> Iterator[str]:
    """The URL of an embedded engine that speculates, started apart from any run."""
    options = json.dumps({"speculative": {"method": "draft_model", "num_speculative_tokens": 4}})
    command = [sys.executable, "-m", "specbench.engine", options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        try:
            assert engine.stdout is not None
            yield json.loads(engine.stdout.readline())["url"]
        finally:
            engine.terminate()


@pytest.mark.beside
@pytest.mark.campaign
def test_embedded_engines_can_be_restarted_for_every_pair(tmp_path: Path) -> None:
    """Each pair is a launch of its own; two launches an arm do not carry a promotion."""
    done = run(tmp_path / "run", "--set", "matrix.schedule=restart", "--set", "matrix.concurrency=[1, 2]")

    assert len(done.blocks) == 8
    assert all(block["launch"] == block["pair"] for block in done.blocks)
    assert [block["arm"] for block in done.blocks[:4]] in (
        ["baseline", "baseline", "speculative", "speculative"],
        ["speculative", "speculative", "baseline", "baseline"],
    )
    assert done.result["verdict"] not in ("PROMOTE", "CAPPED")
    assert any("schedule: restart" in note for note in done.result["notes"])


@pytest.mark.beside
def test_both_blocks_of_a_pair_can_run_at_once(tmp_path: Path) -> None:
    """Their steady windows overlap, every request is on disk once, and the report says what that costs."""
    done = run(tmp_path / "run", "--set", "matrix.schedule=simultaneous", "--set", "matrix.concurrency=[1]")
    windows = {(b["cell"], b["pair"], b["arm"]): (b["window_open_ns"], b["window_close_ns"]) for b in done.blocks}
    records = [json.loads(line) for line in (tmp_path / "run" / "requests.jsonl").read_text().splitlines()]

    assert len(windows) == 4
    for (cell, pair, _), (opened, closed) in windows.items():
        other_opened, other_closed = windows[cell, pair, "speculative"]
        assert opened < other_closed
        assert other_opened < closed
    assert len({(record["block"], record["index"]) for record in records}) == len(records)
    assert any("schedule: simultaneous" in note for note in done.result["notes"])


@pytest.mark.beside
@pytest.mark.campaign
def test_each_arm_has_half_of_the_fleet_and_the_other_one_in_the_next_pair(tmp_path: Path) -> None:
    """Two workers, both arms at once: each worker drives one arm, and then the other."""
    words = ("--processes", "2", "--set", "matrix.schedule=simultaneous", "--set", "matrix.concurrency=[2]")
    done = run(tmp_path / "run", *words, "--set", "matrix.primary=2")
    by_block = {(b["pair"], b["arm"]): tuple(one["name"] for one in b["fleet"]["workers"]) for b in done.blocks}

    assert {len(workers) for workers in by_block.values()} == {1}
    for pair, other in ((0, 1), (1, 0)):
        assert by_block[pair, "baseline"] == by_block[other, "speculative"]
    assert by_block[0, "baseline"] != by_block[0, "speculative"]


def test_one_url_is_both_arms_by_what_their_requests_ask_for(tmp_path: Path) -> None:
    """The baseline's requests switch speculation off: it drafts nothing, and speculation wins as it does between two engines."""
    with an_engine() as url:
        arms = ("--baseline", url, "--speculative", f"{url}/v1", "--set", "arms.baseline.extra_body={speculative: false}")
        accepted = ("--set", "accept_differences=[speculative]")
        engines = [word for arm in ("baseline", "speculative") for word in ("--set", f"arms.{arm}.engine=embedded")]
        done = run(tmp_path / "run", *arms, *engines, *accepted, "--set", "matrix.concurrency=[1]")

    for block in done.blocks:
        assert (block["engine_truth"]["drafted"] > 0) == (block["arm"] == "speculative")
        assert (block["telemetry"]["acceptance"]["drafted"] or 0) == block["engine_truth"]["drafted"]
    ratio = next(m["ratio"] for m in done.result["cells"][0]["metrics"] if m["metric"] == "tpot_p50")
    assert ratio < 0.8
    assert not any(reason["code"] == "place_not_controlled" for reason in done.result["reasons"])
    assert any("one endpoint" in note for note in done.result["notes"])
    assert not any("compares only what else differs" in note for note in done.result["notes"])
