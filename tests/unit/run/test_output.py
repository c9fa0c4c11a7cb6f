"""Standard output that fails costs its text, never the verdict: its code stands, one line says so, nothing is a traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from specbench.model.result import VerdictWord
from specbench.report import result_json
from tests.support.results import every_verdict

GATE = f"{sys.executable} -m specbench gate"
FULL = "/dev/full"
needs_full = pytest.mark.skipif(not Path(FULL).exists(), reason="no device that is always full here")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as bash runs it, whose pipes fail as their first failing part does."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture(params=["CAPPED", "ROLLBACK", "PROMOTE"])
def judged(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """A folder with a result of each kind, and its code."""
    verdict: VerdictWord = request.param
    (tmp_path / "result.json").write_bytes(result_json(every_verdict()[verdict]))
    return tmp_path, {"CAPPED": 11, "ROLLBACK": 20, "PROMOTE": 0}[verdict]


@pytest.mark.parametrize(
    "to",
    ["| true", pytest.param(f"> {FULL}", marks=needs_full), ">&-", "| (exec <&-; sleep 0.1)"],
    ids=["gone", "full", "closed", "shut"],
)
def test_a_verdict_outlives_its_reader(judged: tuple[Path, int], to: str) -> None:
    """N-28: 11 stays 11, and a ROLLBACK is never 0."""
    folder, code = judged
    # A reader that leaves after the first byte may have left before or after the text: the code is the same.
    done = shell(f"{GATE} {folder} {to}")

    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1
    if to == ">&-" or FULL in to:
        assert "standard output cannot be written" in done.stderr
        assert "the exit code stands" in done.stderr


@needs_full
def test_a_verdict_needs_no_stream_at_all(judged: tuple[Path, int]) -> None:
    """Both full, and both closed."""
    folder, code = judged
    assert shell(f"{GATE} {folder} > {FULL} 2> {FULL}").returncode == code
    assert shell(f"{GATE} {folder} >&- 2>&-").returncode == code


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "cp437"])
def test_a_console_without_a_character_shows_another(encoding: str) -> None:
    """N-29: a minus sign stays one, so that no gain reads as a loss."""
    done = shell(f"{GATE} reports/example", PYTHONIOENCODING=encoding)

    assert (done.returncode, done.stderr) == (11, "")
    assert done.stdout.startswith("CAPPED  ")
    assert re.search(r"<= -5 % +ok$", done.stdout, re.MULTILINE)
    assert "?" not in done.stdout.replace("? needs", "").replace("(?)", "").replace("? open", "")


def test_a_locale_without_any_letters_is_no_fault() -> None:
    """C, with Python's own remedies switched off."""
    done = shell(f"{GATE} reports/example", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")

    assert (done.returncode, done.stderr) == (11, "")


@needs_full
def test_what_was_asked_for_and_cannot_be_written_is_an_error() -> None:
    """A report that is nowhere is not made; a reader that has seen enough is content."""
    report = f"{sys.executable} -m specbench report reports/example --format json -o -"
    full = shell(f"{report} > {FULL}")
    shut = shell(f"{report} | head -c 1 > /dev/null")
    helped = shell(f"{sys.executable} -m specbench --help > {FULL}")

    assert (full.returncode, len(full.stderr.splitlines())) == (65, 1)
    assert "No space left on device" in full.stderr
    assert shut.returncode == 0
    assert "Traceback" not in shut.stderr + helped.stderr
    assert helped.returncode not in (0, 1, 2)
