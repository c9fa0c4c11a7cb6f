"""Requests that an endpoint never answers are counted and decide, over sockets and through the command line."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import QUICK
from tests.support.truthful import truth_endpoint

pytestmark = [pytest.mark.slow, pytest.mark.beside]
SCENARIO = """\
name: hung
arms:
  baseline: {{engine: vllm, url: '{baseline}', model: truth}}
  speculative: {{engine: vllm, url: '{speculative}', model: truth}}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [16, 32], output_tokens: [16, 16]}}]
matrix:
  concurrency: [4]
  pairs: 2
  schedule: simultaneous
  block: {{min_requests: 10, min_s: 2, max_s: 6}}
  limits: {{first_token_s: 0.7, stall_s: 0.7, total_s: 3}}
"""
PLAIN = ("--ttft-ms", "20", "--interval-us", "5000")
FASTER = ("--ttft-ms", "20", "--interval-us", "8000", "--tokens-per-chunk", "4")
HANGING = ("--never-answers", "0.03")


def run(folder: Path, baseline: tuple[str, ...], speculative: tuple[str, ...]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result of a short run, and its records."""
    file = folder.with_suffix(".yaml")
    with truth_endpoint(*baseline) as before, truth_endpoint(*speculative) as after:
        file.write_text(SCENARIO.format(baseline=before, speculative=after))
        command = [
            sys.executable,
            "-m",
            "specbench",
            "run",
            str(file),
            *QUICK,
            "--out",
            str(folder),
        ]
        subprocess.run(command, capture_output=True, check=False)
    records = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    return json.loads((folder / "result.json").read_text()), records


def test_requests_that_one_arm_never_answers_are_counted_and_roll_it_back(tmp_path: Path) -> None:
    """Three in a hundred, while every answer that comes is faster."""
    result, records = run(tmp_path / "one", PLAIN, (*FASTER, *HANGING))
    hung = [record for record in records if record["outcome"] == "timeout_first_token"]
    by_arm = Counter(record["block"].rpartition("/")[2] for record in hung)
    counts = result["cells"][0]["counts"]

    assert set(by_arm) == {"speculative"}
    assert by_arm["speculative"] >= 5
    assert counts["speculative"]["by_outcome"]["timeout_first_token"] == by_arm["speculative"]
    assert (counts["baseline"]["failed"], counts["speculative"]["failed"]) == (0, by_arm["speculative"])
    assert {record["outcome"] for record in records} <= {"ok", "cut", "timeout_first_token"}
    assert result["verdict"] == "ROLLBACK"


def test_requests_that_both_arms_never_answer_are_never_a_promotion(tmp_path: Path) -> None:
    """As many in each: the share is no larger than the baseline's, and that is no pass."""
    result, _ = run(tmp_path / "both", (*PLAIN, *HANGING), (*FASTER, *HANGING))
    errors = next(one for one in result["run_findings"] if one["metric"] == "error_rate")

    assert errors["state"] != "PASS"
    assert result["verdict"] not in ("PROMOTE", "CAPPED")
