"""A folder's history as people and programs read it."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.report import result_json
from specbench.report.history.history_folder import history_as_it_stands, history_of
from specbench.report.history.history_formats import history_csv, history_json, history_otava, history_text
from specbench.report.terminal.screen import Screen
from tests.support.goldens import same_text
from tests.support.histories import run_number, runs_in_folder, slower, upgraded


@pytest.fixture
def nightly(tmp_path: Path) -> Path:
    """Twelve runs with an upgrade at the seventh; the third was cut off, and one more cannot be read."""
    runs_in_folder(tmp_path, 12, upgraded)
    third = run_number(3)
    (tmp_path / "w-run-3" / "result.json").write_bytes(result_json(replace(third, run=replace(third.run, partial=True))))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "result.json").write_text("{")
    return tmp_path


def test_a_history_reads_as_it_did(nightly: Path) -> None:
    """Changes first, with their facts; then each series; then what was not used."""
    found = history_of(nightly, metrics=["tpot_p50"])
    runs = tuple(replace(run, problem="damaged" if run.problem else "") for run in found.runs)  # their words name a folder
    found = replace(found, folder="nightly", runs=runs)

    same_text("upgrade", history_text(found, Screen()))


def test_no_line_is_wider_than_the_screen(nightly: Path) -> None:
    """And plain where the screen has no other characters."""
    lines = history_text(history_of(nightly), Screen(ascii=True)).splitlines()

    assert max(map(len, lines)) <= 80
    assert all(line.isascii() for line in lines)


def test_json_holds_every_series_with_its_changes(nightly: Path) -> None:
    """And the facts of each run."""
    found = json.loads(history_json(history_of(nightly, metrics=["tpot_p50"])))

    (change,) = found["series"][0]["changes"]
    assert (change["run"], change["number"]) == ("s-run-7", 6)  # of those that are used
    assert [run["why_not"] for run in found["runs"]].count("partial") == 1
    assert found["runs"][-1]["facts"]["speculative engine_version"] == "0.2.0"


def test_csv_has_a_row_for_each_run_and_series(nightly: Path) -> None:
    """With the change at the run where it begins."""
    rows = list(csv.DictReader(io.StringIO(history_csv(history_of(nightly, metrics=["tpot_p50"])))))
    (first, *_) = [row for row in rows if row["change"]]

    assert len(rows) == 12 * 3
    assert (first["run"], first["cell"], round(float(first["change"]), 2)) == ("s-run-7", "c1", 0.12)
    assert first["facts_changed"].startswith("baseline engine_version: 0.1.0 to 0.2.0; ")
    assert json.loads(first["facts"])["speculative engine_version"] == "0.2.0"
    assert [row["why_not_used"] for row in rows if row["run"] == "w-run-3"] == ["partial"] * 3


def test_the_other_tools_csv_has_a_number_in_every_field_of_a_metric(nightly: Path) -> None:
    """A row for each run that has them all."""
    rows = list(csv.DictReader(io.StringIO(history_otava(history_of(nightly)))))

    assert list(rows[0])[:4] == ["time", "run", "code.c1.tpot_p50", "code.c1.alpha"]
    assert [row["run"] for row in rows] == [f"{chr(ord('z') - n)}-run-{n}" for n in range(1, 13) if n != 3]
    assert all(float(value) > 0 for row in rows for name, value in row.items() if name not in ("time", "run"))


def test_only_runs_of_one_scenario_and_only_one_metric(nightly: Path) -> None:
    """As the options say."""
    other = slower(run_number(4), 2.0)
    (nightly / "other").mkdir()
    (nightly / "other" / "result.json").write_bytes(result_json(replace(other, run=replace(other.run, name="chat", id="other"))))
    found = history_of(nightly, "chat", ["ttft_p95"])

    assert [run.run for run in found.runs] == ["other"]
    assert {series.metric for series in found.series} == {"ttft_p95"}


def test_what_is_not_there_is_one_line(nightly: Path, tmp_path: Path) -> None:
    """A scenario, a metric, a run."""
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="no run of scenario cod is here; there are code; did you mean code"):
        history_of(nightly, "cod")
    with pytest.raises(DataError, match="--metric tpot_p51: no such metric"):
        history_of(nightly, metrics=["tpot_p51"])
    with pytest.raises(DataError, match="no run is here"):
        history_of(tmp_path / "none")


def test_a_page_that_is_asked_again_sees_what_was_written_since(nightly: Path) -> None:
    """A result that was replaced, and a run that came."""
    before = history_as_it_stands(nightly)
    again = history_as_it_stands(nightly)
    thirteenth = slower(run_number(13), 1.12)
    (nightly / "thirteenth").mkdir()
    (nightly / "thirteenth" / "result.json").write_bytes(result_json(thirteenth))

    assert again is before
    assert len(history_as_it_stands(nightly).runs) == len(before.runs) + 1
