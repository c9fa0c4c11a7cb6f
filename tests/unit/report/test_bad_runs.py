"""Run folders that are not whole: one line that says what to do, and whatever can be shown is shown."""

import shutil
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.report import read_result, write_report
from specbench.report.terminal.explanation import explanation
from specbench.report.terminal.screen import Screen
from specbench.run.analyze import analyze, facts_changed
from tests.support.goldens import same_text

EXAMPLE = Path("reports/example")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy of the committed run, to be damaged."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "run"))


def _cut(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])


def _text(run: Path) -> str:
    said = write_report(run, "text", None)
    assert isinstance(said, bytes)
    return " ".join(said.decode().split())


@pytest.mark.parametrize("format", ["text", "html", "junit", "csv"])
def test_what_is_no_run_is_told_so(tmp_path: Path, format: str) -> None:
    """A folder that is not there, and one with nothing in it."""
    (tmp_path / "empty").mkdir()
    for folder in ("missing", "empty"):
        with pytest.raises(DataError, match="name a folder that `specbench run` wrote") as raised:
            write_report(tmp_path / folder, format, None)
        assert str(raised.value).startswith(str(tmp_path / folder))
        assert "\n" not in str(raised.value)


def test_a_run_without_its_result_names_the_command_that_makes_it(run: Path) -> None:
    """The folder is in the command, so that the line can be pasted."""
    (run / "result.json").unlink()
    with pytest.raises(DataError) as raised:
        write_report(run, "html", None)
    assert str(raised.value) == f"{run}/result.json: there is no result here; make one with: specbench analyze {run}"


def test_half_a_result_can_be_made_again_from_the_facts(run: Path) -> None:
    """The line names the folder, and what it says helps."""
    _cut(run / "result.json", 5000)
    with pytest.raises(DataError, match=f"make it again with: specbench analyze {run}"):
        write_report(run, "text", None)
    analyze(run)
    assert _text(run).startswith("CAPPED ")


def test_a_run_that_was_killed_shows_what_it_measured(run: Path) -> None:
    """Without its end and with half a last line a run is judged as far as it goes, and every report says that it is partial."""
    (run / "finished.json").unlink()
    _cut(run / "requests.jsonl", 460_000)
    analyze(run)
    assert "Partial" in _text(run)
    said = " ".join(explanation(read_result(run), Screen()).split())
    assert "1 damaged line was left out" in said
    notes = read_result(run).notes
    assert all(note in said for note in notes)
    same_text("a killed run", *notes)
    told: list[str] = []
    assert isinstance(write_report(run, "csv", None, told.append), Path)
    assert told == ["requests.jsonl: 1 damaged line was left out"]


def test_lost_records_are_no_empty_table(run: Path) -> None:
    """The result can still be shown; tables cannot, and say so instead of holding nothing."""
    (run / "requests.jsonl").unlink()
    assert _text(run).startswith("CAPPED ")
    with pytest.raises(DataError, match=r"no requests\.jsonl in it, so there is no request to show"):
        write_report(run, "csv", None)


def test_damaged_facts_are_named_with_what_to_do(run: Path) -> None:
    """And where nothing can be judged, nothing is said of judging what was changed."""
    _cut(run / "finished.json", 20)
    with pytest.raises(DataError, match=r"finished\.json: damaged: .*; copy the whole run again"):
        analyze(run)
    assert facts_changed(run) is not None
    (run / "manifest.json").unlink()
    assert facts_changed(run) is None
