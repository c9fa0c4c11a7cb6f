"""What people read, kept in files: tests say which text it is, and its wording lives under `tests/golden` alone.

`python -m tests.support.goldens` makes all of those files again; `SPECBENCH_GOLDENS=write` before pytest those of its tests.
Read the difference before you commit it. Nothing is normalised here: a test hands over a text that is the same on every machine.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

GOLDEN = Path("tests/golden")
MADE = ("reports", "help", "texts")  # the folders that hold nothing but what this module wrote
WRITE = "SPECBENCH_GOLDENS"
AGAIN = "if the new one is right: .venv/bin/python -m tests.support.goldens"
_HEAD = re.compile(r"^=== (.+)\n", re.MULTILINE)


def same_file(name: str, text: str) -> None:
    """Fails unless the text is that of the golden file of this name, such as 'help/run.txt'."""
    file = GOLDEN / name
    if _writing():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return
    _compare(file.read_text() if file.exists() else "", text, str(file))


def same_text(name: str, *lines: str) -> None:
    """Fails unless these lines are the block of this name in the golden file of the test that runs."""
    file = GOLDEN / "texts" / Path(_test_file()).relative_to("tests").with_suffix(".txt")
    text = "\n".join(lines) + "\n"
    if _writing():
        _put(file, name, text)
        return
    _compare(blocks_of(file.read_text() if file.exists() else "").get(name, ""), text, f"{file}, '{name}'")


def blocks_of(content: str) -> dict[str, str]:
    """The blocks of a golden file, each under its line '=== name'."""
    _, *parts = _HEAD.split(content)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _writing() -> bool:
    return os.environ.get(WRITE) == "write"


def _test_file() -> str:
    return os.environ["PYTEST_CURRENT_TEST"].split("::")[0]


def _put(file: Path, name: str, text: str) -> None:
    """Two processes may run the tests of one module, so the file is locked while it is read and written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+") as open_file:
        fcntl.flock(open_file, fcntl.LOCK_EX)
        open_file.seek(0)
        blocks = blocks_of(open_file.read()) | {name: text}
        open_file.truncate(0)
        open_file.write("".join(f"=== {key}\n{blocks[key]}" for key in sorted(blocks)))


def _compare(golden: str, text: str, where: str) -> None:
    changes = unified_diff(golden.splitlines(), text.splitlines(), where, "now", lineterm="", n=1)
    assert text == golden, "\n".join(["the text is not the golden one; " + AGAIN, *changes])


def main() -> int:
    """Makes all golden files of texts again, so that none is left whose test is gone."""
    for folder in MADE:
        shutil.rmtree(GOLDEN / folder, ignore_errors=True)
    tests = sorted(str(file) for file in Path("tests").rglob("test_*.py") if "tests.support.goldens" in file.read_text())
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", *tests]
    return subprocess.run(command, env=os.environ | {WRITE: "write"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
