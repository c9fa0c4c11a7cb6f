"""Memory that runs out in an engine is counted where its log or its answers tell of it, and decides as safety does."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import QUICK
from tests.support.endpoint import Behaviour, endpoint

pytestmark = [pytest.mark.slow, pytest.mark.beside]
SCENARIO = """\
name: memory
arms: {{baseline: {baseline}, speculative: {speculative}}}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}}]
matrix: {{concurrency: [2], pairs: 2, block: {{min_requests: 10, min_s: 0.5, max_s: 5}}}}
"""


def launched(good: int) -> str:
    """An arm that starts the stand-in, whose memory runs out after so many requests."""
    return f"{{launch: {{command: ['{{python}}', -m, tests.support.launched_endpoint, '{{port}}', '{good}']}}}}"


def run(folder: Path, baseline: str, speculative: str) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """The result, the blocks and the exit code of a gated run."""
    scenario = folder / "memory.yaml"
    scenario.write_text(SCENARIO.format(baseline=baseline, speculative=speculative))
    command = [
        sys.executable,
        "-m",
        "specbench",
        "run",
        str(scenario),
        *QUICK,
        "--gate",
        "--out",
        str(folder / "run"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    blocks = [json.loads(line) for line in (folder / "run" / "blocks.jsonl").read_text().splitlines()]
    return json.loads((folder / "run" / "result.json").read_text()), blocks, done.returncode


def oom_of(result: dict[str, Any]) -> dict[str, Any]:
    """The finding of the guardrail on exhausted memory."""
    found: dict[str, Any] = next(finding for finding in result["run_findings"] if finding["metric"] == "oom")
    return found


def test_a_launched_engine_tells_by_its_log(tmp_path: Path) -> None:
    """The baseline's log is silent, which counts as none; the speculative arm's is not: a required FAIL, and ROLLBACK."""
    result, blocks, code = run(tmp_path, launched(100_000), launched(30))
    told = {(block["arm"], block["pair"]): block["telemetry"]["oom_events"] for block in blocks}

    assert code == 20
    assert told["baseline", 0] == 0
    assert max(count for (arm, _), count in told.items() if arm == "speculative") >= 1
    assert (oom_of(result)["state"], oom_of(result)["required"]) == ("FAIL", True)
    assert "out of memory" in oom_of(result)["reason"]


def test_an_endpoint_tells_by_its_answers_or_not_at_all(tmp_path: Path) -> None:
    """Nobody sees the log behind a URL: silence is no count, and a count of one arm alone compares with nothing."""
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour(good=30, then="out_of_memory")) as speculative:
        result, blocks, code = run(tmp_path, f"{{url: '{baseline}'}}", f"{{url: '{speculative}'}}")
    told = {block["telemetry"]["oom_events"] for block in blocks if block["arm"] == "speculative" and block["telemetry"]}

    assert code == 20  # for its failed requests
    assert 1 in told
    assert all(block["telemetry"] is None for block in blocks if block["arm"] == "baseline")
    assert oom_of(result)["state"] == "NODATA"
