"""The tutorial as a person does it: two engines, a terminal, nothing read beforehand."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.commands import TOO_BUSY

PATIENCE_S = 600.0


@contextmanager
def engines() -> Iterator[tuple[str, str]]:
    """The URLs of two built-in engines, of which the second drafts."""
    command = [sys.executable, "-m", "specbench", "engine", "--port", "0"]
    started = [
        subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for words in ([], ["--speculative", "draft_model"])
    ]
    try:
        yield (address(started[0]), address(started[1]))
    finally:
        for process in started:
            process.terminate()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def address(process: "subprocess.Popen[str]") -> str:
    """The URL that the engine prints once it serves."""
    assert process.stdout is not None
    return str(json.loads(process.stdout.readline())["url"])


def at_a_terminal(folder: Path, words: Sequence[str], answers: Sequence[str] = ()) -> tuple[int, str]:
    """The exit code and the screen of a command at a terminal; each question gets the next answer."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
        os.execv(sys.executable, [sys.executable, "-m", "specbench", *words])
    screen, left, until = b"", list(answers), time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 0.3)
        if ready:
            try:
                read = os.read(terminal, 65_536)
            except OSError:
                break
            if not read:
                break
            screen += read
        elif left and screen.rstrip().endswith((b":", b"]")):
            os.write(terminal, f"{left.pop(0)}\n".encode())
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), screen.decode(errors="replace")


@pytest.mark.campaign
def test_from_two_urls_to_a_gate(tmp_path: Path) -> None:
    """`init` with three answers, a smoke run, its gate: the engine is named, and acceptance is the engine's own count."""
    with engines() as (baseline, speculative):
        asked, screen = at_a_terminal(tmp_path, ["init"], [baseline, speculative, ""])
        assert asked == 0, screen
        planned, screen = at_a_terminal(tmp_path, ["plan", "first.yaml", "--profile", "smoke"])
        assert planned == 0, screen
        ran, screen = at_a_terminal(tmp_path, ["run", "first.yaml", "--profile", "smoke"])
        assert ran in (0, 30), screen
        gated, screen = at_a_terminal(tmp_path, ["gate", "latest"])
    (file,) = (tmp_path / "reports").glob("*/result.json")
    result = json.loads(file.read_text())

    assert gated == result["exit_code"], screen
    assert result["endpoints"]["speculative"]["engine"] == "embedded"
    assert all(cell["acceptance"]["source"] == "per-request counts" for cell in result["cells"])
    failed = {check["id"] for cell in result["cells"] for check in cell["integrity"] if check["ok"] is False}
    assert result["verdict"] != "INVALID" or failed & TOO_BUSY
