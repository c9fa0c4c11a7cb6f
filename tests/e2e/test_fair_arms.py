"""Two arms that differ beyond speculation are refused before load, and traffic that is not ours voids a cell."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from specbench.explain.labels import FACT_STATES
from tests.support.commands import QUICK

pytestmark = [pytest.mark.slow, pytest.mark.beside]
SHORT = [
    "--set",
    "matrix={concurrency: [2], pairs: 2, block: {min_requests: 6, min_s: 1, max_s: 6}}",
    *QUICK,
]


def run(folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the result and the terminal's text of a short A/A run with these words added."""
    command = [sys.executable, "-m", "specbench", "run", "scenarios/aa.yaml", *SHORT, "--out", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return done.returncode, result, done.stdout


@pytest.mark.parametrize(
    ("setting", "fact"),
    [
        ("arms.speculative.options={prefix_caching: false}", "prefix_caching"),
        ("arms.speculative.options={max_model_len: 4096}", "context_length"),
        ("arms.speculative.options={model: other}", "model"),
    ],
)
def test_unequal_arms_are_refused_before_load(tmp_path: Path, setting: str, fact: str) -> None:
    """Exit 30, no cell; the reason on the terminal and the table of the long form name what differs."""
    code, result, said = run(tmp_path / "run", "--set", setting)

    assert code == 30
    assert result["verdict"] == "INVALID"
    assert result["cells"] == []
    assert fact in result["reasons"][0]["message"]
    assert result["endpoints"]["baseline"]["facts"][fact] != result["endpoints"]["speculative"]["facts"][fact]
    assert (tmp_path / "run" / "requests.jsonl").read_bytes() == b""
    assert fact in said
    assert len(said.splitlines()) <= 16
    command = [sys.executable, "-m", "specbench", "explain", str(tmp_path / "run")]
    explained = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    table = explained[explained.index("The arms side by side") : explained.index("Safety and integrity")]
    assert table.index(FACT_STATES["differs"]) < table.index(fact.replace("_", " ")) < table.index("equal:\n    ")
    assert max(map(len, explained.splitlines())) <= 80


def test_a_difference_that_is_accepted_by_name_runs(tmp_path: Path) -> None:
    """`accept_differences` lets the run go on, and the result says what was accepted."""
    _, result, _ = run(
        tmp_path / "run",
        *("--set", "arms.speculative.options={max_model_len: 4096}"),
        *("--set", "accept_differences=[context_length]"),
    )

    assert result["cells"]
    assert any("context_length" in note for note in result["notes"])


@contextmanager
def hammered(folder: Path) -> Iterator[None]:
    """A second client that asks the speculative endpoint for answers as long as the context lasts."""
    stop = threading.Event()

    def hammer() -> None:
        manifest = folder / "manifest.json"
        while not manifest.exists() and not stop.wait(0.05):
            pass
        url = json.loads(manifest.read_text())["endpoints"][1]["url"]
        with httpx.Client(trust_env=False, timeout=10) as client:
            body = {"model": "specbench-ngram", "prompt": "def main():", "max_tokens": 64, "ignore_eos": True}
            while not stop.is_set():
                try:
                    client.post(f"{url}/v1/completions", json=body)
                except httpx.HTTPError:
                    return

    thread = threading.Thread(target=hammer)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_second_client_on_the_speculative_endpoint_voids_the_cell(tmp_path: Path) -> None:
    """Tokens that the server made and we did not see are somebody else's: INVALID, with that reason."""
    with hammered(tmp_path / "run"):
        code, result, _ = run(tmp_path / "run")
    broken = {check["id"] for check in result["cells"][0]["integrity"] if check["ok"] is False}

    assert code == 30
    assert "foreign_traffic" in broken
    assert any(reason["code"] == "foreign_traffic" for reason in result["reasons"])
