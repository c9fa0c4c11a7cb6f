"""What `run` refuses or calls INVALID as there is no speculation to judge, over engines that are served, by the command line."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from specbench.arms.arms import running_arm
from tests.support.commands import SHORT, TOO_BUSY, specbench
from tests.support.evidence import an_arm

pytestmark = pytest.mark.slow
BRIEF = [*SHORT, "--set", "matrix.concurrency=[2]"]


@dataclass(frozen=True, slots=True)
class Served:
    """Engines on ports of their own: two without speculation, one with, and one that keeps no prompts."""

    plain: str
    also_plain: str
    drafting: str
    forgetful: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The engines, up for all tests of this file."""
    plain = replace(an_arm(), model=None)
    drafting = replace(plain, speculative={"method": "draft_model", "num_speculative_tokens": 4})
    log = tmp_path_factory.mktemp("engines") / "engine.log"
    with ExitStack() as stack:
        arms = (plain, plain, drafting, replace(plain, options={"prefix_caching": False}))
        yield Served(*(stack.enter_context(running_arm(arm, "baseline", log)).url for arm in arms))


def run(folder: Path, baseline: str, speculative: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A short run of the A/A's scenario over these two URLs."""
    return specbench(
        *("run", "scenarios/aa.yaml", *BRIEF, "--baseline", baseline, "--speculative", speculative, "--out", str(folder), *words)
    )


def result_in(folder: Path) -> dict[str, Any]:
    """The result of the run."""
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result


@pytest.mark.beside
def test_two_engines_that_do_not_speculate_are_no_comparison(tmp_path: Path, served: Served) -> None:
    """Exit 30; the first line says which arm does not, and the engine was recognised by itself."""
    said = run(tmp_path / "run", served.plain, served.also_plain)
    result = result_in(tmp_path / "run")

    assert said.returncode == 30, said.stderr
    assert "does not speculate" in said.stdout.splitlines()[0]
    assert f"specbench doctor {served.also_plain}" in result["reasons"][0]["message"]
    assert result["reasons"][0]["code"] == "not_speculating"
    assert (result["endpoints"]["baseline"]["engine"], result["endpoints"]["speculative"]["engine"]) == ("embedded", "embedded")
    assert len(result["config"]["resolved_sha256"]) == len(result["config"]["sha256"]) == 64


@pytest.mark.beside
def test_arms_that_are_none_are_refused_before_anything_starts(tmp_path: Path, served: Served) -> None:
    """One URL twice, however it is spelled: 64, no folder."""
    twice = run(tmp_path / "run", served.plain, f"{served.plain}/v1")

    assert twice.returncode == 64, twice.stderr
    assert len(twice.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.beside
def test_exchanged_arms_are_refused_with_the_right_command(tmp_path: Path, served: Served) -> None:
    """Exit 30 before load; the command that was meant is in the reason."""
    said = run(tmp_path / "run", served.drafting, served.plain)
    result = result_in(tmp_path / "run")

    assert (said.returncode, result["cells"]) == (30, [])
    assert f"--baseline {served.plain} --speculative {served.drafting}" in result["reasons"][0]["message"]


def test_an_a_a_of_one_url_ends_as_one(tmp_path: Path, served: Served) -> None:
    """HOLD, unless this machine was too busy: that nobody speculates is its point."""
    said = run(tmp_path / "run", served.plain, served.plain, "--aa", "--gate")
    result = result_in(tmp_path / "run")
    broken = {check["id"] for cell in result["cells"] for check in cell["integrity"] if check["ok"] is False}

    assert (said.returncode, result["verdict"]) == (10, "HOLD") or broken & TOO_BUSY, result["reasons"]
    assert "not_speculating" not in {reason["code"] for reason in result["reasons"]}


def test_a_cache_that_one_arm_alone_has_is_found_before_load(tmp_path: Path, served: Served) -> None:
    """Two engines that tell nothing of it: a prompt that comes again is answered much sooner by the one alone."""
    named = [word for arm in ("baseline", "speculative") for word in ("--set", f"arms.{arm}.engine=openai")]
    bins = ("--set", "workload.bins=[{name: long, input_tokens: [160, 192], output_tokens: [16, 16]}]")
    said = run(tmp_path / "run", served.forgetful, served.plain, *named, *bins)
    result = result_in(tmp_path / "run")

    assert (said.returncode, result["cells"]) == (30, [])
    assert [reason["code"] for reason in result["reasons"]] == ["cache_imbalance"]
