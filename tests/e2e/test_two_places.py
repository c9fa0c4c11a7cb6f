"""`run --aa`, `--swap` and `--place` over two served engines: what is asked, recorded and refused, through the command line."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from specbench.arms.arms import running_arm
from specbench.explain.numbers import design
from tests.support.commands import QUICK
from tests.support.evidence import an_arm

pytestmark = [pytest.mark.slow, pytest.mark.beside]
DRAFTING = {"method": "ngram", "num_speculative_tokens": 4}
SCENARIO = """\
name: places
arms:
  baseline: {{engine: embedded, url: '{plain}'}}
  speculative: {{engine: embedded, url: '{second}', speculative: {{method: ngram, num_speculative_tokens: 4}}}}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [16, 32], output_tokens: [16, 32]}}]
matrix: {{concurrency: [2], pairs: 2, block: {{min_requests: 6, min_s: 1, max_s: 6}}}}
"""


@dataclass(frozen=True, slots=True)
class Served:
    """Three engines on ports of their own: two without speculation and one with."""

    plain: str
    also_plain: str
    drafting: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The engines, up for all tests of this file."""
    with ExitStack() as stack:
        arms = [replace(an_arm(speculative=speculative), model=None) for speculative in (None, None, DRAFTING)]
        urls = [
            stack.enter_context(running_arm(arm, "baseline", tmp_path_factory.mktemp("engines") / "engine.log")).url
            for arm in arms
        ]
        yield Served(*urls)


def run(folder: Path, scenario: str, *words: str) -> tuple[int, dict[str, Any], dict[str, Any], str]:
    """Exit code, manifest, result and everything said by a short run."""
    file = folder.with_suffix(".yaml")
    file.write_text(scenario)
    command = [
        sys.executable,
        "-m",
        "specbench",
        "run",
        str(file),
        *QUICK,
        "--out",
        str(folder),
        *words,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (
        done.returncode,
        json.loads((folder / "manifest.json").read_text()),
        json.loads((folder / "result.json").read_text()),
        done.stdout + done.stderr,
    )


def test_an_a_a_is_run_recorded_and_cited(tmp_path: Path, served: Served) -> None:
    """Both arms answer as the baseline does; a later run over the same places copies what the A/A said, and why or why not."""
    scenario = SCENARIO.format(plain=served.plain, second=served.also_plain)
    _, manifest, result, said = run(tmp_path / "aa-1", scenario, "--aa")

    assert manifest["scenario"]["design"] == result["config"]["design"] == "aa"
    assert manifest["scenario"]["speculative"]["url"] == served.also_plain
    assert manifest["scenario"]["speculative"]["speculative"] is None
    assert design("aa") in " ".join(said.split())
    _, later, after, _ = run(tmp_path / "later", scenario, "--place", "aa-1")

    (aa,) = later["previous_runs"]
    assert (aa["cited"], aa["run_id"], aa["kind"], aa["verdict"]) == ("aa-1", "aa-1", "aa", result["verdict"])
    assert set(aa["checked"]) >= {"complete", "places", "design", "engine", "model", "workload", "cells"} or aa["problem"]
    assert aa["findings"]
    assert any("aa-1" in note for note in after["notes"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--place", "gone"), "place: run gone: no such run at gone or "),
        (("--aa", "--place", "gone"), "--place: an A/A run (--aa) cites no other run; omit --place"),
    ],
)
def test_a_citation_that_can_show_nothing_is_refused_before_load(
    tmp_path: Path, served: Served, words: tuple[str, ...], message: str
) -> None:
    """Hours of load would end in HOLD for a mistyped name; nothing is written."""
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO.format(plain=served.plain, second=served.also_plain))
    command = [sys.executable, "-m", "specbench", "run", str(file), "--out", str(tmp_path / "run"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 64
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "run").exists()


def test_an_a_a_refuses_an_arm_that_speculates(tmp_path: Path, served: Served) -> None:
    """Before load, with what to do."""
    code, _, result, said = run(tmp_path / "run", SCENARIO.format(plain=served.plain, second=served.drafting), "--aa")

    assert code == 30
    assert result["cells"] == []
    assert "speculates, but an A/A (--aa) runs the baseline in both arms" in " ".join(said.split())


def test_a_swap_refuses_engines_that_still_stand_where_they_stood(tmp_path: Path, served: Served) -> None:
    """The addresses are exchanged, the engines are not: the baseline's is found drafting."""
    code, manifest, result, said = run(tmp_path / "run", SCENARIO.format(plain=served.plain, second=served.drafting), "--swap")

    assert code == 30
    assert result["cells"] == []
    assert manifest["scenario"]["design"] == "swap"
    assert manifest["scenario"]["baseline"]["url"] == served.drafting
    assert f"arms.baseline: {served.drafting} still speculates" in " ".join(said.split())


def test_a_swap_measures_speculation_where_the_baseline_was(tmp_path: Path, served: Served) -> None:
    """Once the engines are exchanged the arms are as the scenario says, each at the other's address."""
    _, manifest, result, said = run(tmp_path / "run", SCENARIO.format(plain=served.drafting, second=served.plain), "--swap")

    assert manifest["scenario"]["speculative"]["url"] == served.drafting
    assert result["cells"][0]["acceptance"]["length"] > 1
    assert design("swap") in " ".join(said.split())


def test_both_designs_at_once_are_refused() -> None:
    """Exit 2, as for any command line that makes no sense."""
    command = [sys.executable, "-m", "specbench", "run", "scenarios/aa.yaml", "--aa", "--swap"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, "either --aa or --swap" in done.stderr) == (2, True)
