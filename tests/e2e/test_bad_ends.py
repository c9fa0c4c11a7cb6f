"""Runs that end badly, through the command line: killed, interrupted, endpoints that fail, die or were never there."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import QUICK, SHORT, specbench
from tests.support.endpoint import Behaviour, endpoint
from tests.support.leftovers import NAME, a_mark, left_after, marked

pytestmark = [pytest.mark.slow, pytest.mark.beside]
ONE_LOAD = [*SHORT, "--set", "matrix.concurrency=[1]"]


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a run that was killed with SIGKILL after its second block."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", *ONE_LOAD, "--out", str(folder)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
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
    assert "Partial" in said.stdout
    assert sum(cell["counts"]["baseline"]["requests"] for cell in result["cells"]) > 0


def test_a_killed_run_goes_on_to_its_planned_pairs(killed: Path) -> None:
    """With what it kept of its scenario: each pair has one complete attempt, and the half line of the kill is gone."""
    with (killed / "requests.jsonl").open("ab") as file:
        file.write(b'{"block": "c1/p0')
    other = specbench("run", "scenarios/code.yaml", "--resume", str(killed))
    resumed = specbench("run", "--resume", str(killed), "-q")
    blocks = [json.loads(line) for line in (killed / "blocks.jsonl").read_bytes().splitlines()]
    result = json.loads((killed / "result.json").read_text())

    assert (other.returncode, "profile is standard, and was smoke" in other.stderr) == (64, True)
    assert resumed.returncode in (0, 30), resumed.stderr  # a busy machine may spoil the generator's timing
    assert {(block["pair"], block["arm"]) for block in blocks} == {
        (p, arm) for p in (0, 1) for arm in ("baseline", "speculative")
    }
    assert (result["run"]["partial"], result["cells"][0]["pairs_used"]) == (False, 2)
    assert "--resume" in specbench("run", "--resume", str(killed), "--out", "x").stderr
    assert specbench("run", "--resume", str(killed)).returncode == 65


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_an_interrupt_keeps_what_was_measured_and_stops_every_process(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    """N-37: Ctrl-C and a terminal that closes leave a partial result and its report, and no engine or load child."""
    folder = tmp_path / "run"
    mark = a_mark()
    command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", *ONE_LOAD, "--out", str(folder)]
    run = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, NAME: mark},
        start_new_session=True,  # the mark's bearers are told by their session too, which must not be that of the tests
    )
    blocks, deadline = folder / "blocks.jsonl", time.monotonic() + 120
    while run.poll() is None and time.monotonic() < deadline and not (blocks.exists() and blocks.stat().st_size):
        time.sleep(0.1)
    assert len(marked(mark)) == 6  # itself, two engines, each with its keeper, and the load generator
    os.killpg(run.pid, sent)  # a terminal sends it to every process of the group
    said, errors = run.communicate(timeout=180)

    assert run.returncode == code, errors
    assert "partial run" in said.lower()
    assert json.loads((folder / "result.json").read_text())["run"]["partial"] is True
    assert (folder / "report.html").exists()
    assert "Traceback" not in errors
    assert left_after(mark, 30) == {}


def test_a_terminal_that_is_gone_takes_no_run_along_with_it(tmp_path: Path) -> None:
    """SIGHUP with nobody left to read: 129, and the result is there; where it is ignored already (nohup), it ends nothing."""
    gone, kept = tmp_path / "gone", tmp_path / "kept"
    for folder, ignored in ((gone, False), (kept, True)):
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", *ONE_LOAD, "--out", str(folder)]
        run = subprocess.Popen(
            command,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            preexec_fn=(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if ignored else None,
        )
        os.close(writing)
        blocks, deadline = folder / "blocks.jsonl", time.monotonic() + 120
        while run.poll() is None and time.monotonic() < deadline and not (blocks.exists() and blocks.stat().st_size):
            time.sleep(0.1)
        os.close(reading)
        os.killpg(run.pid, signal.SIGHUP)

        assert run.wait(180) in ((0, 30) if ignored else (129,))  # a busy machine may spoil the generator's timing
        assert json.loads((folder / "result.json").read_text())["run"]["partial"] is not ignored


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
    return ["run", str(scenario), "--out", str(folder / "run"), *QUICK]


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


def test_what_would_end_a_run_half_way_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """More streams than a process may open files, and a key that is not set: 64, and no folder."""
    command = scripted(tmp_path, "http://127.0.0.1:9", "http://127.0.0.1:7")
    narrow = f"ulimit -n 200; exec {shlex.join([sys.executable, '-m', 'specbench', *command])} --set matrix.concurrency=[1,256]"
    few = subprocess.run(["bash", "-c", narrow], capture_output=True, text=True, check=False)
    assert few.returncode == 64, few.stderr
    assert "256 streams at once: a process may open 200 files here" in few.stderr
    for key in ("baseline.options.metrics_api_key_env", "speculative.api_key_env", "speculative.header_env.api-key"):
        keyless = specbench(*command, "--set", f"arms.{key}=NO_SUCH_KEY")
        assert (keyless.returncode, "NO_SUCH_KEY is not set" in keyless.stderr) == (64, True), keyless.stderr
    assert not (tmp_path / "run").exists()


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
    assert "nothing listens at http://127.0.0.1:9" in said.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_that_vanishes_ends_the_run_and_nothing_claims_to_be_kept(tmp_path: Path) -> None:
    """Exit 65 in one line, long before the plan's end, and the folder is not made anew."""
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour()) as speculative:
        words = [*scripted(tmp_path, baseline, speculative), "--set", "matrix.pairs=500"]
        run = subprocess.Popen(
            [sys.executable, "-m", "specbench", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        requests, deadline = tmp_path / "run" / "requests.jsonl", time.monotonic() + 120
        while run.poll() is None and time.monotonic() < deadline and not (requests.exists() and requests.stat().st_size):
            time.sleep(0.05)
        shutil.rmtree(tmp_path / "run")
        said, errors = run.communicate(timeout=180)

    assert run.returncode == 65, errors
    assert "is gone, deleted or moved while the run went on" in errors.splitlines()[-1]
    assert "kept; " not in said + errors
    assert not (tmp_path / "run").exists()


def test_an_endpoint_that_dies_in_the_middle_is_judged_by_what_was_seen(tmp_path: Path) -> None:
    """Failures after a good start count against the arm that failed, and everything is on disk."""
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour(good=30)) as speculative:
        said = specbench(*scripted(tmp_path, baseline, speculative), "--gate")

    assert said.returncode == 20, said.stdout + said.stderr


def _run_with_a_victim(folder: Path, arms: str, arm: str, sent: Sequence[signal.Signals]) -> dict[str, Any]:
    """The result of a run in which the arm's engine gets these signals while it answers, half a second apart."""
    scenario, mark = folder / "victim.yaml", a_mark()
    scenario.write_text(VICTIM.format(arms=arms))
    command = [sys.executable, "-m", "specbench", "run", str(scenario), "--out", str(folder / "run"), "--gate"]
    run = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, NAME: mark},
        start_new_session=True,
    )
    requests, deadline = folder / "run" / "requests.jsonl", time.monotonic() + 120
    while run.poll() is None and time.monotonic() < deadline:
        if requests.exists() and f"/{arm}" in requests.read_text():
            break
        time.sleep(0.05)
    engines = [pid for pid, words in marked(mark).items() if "specbench.engine" in words and "supervisor" not in words]
    victims = [pid for pid in engines if ("draft_model" in marked(mark)[pid]) == (arm == "speculative")]
    assert len(victims) == 1, marked(mark)
    for one in sent:
        os.kill(victims[0], one)
        time.sleep(2.5 if one == signal.SIGSTOP else 0.0)
    said, _ = run.communicate(timeout=180)
    result: dict[str, Any] = json.loads((folder / "run" / "result.json").read_text())
    assert run.returncode == result["exit_code"], said
    assert "Traceback" not in said
    assert left_after(mark, 30) == {}
    return result


VICTIM = """\
name: victim
arms: {arms}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [8, 16], output_tokens: [24, 32]}}]
matrix: {{concurrency: [2], pairs: 2, block: {{min_requests: 8, min_s: 3, max_s: 20}}}}
"""
EMBEDDED = "{baseline: {engine: embedded}, speculative: {engine: embedded, speculative: {method: draft_model}}}"


@pytest.mark.parametrize("arm", ["baseline", "speculative"])
def test_one_kill_from_outside_is_a_hold_whichever_arm_it_hits(arm: str, tmp_path: Path) -> None:
    """SIGKILL under load: HOLD, with who died and how to go on; neither a rollback nor no judgement."""
    result = _run_with_a_victim(tmp_path, EMBEDDED, arm, [signal.SIGKILL])

    assert (result["verdict"], result["exit_code"], result["promote"]) == ("HOLD", 10, False)
    assert result["reasons"][0]["code"] == "killed_from_outside"
    assert f"the {arm} engine was ended by SIGKILL in pair 1" in result["reasons"][1]["message"]


def test_a_crash_of_the_speculative_engine_is_still_a_rollback(tmp_path: Path) -> None:
    """It ends by a signal that nobody sends from outside."""
    result = _run_with_a_victim(tmp_path, EMBEDDED, "speculative", [signal.SIGSEGV])

    assert (result["verdict"], result["exit_code"]) == ("ROLLBACK", 20)
    assert "dead_arm" in {reason["code"] for reason in result["reasons"]}


@pytest.mark.campaign
def test_an_engine_that_is_frozen_for_a_while_is_named(tmp_path: Path) -> None:
    """Stopped for two and a half seconds in the middle of answers, and then going on."""
    result = _run_with_a_victim(tmp_path, EMBEDDED, "speculative", [signal.SIGSTOP, signal.SIGCONT])
    named = [note for note in result["notes"] if "the speculative engine froze for" in note]

    assert len(named) == 1
    assert "then they went on" in named[0]
