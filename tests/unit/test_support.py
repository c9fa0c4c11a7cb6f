"""What the tests themselves rest on: golden texts and the comparison of results can fail."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.support import goldens, same_result
from tests.support.goldens import blocks_of, same_file, same_text
from tests.support.same_result import differences

EXAMPLE: dict[str, Any] = json.loads(Path("reports/example/result.json").read_text())


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golden files of these tests alone, compared unless a test says otherwise."""
    monkeypatch.setattr(goldens, "GOLDEN", tmp_path)
    monkeypatch.delenv(goldens.WRITE, raising=False)


def test_a_golden_text_holds_until_a_word_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once, then compared; the failure shows the change and says how to accept it."""
    monkeypatch.setenv(goldens.WRITE, "write")
    same_text("one", "first line", "second line")
    same_text("another", "its text")
    same_file("help/run.txt", "Usage\n")
    monkeypatch.delenv(goldens.WRITE)

    same_text("one", "first line", "second line")
    same_file("help/run.txt", "Usage\n")
    with pytest.raises(AssertionError, match=r"tests\.support\.goldens(.|\n)*-second line\n\+another line"):
        same_text("one", "first line", "another line")
    with pytest.raises(AssertionError, match=r"-Usage\n\+Use"):
        same_file("help/run.txt", "Use\n")
    assert blocks_of((tmp_path / "texts/unit/test_support.txt").read_text()) == {
        "another": "its text\n",
        "one": "first line\nsecond line\n",
    }


def test_a_text_without_a_golden_one_fails() -> None:
    """A new sentence is not accepted by itself."""
    with pytest.raises(AssertionError):
        same_text("new", "a sentence")


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """The example with one value changed."""
    result = deepcopy(EXAMPLE)
    place: Any = result
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return result


@pytest.mark.parametrize(
    "path",
    [
        ("notes", 0),
        ("reasons", 0, "message"),
        ("integrity", 0, "message"),
        ("enable_range", "method"),
        ("cells", 0, "findings", 0, "reason"),
        ("cells", 0, "metrics", 0, "definition"),
    ],
)
def test_results_are_equal_whatever_their_sentences(path: tuple[str | int, ...]) -> None:
    """Texts may be reworded."""
    assert differences(EXAMPLE, changed(path, "In other words.")) == []


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("verdict",), "HOLD", ".verdict: 'CAPPED', then 'HOLD'"),
        (("reasons", 0, "code"), "cap", ".reasons[0].code: 'capped', then 'cap'"),
        (("reasons", 0, "message"), None, ".reasons[0].message: "),
        (("cells", 0, "findings", 0, "notes"), ["more"], ".cells[0].findings[0].notes: 0 items, then 1"),
        (("cells", 1, "findings", 0, "state"), "NODATA", ".cells[1].findings[0].state: "),
        (("cells", 0, "metrics", 0, "ratio"), 1.0672, ".cells[0].metrics[0].ratio: 1.067204929958065, then 1.0672"),
        (("config", "alpha"), None, ".config.alpha: 0.05, then None"),
        (("config", "pairs"), True, ".config.pairs: 4, then True"),
        (("run", "extra"), 1, ".run.extra: only in one of them"),
        (("notes",), [], ".notes: 5 items, then 0"),
    ],
)
def test_whatever_else_changes_is_a_difference(path: tuple[str | int, ...], value: Any, line: str) -> None:
    """A number, a state, a code, a field: each by its place in the file."""
    (found,) = differences(EXAMPLE, changed(path, value))

    assert found.startswith(line)


def test_a_renamed_field_is_the_same_field(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value still counts."""
    monkeypatch.setattr(same_result, "RENAMED", {"old_name": "new_name"})

    assert differences({"a": {"old_name": 1}}, {"a": {"new_name": 1}}) == []
    assert differences({"a": {"old_name": 1}}, {"a": {"new_name": 2}}) == [".a.new_name: 1, then 2"]


def test_the_program_prints_equal_or_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 and 1."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text('{"a": 1}')
    new.write_text('{"a": 2}')

    assert (same_result.main(str(old), str(old)), same_result.main(str(old), str(new))) == (0, 1)
    assert capsys.readouterr().out == "equal\n.a: 1, then 2\n"
