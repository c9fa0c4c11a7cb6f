"""`capacity` before any engine starts, and `analyze` on the folder of a search."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specbench.cli.main import app
from specbench.errors import SpecbenchError
from specbench.model.records import RunData
from specbench.store import FORMAT_VERSION, Ending, RunWriter
from tests.support.goldens import same_text
from tests.support.searches import a_search, around


def asked(*words: str) -> Result:
    """The command, in a terminal of 80 columns without colour."""
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "80", "NO_COLOR": "", "FORCE_COLOR": ""})


def written(evidence: RunData, folder: Path) -> Path:
    """The folder with these facts."""
    writer = RunWriter(folder, replace(evidence.manifest, format_version=FORMAT_VERSION))
    for record in evidence.records:
        writer.request(record)
    for block in evidence.blocks:
        writer.block(block)
    writer.finish(Ending("2026-01-01T01:00:00Z", ()))
    writer.close()
    return folder


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        ((), 64, "--slo"),
        (("--slo", "ttft_p95=1s", "--traffic", "0"), 64, "--traffic 0"),
        (("--slo", "ttft_p95=1s", "--headroom", "95%"), 64, "--headroom 95%"),
        (("--slo", "ttft_p95=1s", "--minutes", "1"), 64, "--minutes 1"),
        (("--slo", "ttft_p95=1s", "--out", "tests"), 65, "tests: exists"),
    ],
)
def test_what_cannot_be_searched_for_ends_in_one_line(words: tuple[str, ...], code: int, names: str) -> None:
    done = asked("capacity", "scenarios/code.yaml", *words)
    assert isinstance(done.exception, SpecbenchError)
    assert done.exception.exit_code == code
    assert names in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_search_is_judged_again_from_its_folder(tmp_path: Path) -> None:
    folder = written(a_search(around(4.0), around(6.0)), tmp_path / "search")
    done = asked("analyze", str(folder))
    assert done.exit_code == 0
    same_text("a search judged again", *done.stdout.split("\n\n")[:-1])  # the last paragraph names the folder
    first = [(folder / name).read_bytes() for name in ("capacity.json", "capacity.html")]
    assert asked("analyze", str(folder)).stdout == done.stdout
    assert [(folder / name).read_bytes() for name in ("capacity.json", "capacity.html")] == first
    assert not (folder / "result.json").exists()


def test_the_result_of_a_search_comes_as_json_too(tmp_path: Path) -> None:
    folder = written(a_search(around(4.0), around(6.0)), tmp_path / "search")
    told = json.loads(asked("analyze", str(folder), "--json").stdout)
    assert told == json.loads((folder / "capacity.json").read_text())


def test_a_search_is_never_taken_for_the_latest_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(a_search(around(4.0), {}), Path("reports") / "search")
    done = asked("gate", "latest")
    assert isinstance(done.exception, SpecbenchError)
    assert done.exception.exit_code == 65
    assert "no run is here" in str(done.exception)
