"""Counts the processes that an engine left behind, by a mark in their environment, which every descendant inherits."""

import time
import uuid
from pathlib import Path

NAME = "SPECBENCH_TEST_MARK"


def a_mark() -> str:
    """A value of `NAME` that no other test has."""
    return uuid.uuid4().hex


def marked(mark: str) -> dict[int, str]:
    """The command lines of all living processes with this mark, by process id."""
    wanted = f"{NAME}={mark}".encode()
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def left_after(mark: str, seconds: float) -> dict[int, str]:
    """The processes with this mark once there is none, or once so many seconds have passed."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
