"""Runs one command for as long as its own standard input stays open, and leaves no process of it behind, whatever happens.

Started by `arms/launch.py` between a run and an engine, so that a run which is killed outright still takes its engines with it.
There are two of it, one inside the other: whichever is killed outright, the other one is left to end the engine and all its
workers.
Nothing of specbench is imported here; what the command is or says is not looked at.

    python -m specbench.arms.supervisor COMMAND...      exits with the command's code, 128 + n where signal n ended it
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

GRACE_S = 10.0
REAP_S = 5.0
POLL_S = 0.05
INNER = "--inner"
_OWN = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "TMPDIR", "VIRTUAL_ENV")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main(command: list[str]) -> int:
    """The command's exit code, once it and all its descendants are gone."""
    # The run decides what Ctrl-C and a terminal that closes mean; it says so by closing the pipe.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    alive, held = os.pipe()  # it ends when this process does, even where nothing in it can run any more
    inner = subprocess.Popen(
        [sys.executable, __file__, INNER, str(alive), *command],
        pass_fds=(alive,),
        env={name: os.environ[name] for name in _OWN if name in os.environ},
        start_new_session=True,  # what is sent to this one's group is not sent to both
    )
    os.close(alive)
    signal.signal(signal.SIGTERM, lambda number, frame: _signal(inner.pid, signal.SIGTERM))
    told = json.dumps(dict(os.environ)).encode()  # by the pipe, as a list of arguments is for everybody to read
    with contextlib.suppress(BrokenPipeError):
        os.write(held, len(told).to_bytes(4, "big"))
        while told:
            told = told[os.write(held, told) :]
    code = inner.wait()
    _end_descendants(inner.pid)
    return code if code >= 0 else 128 - code


def keep(command: list[str], alive: int) -> int:
    """The command's exit code, as a process gives it; ends the command when its input or the outer keeper does."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    environment = json.loads(_read(alive, int.from_bytes(_read(alive, 4), "big")) or b"{}")
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_as_engine, env=environment
        )
    except OSError as error:
        os.write(2, f"{command[0]}: cannot be started: {error.strerror}\n".encode())
        return 127
    signal.signal(signal.SIGTERM, lambda number, frame: _signal_group(process.pid, signal.SIGTERM))
    threading.Thread(target=_end_with_parent, args=(process, alive), daemon=True).start()
    code = process.wait()
    _end_descendants(process.pid)
    return code if code >= 0 else 128 - code


def _read(pipe: int, size: int) -> bytes:
    """So many bytes, or fewer where the pipe ends before."""
    read = b""
    while len(read) < size and (piece := os.read(pipe, size - len(read))):
        read += piece
    return read


def _as_engine() -> None:
    """In the child, before the command: ordinary signals again, and death if this process is killed outright."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_with_parent(process: "subprocess.Popen[bytes]", alive: int) -> None:
    """Waits for the end of standard input, or of the outer keeper; then the whole group is asked to end, and all is made
    to after a grace.
    """
    while True:  # not through sys.stdin, whose lock this thread would hold when the interpreter ends
        ready = select.select([0, alive], [], [])[0]
        if any(not os.read(one, 1) for one in ready):
            break
    _signal_group(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(POLL_S)
    _signal_group(process.pid, signal.SIGKILL)
    _kill_children()


def _end_descendants(group: int) -> None:
    """Kills what the command left behind: the rest of its group, and (on Linux) descendants that had left the group.

    Waits until they are gone, but not for ever: the kernel may hold on to one.
    """
    _signal_group(group, signal.SIGKILL)
    deadline = time.monotonic() + REAP_S
    while (orphans := _kill_children()) and time.monotonic() < deadline:
        if not any(_is_reaped(orphan) for orphan in orphans):
            time.sleep(POLL_S)


def _kill_children() -> list[int]:
    """Kills all children of this process, and says which there were."""
    children = _children()
    for child in children:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    return children


def _is_reaped(child: int) -> bool:
    """Whether the child is gone by now; waiting for one that does not die would leave the others alive."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(child, os.WNOHANG) != (0, 0)
    return True


def _children() -> list[int]:
    """The children of this process, to which a subreaper's orphaned descendants belong; none where no /proc tells."""
    told = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in told.read_text().split()] if told.exists() else []


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    if sys.argv[1:2] == [INNER]:
        sys.exit(keep(sys.argv[3:], int(sys.argv[2])))
    sys.exit(main(sys.argv[1:]))
