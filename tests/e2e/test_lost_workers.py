"""Runs that lose a worker in the middle: its pair is run once more, or, where nobody takes its place, the run ends partial."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import QUICK
from tests.support.endpoint import Behaviour, endpoint
from tests.support.fleets import KEY, free_port

pytestmark = [pytest.mark.slow, pytest.mark.beside, pytest.mark.campaign]
SCENARIO = """\
name: scripted
arms: {{baseline: {{url: '{baseline}'}}, speculative: {{url: '{speculative}'}}}}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}}]
matrix: {{concurrency: [2], pairs: 3, block: {{min_requests: 20, min_s: 2, max_s: 10}}}}
"""
LONGEST_S = 300.0


def children_of(pid: int) -> list[int]:
    """The processes that this one started."""
    found = subprocess.run(["ps", "-o", "pid=,ppid=", "-A"], capture_output=True, text=True, check=True).stdout
    return [int(child) for child, parent in (line.split() for line in found.splitlines()) if int(parent) == pid]


def worker_of(pid: int) -> int:
    """One of the workers that this run started."""
    lines = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children_of(pid)}
    return min(child for child, line in lines.items() if b"specbench.load.fleet.worker" in line)


def await_requests(folder: Path, count: int) -> None:
    """Returns once so many are on disk."""
    until_s = time.monotonic() + LONGEST_S
    while time.monotonic() < until_s:
        if (folder / "requests.jsonl").exists() and len((folder / "requests.jsonl").read_bytes().splitlines()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("no load")


def begun(folder: Path, scenario: Path, *words: str) -> "subprocess.Popen[str]":
    """A run under way."""
    command = [sys.executable, "-m", "specbench", "run", str(scenario), *QUICK, "--out", str(folder), *words]
    environment = {**os.environ, "SPECBENCH_FLEET_KEY": KEY}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def blocks_of(folder: Path) -> list[dict[str, Any]]:
    """The blocks that were measured."""
    return [json.loads(line) for line in (folder / "blocks.jsonl").read_text().splitlines()]


def scripted(stack: ExitStack, folder: Path) -> Path:
    """A scenario of two scripted endpoints, which last as long as the stack."""
    urls = {arm: stack.enter_context(endpoint(Behaviour())) for arm in ("baseline", "speculative")}
    scenario = folder / "scripted.yaml"
    scenario.write_text(SCENARIO.format(**urls))
    return scenario


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_measures_the_pair_of_a_lost_worker_again(tmp_path: Path, blow: signal.Signals) -> None:
    """Every planned pair has one whole attempt, no request stands there twice, and the run is as complete as without it."""
    folder = tmp_path / "run"
    with ExitStack() as stack:
        run = begun(folder, scripted(stack, tmp_path), "--processes", "2")
        await_requests(folder, 30)
        worker = worker_of(run.pid)
        reader = children_of(worker)[0]
        os.kill(reader, blow)
        if blow == signal.SIGSTOP:
            time.sleep(6.0)  # longer than a heart may be silent
            os.kill(reader, signal.SIGCONT)
        said = run.communicate(timeout=LONGEST_S)
    blocks = blocks_of(folder)
    whole = {(b["pair"], b["attempt"], b["arm"]) for b in blocks if b["fleet"]["void"] is None}
    requests = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    result = json.loads((folder / "result.json").read_text())

    assert run.returncode in (0, 30), said  # a busy machine may spoil the generator's timing
    assert [b["fleet"]["void"] for b in blocks].count("worker_lost") == 1
    pairs = {pair for pair, attempt, arm in whole if arm == "baseline" and (pair, attempt, "speculative") in whole}
    assert pairs == {0, 1, 2}
    assert len({(one["block"], one["index"]) for one in requests}) == len(requests)
    assert (result["run"]["partial"], result["cells"][0]["pairs_used"]) == (False, 3)


def test_a_run_whose_lost_worker_nobody_replaces_ends_partial(tmp_path: Path) -> None:
    """The blocks before that are judged, and promote nothing."""
    folder, port = tmp_path / "run", free_port()
    environment = {**os.environ, "SPECBENCH_FLEET_KEY": KEY}
    with ExitStack() as stack:
        scenario = scripted(stack, tmp_path)
        command = [sys.executable, "-m", "specbench", "worker", f"127.0.0.1:{port}"]
        workers = [subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) for _ in range(2)]
        try:
            run = begun(folder, scenario, "--workers", "2", "--listen", f"127.0.0.1:{port}", "--worker-wait", "60s")
            await_requests(folder, 150)
            workers[0].kill()
            said = run.communicate(timeout=LONGEST_S)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    result = json.loads((folder / "result.json").read_text())

    assert run.returncode in (0, 10, 30), said
    assert (result["run"]["partial"], result["verdict"]) in ((True, "HOLD"), (True, "INVALID"))
