"""The machine beside a measurement: busy loops to starve it, and how much of it went to others meanwhile."""

import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from specbench import __version__
from specbench.load.machine import machine_busy_s

_STEAL = 8  # proc_stat(5): time that the host gave to other machines


@dataclass(slots=True)
class Shares:
    """Of all processor time: what other programs took, and what the host gave to other machines. None where it is not told."""

    foreign: float | None = None
    stolen: float | None = None

    @property
    def disturbed(self) -> bool:
        """Whether so much was taken that a complaint of the client is explained by it."""
        return max(self.foreign or 0.0, self.stolen or 0.0) > 0.05

    def __str__(self) -> str:
        return " / ".join("unknown" if share is None else f"{share:.0%}" for share in (self.foreign, self.stolen))


@contextmanager
def watched() -> Iterator[Shares]:
    """The shares, known once the context has closed; every process of ours must have ended within it."""
    shares = Shares()
    before, own_s, stolen_s = machine_busy_s(), _own_s(), _stolen_s()
    yield shares
    after, stolen_later_s = machine_busy_s(), _stolen_s()
    if before is not None and after is not None and after.total_s > before.total_s:
        total_s = after.total_s - before.total_s
        stolen = None if stolen_s is None or stolen_later_s is None else stolen_later_s - stolen_s
        others_s = after.busy_s - before.busy_s - (_own_s() - own_s) - (stolen or 0.0)
        shares.foreign = max(0.0, others_s / total_s)
        shares.stolen = None if stolen is None else stolen / total_s


@contextmanager
def busy_cores() -> Iterator[None]:
    """A busy loop for every core, for as long as the context is open."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def described() -> str:
    """What ran where, for the head of a table."""
    system = f"Python {platform.python_version()}, {platform.system()} {platform.release()}"
    return f"specbench {__version__}, {system}, {os.cpu_count()} cores that endpoint and client share"


def _own_s() -> float:
    """CPU time of this process and of all it started that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _stolen_s() -> float | None:
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    except OSError:
        return None
    return int(fields[_STEAL]) / os.sysconf("SC_CLK_TCK") if len(fields) > _STEAL else None


def cpu_s(pid: int) -> float | None:
    """Processor time of a process until now (proc_pid_stat(5)); None once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
