"""The worker processes of this machine: started, watched, and started anew where one was lost while the fleet lasts."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import IO

from specbench.errors import ExitCode
from specbench.load.fleet.wire import JoinFleet
from specbench.load.messages import framed

EXIT_S = 5.0
WATCH_S = 0.2
AGAIN_S = 1.0
FINAL = frozenset({ExitCode.PROMOTE, ExitCode.SCENARIO, ExitCode.UNREACHABLE})
"""How a worker ends that is not wanted any more, or will never be."""


_PASSED_ON = ("PYTHON", "LC_", "LD_", "SSL_", "SPECBENCH_CLIENT", "OPENBLAS_", "OMP_")
_PASSED_ON_ALONE = frozenset({"HOME", "LANG", "PATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process of a fleet needs of the environment: no key is in it, as every key that it needs comes sealed."""
    return {
        name: value
        for name, value in environment.items()
        if name in _PASSED_ON_ALONE or name.startswith(_PASSED_ON) or name.lower().endswith("_proxy")
    }


class WorkerProcesses:
    """So many workers for as long as the `with` lasts. The secret goes over their standard input, with which they end."""

    def __init__(self, count: int, join: JoinFleet, stderr: IO[bytes] | None = None) -> None:
        self._join, self._stderr = join, stderr
        self._lock = threading.Lock()
        self._closing = False
        self._processes = [self._start() for _ in range(count)]
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "WorkerProcesses":
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closing = True
        for process in self._processes:
            _close(process)
        for process in self._processes:
            try:
                process.wait(EXIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that are running."""
        return tuple(process.pid for process in self._processes if process.poll() is None)

    def wait(self) -> int:
        """The exit code, once every worker has ended for good: the first that is not 0."""
        while any((code := process.poll()) is None or code not in FINAL for process in self._processes):
            time.sleep(WATCH_S)
        return next((code for process in self._processes if (code := process.returncode)), ExitCode.PROMOTE)

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-m", "specbench.load.fleet.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env=without_keys(os.environ),
        )
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(framed(self._join))
            process.stdin.flush()
        return process

    def _watch(self) -> None:
        """A worker that was killed, or whose master fell silent, is started anew: the fleet counts on so many."""
        while True:
            time.sleep(WATCH_S)
            lost = [place for place, one in enumerate(self._processes) if one.poll() not in (None, *FINAL)]
            if lost:
                time.sleep(AGAIN_S)
            with self._lock:
                if self._closing:
                    return
                for place in lost:
                    _close(self._processes[place])
                    self._processes[place] = self._start()


def _close(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
