"""Which runs a folder holds, newest first, and which one is meant by `latest`."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.model.result import Result
from specbench.report import result_json
from specbench.report.runs import named_run, run_folder, run_folders, runs_in
from specbench.report.terminal.run_table import run_lines
from specbench.report.terminal.screen import Screen
from tests.support.goldens import same_text
from tests.support.results import capped, hostile, invalid, promote


def written(folder: Path, name: str, result: Result, started: str) -> Path:
    """A run folder with this result alone."""
    run = folder / name
    run.mkdir(parents=True)
    (run / "result.json").write_bytes(result_json(replace(result, run=replace(result.run, started=started))))
    return run


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Four runs, one of them not judged and one not whole, beside a file and an empty folder."""
    written(tmp_path, "b-first", promote(), "2025-01-01T10:00:00Z")
    written(tmp_path, "a-second", capped(), "2025-01-02T10:00:00Z")
    written(tmp_path, "c-third", invalid(), "2025-01-03T10:00:00Z")
    (tmp_path / "d-unjudged").mkdir()
    (tmp_path / "d-unjudged" / "manifest.json").write_text(json.dumps({"started": "2025-01-04T10:00:00Z"}))
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_runs_come_newest_first_by_when_they_began(reports: Path) -> None:
    """Not by name, nor by when their files were copied."""
    os.utime(reports / "b-first" / "result.json")

    assert [run.folder.name for run in runs_in(reports)] == ["d-unjudged", "c-third", "a-second", "b-first"]
    assert [run.folder.name for run in runs_in(reports, 2)] == ["d-unjudged", "c-third"]


def test_a_run_has_its_verdict_its_finding_and_the_change_of_the_gains_metric(reports: Path) -> None:
    """In the primary cell, as the table of the report has it."""
    run = runs_in(reports)[2]

    assert (run.verdict, run.metric, run.before, run.after, run.changed) == ("CAPPED", "TPOT p50", "11.7", "5.25", "−55 %")
    assert (run.name, run.profile, run.pairs, run.problem) == ("code", "smoke", 4, "")
    assert run.found.startswith("wins up to 4 streams")


def test_a_run_that_cannot_be_read_is_listed_with_the_reason(reports: Path) -> None:
    """Without a result, of an older format, or half of one: the others are listed all the same."""
    old = reports / "a-second" / "result.json"
    old.write_text(json.dumps({**json.loads(old.read_text()), "schema_version": 0}))
    (reports / "b-first" / "result.json").write_bytes(b'{"schema_version": 1, "run"')
    found = {run.folder.name: run for run in runs_in(reports)}

    assert {name: run.verdict for name, run in found.items()} == {
        "d-unjudged": "",
        "c-third": "INVALID",
        "a-second": "",
        "b-first": "",
    }
    assert "specbench analyze" in found["d-unjudged"].problem
    assert "older" in found["a-second"].problem
    assert "damaged" in found["b-first"].problem


def test_a_run_folder_is_a_list_of_one(reports: Path) -> None:
    """Itself."""
    assert [run.verdict for run in runs_in(reports / "a-second")] == ["CAPPED"]


@pytest.mark.parametrize("name", ["empty", "missing", "notes.txt"])
def test_a_folder_without_runs_is_one_line(reports: Path, name: str) -> None:
    """What is not there, and what to do."""
    with pytest.raises(DataError) as raised:
        runs_in(reports / name)

    assert str(raised.value).startswith(str(reports / name))
    assert "\n" not in str(raised.value)


def test_latest_is_the_newest_of_reports_and_is_named(reports: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As is no name at all; a folder of that name comes first."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    with pytest.raises(DataError, match="no run is here"):
        named_run(None)
    shutil.copytree(reports / "a-second", home / "reports" / "a")
    shutil.copytree(reports / "c-third", home / "reports" / "c")

    for name in (None, Path("latest")):
        folder, said = named_run(name)
        assert folder == Path("reports/c")
        assert said is not None
        assert "reports/c" in said
    (home / "latest").mkdir()
    assert named_run(Path("latest")) == (Path("latest"), None)
    assert named_run(Path("reports/a")) == (Path("reports/a"), None)


def test_a_file_of_a_run_means_the_run_and_any_folder_may_be_meant(reports: Path) -> None:
    """As a shell completes it; what is no file of a run stays what it is."""
    run, bare = reports / "a-second", reports / "d-unjudged"

    assert named_run(run / "result.json") == (run, None)
    assert named_run(bare / "manifest.json") == (bare, None)
    assert run_folder(reports) == (reports, None)
    assert run_folder(reports / "notes.txt") == (reports / "notes.txt", None)


def test_a_folder_of_runs_is_no_run_and_names_some(reports: Path) -> None:
    """Which one to give."""
    with pytest.raises(DataError, match="holds 4; name one: ") as raised:
        named_run(reports)

    assert str(reports / "d-unjudged") in str(raised.value)


def test_a_list_reads_as_it_did(reports: Path) -> None:
    """On 80 columns, on 40, and with older ones left out."""
    found = runs_in(reports)
    runs = [
        replace(run, folder=Path("reports") / run.folder.name, problem=run.problem.replace(str(reports), "reports"))
        for run in found
    ]

    same_text("a list", run_lines(runs, Screen()))
    same_text("a narrow list", run_lines(runs[:2], Screen(width=40), more=2))


def test_a_list_is_fit_for_a_terminal(tmp_path: Path) -> None:
    """80 columns but for the folder, no control character, whatever a run is called."""
    odd = replace(hostile(), run=replace(hostile().run, name="\x1b[2J::error::x"))
    written(tmp_path, "x" * 60, odd, "2025-01-02T10:00:00Z")
    lines = run_lines(runs_in(tmp_path), Screen(color=True)).splitlines()

    assert len(run_folders(tmp_path)) == 1
    assert "\x1b[2J" not in "".join(lines)
    assert not any(line.lstrip().startswith("::") for line in lines)
