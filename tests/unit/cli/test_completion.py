"""Completion as a shell asks for it: the program with an environment variable, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import specbench

HEAVY = ("locust", "gevent", "pandas", "matplotlib", "scipy", "numpy")  # pydantic is loaded by typer itself


def completed(*words: str, cwd: Path | None = None) -> list[str]:
    """What bash is told for the last of these words."""
    env = os.environ | {
        "_SPECBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("specbench", *words)),
        "COMP_CWORD": str(len(words)),
    }
    loaded = f"print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    code = f"import sys; sys.argv[0] = 'specbench'; import specbench.cli.main as program\ntry: program.main()\nfinally: {loaded}"
    env["PYTHONPATH"] = str(Path.cwd())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env, cwd=cwd)
    assert done.stderr.split() == []
    return done.stdout.split()


def test_scenarios_runs_formats_engines_and_profiles_are_completed(tmp_path: Path) -> None:
    """By what is there, and nothing heavy is imported for it."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "code.yaml").write_text("")
    (tmp_path / "mine.yaml").write_text("")
    run = tmp_path / "reports" / "code-1"
    run.mkdir(parents=True)
    (run / "result.json").write_text("{}")

    assert completed("run", "", cwd=tmp_path) == ["mine.yaml", "reports/", "scenarios/", "scenarios/code.yaml"]
    assert completed("gate", "l", cwd=tmp_path) == ["latest"]
    assert completed("gate", "reports/c", cwd=tmp_path) == ["reports/code-1"]
    assert completed("report", "--format", "j", cwd=tmp_path) == ["json", "junit"]
    assert completed("probe", "--engine", "v", cwd=tmp_path) == ["vllm"]
    assert completed("run", "x.yaml", "--profile", "s", cwd=tmp_path) == ["smoke", "standard"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    """The variable of the program is in it."""
    done = specbench("completion", shell)

    assert done.returncode == 0
    assert "_SPECBENCH_COMPLETE" in done.stdout


def test_another_shell_is_refused() -> None:
    """Exit 2, with those that there are."""
    done = specbench("completion", "tcsh")

    assert done.returncode == 2
    assert "zsh" in done.stderr
