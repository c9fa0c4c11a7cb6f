"""Searches for capacity on the embedded engine, through the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import specbench


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and the text of a search under a limit below the time of one plain step, which drafts can beat."""
    folder = tmp_path_factory.mktemp("capacity") / "tight"
    said = specbench(
        "capacity", "scenarios/code.yaml", "--slo", "tpot_p50=10ms", "--minutes", "5", "--traffic", "20", "--out", str(folder)
    )
    assert said.returncode == 0, said.stderr
    return folder, said.stdout


def result_in(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "capacity.json").read_text())
    return found


@pytest.mark.slow
@pytest.mark.campaign
def test_a_limit_below_a_plain_step_is_one_that_the_baseline_cannot_hold_at_any_rate(tight: tuple[Path, str]) -> None:
    found = result_in(tight[0])
    assert found["arms"]["baseline"]["end"] == "no_rate"
    assert found["comparison"] in ("only_speculative", "not_known")  # a busy machine may leave the other arm open
    assert found["machines"]["baseline"] is None
    assert "become" not in found["sentences"][0]


@pytest.mark.slow
@pytest.mark.campaign
def test_the_folder_of_a_search_is_judged_again_to_the_same_bytes(tight: tuple[Path, str]) -> None:
    folder, text = tight
    before = [(folder / name).read_bytes() for name in ("capacity.json", "capacity.html")]
    again = specbench("analyze", str(folder))
    assert again.returncode == 0, again.stderr
    assert again.stdout == text
    assert [(folder / name).read_bytes() for name in ("capacity.json", "capacity.html")] == before


@pytest.mark.slow
@pytest.mark.campaign
def test_under_a_loose_limit_speculation_saves_no_machine(tmp_path: Path) -> None:
    words = ("--slo", "tpot_p50=30ms", "--minutes", "8", "--traffic", "100", "--out", str(tmp_path / "loose"))
    said = specbench("capacity", "scenarios/code.yaml", *words)
    assert said.returncode == 0, said.stderr
    found = result_in(tmp_path / "loose")
    assert found["comparison"] in ("more", "no_difference", "not_known")
    ranges = [found["machines"][arm] for arm in ("baseline", "speculative")]
    if None not in ranges:
        meet = ranges[0]["fewest"] <= ranges[1]["most"] and ranges[1]["fewest"] <= ranges[0]["most"]
        assert ("become" in found["sentences"][0]) == (not meet)
