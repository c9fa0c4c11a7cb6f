"""`specbench history`: what it prints and where it writes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specbench.cli.main import app
from tests.support.histories import runs_in_folder, upgraded

runner = CliRunner()


@pytest.fixture(scope="module")
def nightly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs with an upgrade at the seventh."""
    return runs_in_folder(tmp_path_factory.mktemp("nightly"), 12, upgraded)


def test_the_seventh_run_and_its_fact_are_named(nightly: Path) -> None:
    """On standard output, with exit code 0."""
    done = runner.invoke(app, ["history", str(nightly)])

    assert done.exit_code == 0
    assert "s-run-7" in " ".join(done.output.split())
    assert "engine_version of both arms: 0.1.0 → 0.2.0" in done.output


def test_a_file_is_written_where_it_is_asked_for(nightly: Path, tmp_path: Path) -> None:
    """In the format that was named."""
    file = tmp_path / "history.json"
    done = runner.invoke(app, ["history", str(nightly), "--json", "-o", str(file), "--metric", "alpha"])

    assert done.output == f"wrote {file}\n"
    assert {one["metric"] for one in json.loads(file.read_text())["series"]} == {"alpha"}


def test_an_unknown_format_is_refused_with_the_known_ones(nightly: Path) -> None:
    """By the command line's exit code."""
    done = runner.invoke(app, ["history", str(nightly), "--format", "html"])

    assert done.exit_code == 2
    assert "text, json, csv, otava" in " ".join(done.output.split())
