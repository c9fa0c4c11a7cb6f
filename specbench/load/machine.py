"""What the generator's process and its machine did while a block's window was open. Measures; judging is the analysis's.

How busy the machine's processors are is known on Linux only.
"""

import os
import resource
import time
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from specbench.stream.connection import now_ns
from specbench.units import ms

STAT = Path("/proc/stat")
# Fields of the line `cpu` (proc_stat(5)); guest time is part of user time already.
_IDLE, _IOWAIT, _LAST = 3, 4, 8


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """Seconds since the machine's start, over all cores: busy, for us or for other machines on the same host, and in all."""

    busy_s: float
    total_s: float


def machine_busy_s(stat: Path = STAT) -> ProcessorTime | None:
    """Processor time until now; None where the system does not tell."""
    try:
        first = stat.read_text().split("\n", 1)[0].split()
        ticks = [int(field) for field in first[1 : _LAST + 1]]
    except (OSError, ValueError):
        return None
    if not first or first[0] != "cpu" or len(ticks) < _LAST:
        return None
    per_s = os.sysconf("SC_CLK_TCK")
    total = sum(ticks)
    return ProcessorTime((total - ticks[_IDLE] - ticks[_IOWAIT]) / per_s, total / per_s)


def own_cpu_s() -> float:
    """CPU time of this process and of all it started that have ended, in seconds."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class ResourceUsage(NamedTuple):
    """Shares are of one core (`cpu_share`) and of all (`machine_cpu_share`); the lag is the 99th percentile of how much later
    than asked for the event loop woke a sleeper. None where the window never opened, or the system does not tell."""

    cpu_share: float | None = None
    machine_cpu_share: float | None = None
    loop_lag_ms_p99: float | None = None


class _Moment(NamedTuple):
    at_ns: int
    own_ns: int
    machine: ProcessorTime | None


class ResourceMonitor:
    """Is told when the window opens and closes, and after every sleep how late it ended."""

    def __init__(self) -> None:
        self._opened: _Moment | None = None
        self._closed: _Moment | None = None
        self._lags = array("q")

    def window_is(self, opened: bool, closed: bool) -> None:
        """The window's state, as often as one likes; what counts is the first time of each."""
        if opened and self._opened is None:
            self._opened = _moment()
        if closed and self._closed is None:
            self._closed = _moment()

    def woke(self, late_ns: int) -> None:
        """A sleep ended so much later than it was to."""
        if self._opened is not None and self._closed is None:
            self._lags.append(late_ns)

    def usage(self) -> ResourceUsage:
        """The window's figures, up to now where it has not closed."""
        opened, closed = self._opened, self._closed or _moment()
        if opened is None or closed.at_ns <= opened.at_ns:
            return ResourceUsage()
        lags = sorted(self._lags)
        return ResourceUsage(
            cpu_share=(closed.own_ns - opened.own_ns) / (closed.at_ns - opened.at_ns),
            machine_cpu_share=_share(opened.machine, closed.machine),
            loop_lag_ms_p99=ms(lags[(len(lags) * 99 - 1) // 100]) if lags else None,
        )


def _moment() -> _Moment:
    return _Moment(now_ns(), time.process_time_ns(), machine_busy_s())


def _share(before: ProcessorTime | None, after: ProcessorTime | None) -> float | None:
    if before is None or after is None or after.total_s <= before.total_s:
        return None
    share = (after.busy_s - before.busy_s) / (after.total_s - before.total_s)
    return min(max(share, 0.0), 1.0)  # the kernel's time of waiting may run backwards (proc_stat(5)), and sums round
