"""Counts the processes that an engine left behind, by a mark in their environment, which every descendant inherits."""

import time
import uuid
from collections.abc import Iterable
from pathlib import Path

NAME = "SPECBENCH_TEST_MARK"


def a_mark() -> str:
    """A value of `NAME` that no other test has."""
    return uuid.uuid4().hex


def marked(mark: str) -> dict[int, str]:
    """The command lines of all living processes with this mark, or in a session with one that has it, by process id.

    A process that gives itself a title writes it over its environment, so the mark alone would miss it.
    """
    wanted = f"{NAME}={mark}".encode()
    commands: dict[int, str] = {}
    sessions: dict[int, int] = {}
    bearers: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            environment = (entry / "environ").read_bytes().split(b"\0")
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if state == "Z":
            continue
        pid = int(entry.name)
        commands[pid], sessions[pid] = command, int(session)
        if wanted in environment:
            bearers.add(pid)
    theirs = {sessions[pid] for pid in bearers}
    return {pid: command for pid, command in commands.items() if pid in bearers or sessions[pid] in theirs}


def left_after(mark: str, seconds: float, known: Iterable[int] = ()) -> dict[int, str]:
    """The processes with this mark, or among the `known`, once there is none, or once so many seconds have passed."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark) | _alive(known)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _alive(known: Iterable[int]) -> dict[int, str]:
    return {pid: "seen before" for pid in known if Path(f"/proc/{pid}/cmdline").exists()}
