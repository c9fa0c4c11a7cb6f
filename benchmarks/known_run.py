"""One `specbench run`, through its verdict, between two endpoints that know what they sent; what it said beside what was true."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

ROOT = Path(__file__).parent.parent
TTFT_MS = 50.0
LONGEST_S = 180.0
PACE = {"same": 1.0, "slower": 1.2, "faster": 0.75}
"""Milliseconds a chunk of the second endpoint, of the first's."""
RELATIVE, GAP_MS, FIRST_MS = 0.01, 0.1, 0.5
DUE = {"same": "HOLD", "slower": "ROLLBACK", "faster": "PROMOTE"}
"""The verdict that is true: arms that are the same show neither gain nor harm, 20 % slower is harm, 25 % faster is a gain."""
NEVER: dict[str, tuple[str, ...]] = {
    "same": ("PROMOTE", "CAPPED", "ROLLBACK"),
    "slower": ("PROMOTE", "CAPPED"),
    "faster": ("ROLLBACK",),
}
"""Verdicts that claim what is not so. HOLD claims nothing: harm or gain was missed. INVALID claims nothing either."""

ARMS = ("baseline", "speculative")
Kind = Literal["same", "slower", "faster"]

SCENARIO = """
name: known
arms:
  baseline: {{engine: openai, url: {urls[0]}, model: truth, declare: {{speculation: "off"}}}}
  speculative: {{engine: openai, url: {urls[1]}, model: truth, declare: {{speculation: "off"}}}}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [16, 32], output_tokens: [96, 128]}}]
  sampling: [{{name: greedy, temperature: 0}}]
matrix:
  concurrency: [{streams}]
  pairs: 4
  block: {{min_requests: 30, min_s: 2, max_s: 10}}
answers: {{check: off}}
"""


@dataclass(frozen=True, slots=True)
class Error:
    """One figure of one arm: as reported, and as sent."""

    arm: str
    metric: str
    said_ms: float
    true_ms: float

    @property
    def budget_ms(self) -> float:
        """How far the one may be from the other."""
        return max(RELATIVE * self.true_ms, FIRST_MS if self.metric.startswith("ttft") else GAP_MS)

    @property
    def within(self) -> bool:
        """Whether it is."""
        return abs(self.said_ms - self.true_ms) <= self.budget_ms

    def __str__(self) -> str:
        return f"{self.arm} {self.metric} {self.said_ms:.2f} for {self.true_ms:.2f} ms"


@dataclass(frozen=True, slots=True)
class Known:
    """One run. `withheld`: figures that it did not give. `reasons`: why it is INVALID, by their codes."""

    kind: Kind
    verdict: str
    reasons: tuple[str, ...]
    errors: tuple[Error, ...]
    withheld: int

    @property
    def right(self) -> bool:
        """Whether nothing is claimed that is not so: by the verdict, or by the figures of a run that is not INVALID."""
        return self.verdict == "INVALID" or (self.verdict not in NEVER[self.kind] and all(error.within for error in self.errors))

    @property
    def missed(self) -> bool:
        """Whether harm or a gain that is there was not shown, in a run that is not INVALID."""
        return self.kind != "same" and self.verdict == "HOLD"

    @property
    def worst(self) -> Error | None:
        """The figure that used most of its budget."""
        return max(self.errors, key=lambda one: abs(one.said_ms - one.true_ms) / one.budget_ms, default=None)


def run_between(kind: Kind, streams: int, rate: int) -> Known:
    """Runs the client against two endpoints with these streams and chunks a second, the second at its pace."""
    intervals = (1e6 / rate, 1e6 / rate * PACE[kind])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = [stack.enter_context(_yardstick(interval)) for interval in intervals]
        (folder / "known.yaml").write_text(SCENARIO.format(urls=urls, streams=streams))
        words = ["run", str(folder / "known.yaml"), "--profile", "smoke", "--out", str(folder / "run")]
        done = subprocess.run(
            [sys.executable, "-m", "specbench", *words], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
        if not (folder / "run" / "result.json").exists():
            raise SystemExit(f"specbench run ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        result = json.loads((folder / "run" / "result.json").read_text())
        blocks = [json.loads(line) for line in (folder / "run" / "blocks.jsonl").read_text().splitlines()]
        return _held_to_truth(kind, result, {arm: _truth(url, arm, blocks) for arm, url in zip(ARMS, urls, strict=True)})


def _held_to_truth(kind: Kind, result: dict[str, Any], truth: dict[str, dict[str, float]]) -> Known:
    said = {metric["metric"]: metric["value"] for cell in result["cells"] for metric in cell["metrics"]}
    errors, withheld = [], 0
    for arm in ARMS:
        for metric, true_ms in truth[arm].items():
            value = said.get(metric, {}).get(arm)
            if value is None:
                withheld += 1
            else:
                errors.append(Error(arm, metric, value, true_ms))
    invalid = result["verdict"] == "INVALID"
    reasons = tuple(reason["code"] for reason in result["reasons"][1:]) if invalid else ()
    return Known(kind, result["verdict"], reasons, tuple(errors), withheld)


def _truth(url: str, arm: str, blocks: list[dict[str, Any]]) -> dict[str, float]:
    """What an arm sent inside its steady windows, summed up as the run sums it up: by block, TTFT p95 over all of them."""
    windows = [(block["window_open_ns"], block["window_close_ns"]) for block in blocks if block["arm"] == arm]
    held = [_asked(f"{url}/truth/window/{opened}/{closed}") for opened, closed in windows if opened is not None]
    if not held or not all(one["gap_ms"] and one["ttft_ms"] for one in held):
        return {}
    by_block = {f"chunk_gap_p{p}": [np.percentile(one["gap_ms"], p) for one in held] for p in (50, 95, 99)}
    by_block["ttft_p50"] = [np.percentile(one["ttft_ms"], 50) for one in held]
    typical = {metric: float(np.exp(np.log(values).mean())) for metric, values in by_block.items()}
    return typical | {"ttft_p95": float(np.percentile(np.concatenate([one["ttft_ms"] for one in held]), 95))}


def _asked(url: str) -> dict[str, list[float]]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        told: dict[str, list[float]] = json.load(answer)
    return told


@contextmanager
def _yardstick(interval_us: float) -> Iterator[str]:
    options = ["--ttft-ms", str(TTFT_MS), "--interval-us", str(interval_us), "--while-input-lasts"]
    command = [sys.executable, "-m", "specbench.engine.reference_endpoint.reference_endpoint", *options]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        yield endpoint.stdout.readline().strip()
