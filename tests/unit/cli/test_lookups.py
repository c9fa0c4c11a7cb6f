"""`explain`, `list` and the options that every command on a run has in common."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specbench.cli.main import app
from specbench.errors import DataError
from specbench.report import result_json
from tests.support.results import capped

EXAMPLE = "reports/example"


def asked(*words: str, **environment: str) -> Result:
    """The command, in a terminal of 80 columns without colour."""
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "80", "NO_COLOR": "", "FORCE_COLOR": "", **environment})


@pytest.mark.parametrize("word", ["pace", "tpot_p95", "HOLD", "no_benefit", "merged_events", "unread_text", "exit-codes"])
def test_a_word_is_explained(word: str) -> None:
    """Its entry, and as JSON."""
    done = asked("explain", word)

    assert done.exit_code == 0
    assert done.stdout.count("\n") >= 2
    assert json.loads(asked("explain", word, "--json").stdout)


def test_words_with_blanks_need_no_quotes() -> None:
    """As a report has them."""
    assert asked("explain", "acceptance", "length").stdout.startswith("acceptance length (word)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["paec"], "did you mean pace?"),
        (["xyzzy"], "docs/glossary.md"),
        (["reports/nowhere"], "specbench list"),
        ([EXAMPLE, "xyzzy"], "RUN LOAD METRIC"),
        ([EXAMPLE, "7", "pace_p95"], "c1, c16"),
        ([EXAMPLE, "16", "paec_p95"], "did you mean pace_p95?"),
    ],
)
def test_what_cannot_be_explained_is_one_line(words: list[str], said: str) -> None:
    """65, and what to try."""
    done = asked("explain", *words)

    assert isinstance(done.exception, DataError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_run_is_explained_at_length_and_one_finding_by_its_arithmetic() -> None:
    """A folder or `latest` is a run, any other word a word."""
    whole, one = asked("explain", EXAMPLE), asked("explain", EXAMPLE, "16", "ttft_p50")

    assert whole.stdout.count("\n") > 60
    assert one.stdout.startswith("16 streams, TTFT p50, ms")
    assert json.loads(asked("explain", EXAMPLE, "--json").stdout)["verdict"] == "CAPPED"
    assert "In this run" in asked("explain", EXAMPLE, "harm_beyond").stdout
    assert asked("explain", EXAMPLE, "1", "2", "3").exit_code == 2


def test_without_a_name_the_latest_run_is_taken_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, so that standard output stays what was asked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports" / "mine").mkdir(parents=True)
    (tmp_path / "reports" / "mine" / "result.json").write_bytes(result_json(capped()))

    for words in (["gate", "-q"], ["gate", "latest", "-q"], ["report", "-q"]):
        done = asked(*words)
        assert done.stdout.startswith("CAPPED  code: ")
        assert "reports/mine" in done.stderr
        assert done.exit_code == (11 if words[0] == "gate" else 0)


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "latest", "--host", "203.0.113.1"],
        ["compare", "latest", "latest"],
        ["confirm", "latest"],
        ["plan", "code", "--like", "latest"],
        ["export", "dashboard", "latest", "--speculative", '{a="b"}'],
    ],
    ids=lambda words: words[0],
)
def test_wherever_a_run_is_named_latest_is_one(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named on standard error, once for each time that it was given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports" / "mine").mkdir(parents=True)
    (tmp_path / "reports" / "mine" / "result.json").write_bytes(result_json(capped()))

    assert asked(*words).stderr.count("the latest run: reports/mine") == words.count("latest")


@pytest.mark.parametrize("command", ["gate", "report", "list", "explain"])
def test_json_is_what_a_program_reads(command: str) -> None:
    """Whole, on standard output, and nothing else there."""
    json.loads(asked(command, EXAMPLE, "--json").stdout)


def test_two_ways_to_print_contradict_each_other() -> None:
    """Exit 2, and both are named."""
    done = asked("gate", EXAMPLE, "-q", "-v")

    assert done.exit_code == 2
    assert "--verbose, --quiet" in done.output


@pytest.mark.parametrize(
    ("words", "environment", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_and_as_asked_for(words: list[str], environment: dict[str, str], colored: bool) -> None:
    """None in a pipe; NO_COLOR beats FORCE_COLOR, and the option beats both."""
    assert ("\x1b[" in asked("report", EXAMPLE, *words, **environment).stdout) == colored


def test_another_word_for_colour_is_an_error_of_the_command_line() -> None:
    """Exit 2."""
    assert asked("gate", EXAMPLE, "--color", "sometimes").exit_code == 2


@pytest.mark.parametrize(
    ("environment", "plain"),
    [({"COLUMNS": "40"}, False), ({"TERM": "dumb"}, False), ({"PYTHONIOENCODING": "cp1252"}, True), ({}, False)],
)
def test_any_terminal_can_show_it(environment: dict[str, str], plain: bool) -> None:
    """40 columns, a dumb one, a Windows code page, a pipe: no traceback, no question mark for a character."""
    command = [sys.executable, "-m", "specbench", "report", EXAMPLE]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=True)
    said = done.stdout.decode("cp1252" if plain else "utf-8")

    assert done.stderr == b""
    assert said.isascii() == plain
    assert "\x1b" not in said
    assert said.startswith("CAPPED")


def test_runs_are_listed_with_verdict_and_finding(tmp_path: Path) -> None:
    """Newest first, as many as are asked for; quietly, a line each."""
    for name in ("one", "two", "three"):
        shutil.copytree(EXAMPLE, tmp_path / name)
    whole, few = asked("list", str(tmp_path)), asked("list", str(tmp_path), "--limit", "1")

    assert whole.stdout.count("CAPPED") == 3
    assert few.stdout.count("CAPPED") == 1
    assert "and 2 older: --limit 3" in few.stdout
    assert asked("list", str(tmp_path), "-q").stdout.splitlines()[0] == f"CAPPED  {tmp_path / 'two'}"
    assert len(json.loads(asked("list", str(tmp_path), "--json").stdout)) == 3
    with pytest.raises(DataError, match="name one: "):
        raise asked("gate", str(tmp_path)).exception or AssertionError


def test_a_format_is_taken_in_any_case_and_a_misspelt_one_guessed(tmp_path: Path) -> None:
    """`--format HTML` is html."""
    run = shutil.copytree(EXAMPLE, tmp_path / "run")

    assert json.loads(asked("report", str(run), "-f", "JSON").stdout)["verdict"] == "CAPPED"
    assert "did you mean junit?" in str(asked("report", str(run), "--format", "junti").exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", "scenarios/cod.yaml"], "did you mean scenarios/code.yaml?"),
        (["plan", "scenarios/code.yaml", "--set", "matrix.pair=6"], "--set matrix.pair: unknown key; did you mean pairs?"),
        (["plan", "scenarios/code.yaml", "--set", "arms.baseline.api_key=sk-abcdef"], "a key is named, not written: api_key_env"),
        (["plan", "scenarios/code.yaml", "--set", "arms.baseline.url=localhost:8001"], "did you mean http://localhost:8001?"),
    ],
)
def test_a_slip_is_guessed(words: list[str], said: str) -> None:
    """A file, a key, an address; a key's value is not printed."""
    error = str(asked(*words).exception)

    assert said in error
    assert "sk-abcdef" not in error


def test_a_profile_that_there_is_not_is_an_error_of_the_command_line() -> None:
    """Exit 2, as for every value of an option."""
    done = asked("plan", "scenarios/code.yaml", "--profile", "quick")

    assert done.exit_code == 2
    assert "--profile" in done.output
