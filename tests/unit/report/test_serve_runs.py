"""A folder of runs as pages: the list, each run's report, and nothing else of the disk."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.report import result_json
from specbench.report.serve_runs import runs_app, serve_runs
from tests.support.histories import runs_in_folder, upgraded
from tests.support.page import Page
from tests.support.results import capped, hold, hostile
from tests.unit.report.test_serve import Client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs, one of them broken, and a file that is none."""
    for name, result in (
        ("first", capped()),
        ("second run", replace(hold(), run=replace(hold().run, started="2025-02-02T00:00:00Z"))),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_bytes(result_json(result))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "result.json").write_text("{")
    (tmp_path / "notes.txt").write_text("secret")
    return tmp_path


def test_the_root_lists_runs_newest_first_with_verdict_finding_change_and_link(folder: Path) -> None:
    """One that cannot be read has its reason and no link."""
    answer = Client(runs_app(folder)).get("/")
    page = Page(answer.text)

    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert page.problems == []
    assert [one["href"] for one in page.all("a")] == ["/runs/second%20run", "/runs/first"]
    assert page.text.index("HOLD") < page.text.index("CAPPED")
    assert "TPOT p50 11.7 → 5.25 (−55 %)" in page.text
    assert "broken" in page.text


def test_the_list_says_since_which_run_a_level_is_another_one(tmp_path: Path) -> None:
    """And which facts changed there; where nothing changed it has no such part."""
    changed = Page(Client(runs_app(runs_in_folder(tmp_path / "upgraded", 12, upgraded))).get("/").text)
    equal = Page(Client(runs_app(runs_in_folder(tmp_path / "equal", 12))).get("/").text)

    assert changed.problems == equal.problems == []
    assert "from run 7 of 12 on, s-run-7" in changed.text
    assert "engine_version of both arms: 0.1.0 → 0.2.0" in changed.text
    assert "Changes" not in equal.text


def test_each_run_has_its_report_below(folder: Path) -> None:
    """The page that it left behind, else drawn anew."""
    (folder / "first" / "report.html").write_text("<p>as it was left</p>")

    assert Client(runs_app(folder)).get("/runs/first").text == "<p>as it was left</p>"
    assert "<h1>" in Client(runs_app(folder)).get("/runs/second%20run").text


@pytest.mark.parametrize(
    "path",
    ["/runs/none", "/runs/%2e%2e", "/runs/..%2Ffirst", "/runs/notes.txt", "/notes.txt", "/runs/first/result.json"],
)
def test_nothing_else_is_served(folder: Path, path: str) -> None:
    """Only runs of this folder, by their names."""
    assert Client(runs_app(folder)).get(path).status_code == 404


def test_a_broken_run_is_an_answer_in_words(folder: Path) -> None:
    """And never a traceback."""
    answer = Client(runs_app(folder)).get("/runs/broken")

    assert answer.status_code == 503
    assert "result.json" in answer.text


def test_nothing_can_be_changed(folder: Path) -> None:
    """Other methods are refused."""
    client = Client(runs_app(folder))

    assert {
        client.request(method, path).status_code for method in ("POST", "PUT", "DELETE") for path in ("/", "/runs/first")
    } == {405}


def test_names_are_text(tmp_path: Path) -> None:
    """A scenario's name runs nothing."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").write_bytes(result_json(hostile()))

    page = Page(Client(runs_app(tmp_path)).get("/").text)
    assert page.all("script") == [{}]
    assert "a</script><script>alert(1)</script>" in page.text


def test_a_folder_without_runs_is_said_at_once(tmp_path: Path) -> None:
    """Before anything listens."""
    with pytest.raises(DataError):
        serve_runs(tmp_path, "127.0.0.1", 0)
