"""A real vLLM on the CPU, from scenario to verdict: `make e2e-vllm` installs it and runs this file, which `make test` leaves out.

It takes half an hour on two cores, most of them starts of vLLM. Figures are printed with `-s`.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from specbench.arms.launch import launched
from specbench.scenario.parse import Overrides, parse_scenario
from specbench.scenario.settings import rows_of
from specbench.tune.picks import read_tune
from tests.support.leftovers import NAME, a_mark, left_after, marked
from tests.support.real import SMALL, Run, first_answer_of, run

SCENARIOS = ["vllm-ngram", "vllm-draft"]
GENERATED = "vllm:generation_tokens_total{"


@pytest.fixture(scope="module", params=SCENARIOS)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A short run of one pair."""
    return run(request.param, tmp_path_factory.mktemp(request.param) / "run")


def test_a_pair_is_measured_as_its_engine_counts(done: Run) -> None:
    """Tokens by ids or running usage, equal to usage; acceptance from counters; prefix caching equal in both arms."""
    assert done.code in (0, 30), done.said
    result, blocks = done.result, done.lines("blocks.jsonl")
    records = done.lines("requests.jsonl")
    assert len(blocks) == 4
    assert result["reasons"]
    for record in (r for r in records if r["outcome"] == "ok"):
        assert record["token_source"] in ("token_ids", "running_usage")
        assert record["output_tokens"] == sum(record["event_tokens"])
    for block in blocks:
        mine = [r for r in records if r["block"] == block["id"]]
        seen = sum(r["output_tokens"] or 0 for r in mine if r["outcome"] == "ok")
        room = sum(r["max_tokens"] for r in mine if r["outcome"] == "cut")
        assert 0 <= block["telemetry"]["generated_tokens"] - seen <= room
        assert block["telemetry"]["prefix_hits"] in (0, None)
    speculative = [b["telemetry"]["acceptance"] for b in blocks if b["arm"] == "speculative"]
    assert all(a["drafted"] >= a["accepted"] >= 0 and a["rounds"] > 0 for a in speculative)
    assert result["cells"][0]["acceptance"]["source"]
    facts = [result["endpoints"][arm]["facts"] for arm in ("baseline", "speculative")]
    assert facts[0]["prefix_caching"] == facts[1]["prefix_caching"]
    assert left_after(done.mark, 5) == {}
    print(json.dumps(figures(result), indent=2))  # noqa: T201 - the figures are what this is run for


def figures(result: dict[str, Any]) -> dict[str, Any]:
    """What one wants to know of a run that proves nothing by its size."""
    cell = result["cells"][0]
    names = ("tpot_p50", "itl_p50", "chunk_gap_p50", "ttft_p50", "output_tps", "tokens_per_step")
    return {
        "scenario": result["run"]["name"],
        "verdict": result["verdict"],
        "acceptance": {
            name: cell["acceptance"][name] for name in ("length", "rate", "alpha", "rounds", "per_position", "source")
        },
        "metrics": {m["metric"]: [m["value"], m["ratio"]] for m in cell["metrics"] if m["metric"] in names},
    }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_clients_tokens_are_all_that_the_server_generated(tmp_path: Path, scenario: str) -> None:
    """From its start to its drained end, not one token more or fewer, warm-up included."""
    path = Path(f"scenarios/real/{scenario}.yaml")
    launch = parse_scenario(path.read_text(), str(path), Overrides()).speculative.launch
    assert launch is not None
    with launched(launch, "speculative", tmp_path / "log") as engine:
        received = 0
        for concurrency, requests in ((1, 1), (2, 6)):
            words = ["--concurrency", str(concurrency), "--requests", str(requests), "--max-tokens", "40", "--json", "-"]
            command = [sys.executable, "-m", "specbench", "probe", engine.url, "--model", "smollm2", *words]
            told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            assert told["requests"]["failed"] == 0
            received += told["tokens"]
        page = httpx.get(f"{engine.url}/metrics").text

    lines = [line for line in page.splitlines() if line.startswith(GENERATED)]
    assert sum(float(line.rpartition(" ")[2]) for line in lines) == received > 0


@pytest.mark.parametrize(("arm", "verdict", "code"), [("speculative", "ROLLBACK", 20), ("baseline", "INVALID", 30)])
def test_an_engine_core_killed_in_the_middle_of_a_block_is_judged_by_whose_it_was(
    tmp_path: Path, arm: str, verdict: str, code: int
) -> None:
    """vLLM's server outlives its core for a moment and answers 200 with an error inside: failures all the same."""

    seen: set[int] = set()

    def kill(process: subprocess.Popen[str], so_far: Run) -> None:
        first_answer_of(so_far.folder, arm, process)
        seen.update(marked(so_far.mark))
        # The core's own command line is a title, so it is found as a child of its arm's server.
        servers = {pid: command for pid, command in marked(so_far.mark).items() if "api_server" in command}
        mine = [pid for pid, words in servers.items() if ("--speculative-config" in words) == (arm == "speculative")]
        cores = [pid for pid, words in marked(so_far.mark).items() if "EngineCore" in words and parent_of(pid) in mine]
        assert len(cores) == 1
        os.kill(cores[0], signal.SIGKILL)

    words = ("--set", "matrix.concurrency=[4]", "--set", "matrix.block={min_requests: 60, min_s: 5, max_s: 60}", "--gate")
    done = run("vllm-ngram", tmp_path / "run", *words, during=kill)

    assert (done.code, done.result["verdict"]) == (code, verdict), done.said
    assert f"arms.{arm}: the engine " in done.said
    assert "its last lines:" in done.said
    died = done.lines("blocks.jsonl")[-1]
    assert died["arm"] == arm
    assert died["engine_exit"] is not None
    assert done.result["cells"][0]["counts"][arm]["failed"] > 0
    assert left_after(done.mark, 5, seen) == {}


def parent_of(pid: int) -> int:
    """The process that started this one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_tune_ends_with_a_setting_that_vllm_starts_with(tmp_path: Path) -> None:
    """Depths 1, 2 and 4 of a draft model at one stream; the plain command goes on with the words of setting.txt, read by a shell.

    What is picked is the machine's matter: where it is nothing, there is no setting to start with, and that fails here.
    """
    mark, folder = a_mark(), tmp_path / "tune"
    path = Path("scenarios/real/vllm-draft.yaml")
    marks = [word for arm in ("baseline", "speculative") for word in ("--set", f"arms.{arm}.launch.env.{NAME}='{mark}'")]
    words = [*SMALL, *marks, "--vary", "num_speculative_tokens=1,2,4", "--series", "2", "--blocks", "2", "--out", str(folder)]
    command = [sys.executable, "-m", "specbench", "tune", str(path), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left_after(mark, 5) == {}
    found = read_tune(folder)
    assert [(one.candidate.depth, one.state) for one in found.candidates] == [(1, "tried"), (2, "tried"), (4, "tried")]
    print(done.stdout)  # noqa: T201 - the figures are what this is run for

    setting = shlex.split((folder / "setting.txt").read_text().splitlines()[1])
    assert setting[0] == "--speculative-config"
    plain = parse_scenario(path.read_text(), str(path), Overrides()).baseline.launch
    assert plain is not None
    with launched(replace(plain, command=(*plain.command, *setting)), "speculative", tmp_path / "log") as engine:
        asked = {"model": "smollm2", "prompt": "def add(a, b):\n    return", "max_tokens": 24, "temperature": 0}
        answer = httpx.post(f"{engine.url}/v1/completions", json=asked, timeout=120)
        page = httpx.get(f"{engine.url}/metrics").text
    assert answer.status_code == 200, answer.text
    assert answer.json()["usage"]["completion_tokens"] == 24
    rounds, drafted = (counted(page, f"vllm:spec_decode_num_{name}_total") for name in ("drafts", "draft_tokens"))
    assert drafted == rounds * json.loads(setting[1])["num_speculative_tokens"] > 0


@pytest.mark.parametrize("picks", [((1, 4), (4, 2)), ((1, 4), (4, 2), (8, 0)), ((1, 0), (4, 2)), ((600, 2),)])
def test_vllm_reads_a_table_as_it_was_picked(picks: tuple[tuple[int, int], ...]) -> None:
    """vLLM's own function expands each table: every tested load has the depth that was picked there, and 0 above."""
    code = (
        "import json, sys; from vllm.v1.spec_decode.dynamic.utils import build_dynamic_sd_schedule_lookup as lookup;"
        "print(json.dumps(lookup(json.loads(sys.argv[1]), 700, 4)))"
    )
    rows = json.dumps([list(row) for row in rows_of(picks)])
    python = ".real/venv-vllm/bin/python"
    told = subprocess.run([python, "-c", code, rows], capture_output=True, text=True, check=True).stdout
    depths = json.loads(told.splitlines()[-1])

    assert [depths[streams] for streams, _ in picks] == [depth for _, depth in picks]
    assert set(depths[picks[-1][0] + 1 :]) == {0}


def counted(page: str, name: str) -> float:
    """The sum of a counter's series on a page of metrics."""
    return sum(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(f"{name}{{"))
