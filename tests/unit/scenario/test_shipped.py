"""Scenarios that travel with the program, by their names."""

import tomllib
from pathlib import Path

import pytest

from specbench.scenario.shipped import shipped_scenario, shipped_scenarios


def test_every_scenario_of_the_repository_is_one() -> None:
    """And the wheel takes their folder along."""
    wheel = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert [one.name for one in shipped_scenarios()] == sorted(one.name for one in Path("scenarios").glob("*.yaml"))
    assert wheel["force-include"] == {"scenarios": "specbench/scenarios"}


@pytest.mark.parametrize("named", ["code", "scenarios/code.yaml"])
def test_a_name_that_is_no_file_here_stands_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """As the docs write it, in any folder."""
    monkeypatch.chdir(tmp_path)
    found = shipped_scenario(Path(named))

    assert found is not None
    assert found.name == "code.yaml"


@pytest.mark.parametrize("named", ["other", "code.yaml", "my/code.yaml", "scenarios/other.yaml", "/scenarios/code.yaml"])
def test_other_names_are_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """A mistyped file is an error, not another scenario."""
    monkeypatch.chdir(tmp_path)

    assert shipped_scenario(Path(named)) is None


def test_a_file_here_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's own `code`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code").write_text("name: mine")

    assert shipped_scenario(Path("code")) is None
