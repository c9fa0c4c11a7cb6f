"""Runs the scenarios of scenarios/real in short form, as a person does, with their engines marked. No assertion lives here."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import QUICK
from tests.support.leftovers import NAME, a_mark

SMALL = [
    *(*QUICK, "--set", "matrix.pairs=2", "--set", "matrix.block={min_requests: 4, min_s: 0.5, max_s: 30}"),
    *("--set", "workload.bins=[{name: all, input_tokens: [24, 48], output_tokens: [24, 40]}]"),
]
LIMIT_S = 400  # of a run; a vLLM on a busy CPU takes two minutes to start


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a scenario in scenarios/real: its folder, its mark, how it ended and what it said."""

    folder: Path
    mark: str
    code: int
    said: str

    @property
    def result(self) -> dict[str, Any]:
        """The parsed result.json."""
        return dict(json.loads((self.folder / "result.json").read_text()))

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The parsed lines of a file of facts."""
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


def run(scenario: str, folder: Path, *words: str, during: Callable[[subprocess.Popen[str], Run], None] | None = None) -> Run:
    """The finished command, its engines marked; `during` may interfere while it runs."""
    mark = a_mark()
    marks = [word for arm in ("baseline", "speculative") for word in ("--set", f"arms.{arm}.launch.env.{NAME}='{mark}'")]
    command = [sys.executable, "-m", "specbench", "run", f"scenarios/real/{scenario}.yaml", *SMALL, *marks, *words]
    with subprocess.Popen(
        [*command, "--out", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as started:
        try:
            if during is not None:
                during(started, Run(folder, mark, 0, ""))
            said, _ = started.communicate(timeout=LIMIT_S)
        finally:
            started.kill()
    return Run(folder, mark, started.returncode, said)


def first_answer_of(folder: Path, arm: str, process: subprocess.Popen[str]) -> None:
    """Returns when this arm has answered under load: it is in the middle of a block then."""
    requests = folder / "requests.jsonl"
    deadline = time.monotonic() + LIMIT_S
    while process.poll() is None and time.monotonic() < deadline:
        if requests.exists() and f'/{arm}"' in requests.read_text():
            return
        time.sleep(0.05)
    pytest.fail(f"the {arm} arm never answered: {process.communicate(timeout=LIMIT_S)[0]}")
