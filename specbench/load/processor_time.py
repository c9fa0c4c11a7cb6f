"""How much of the machine's processors all programs together have used. Linux only; elsewhere it is not known."""

import os
from dataclasses import dataclass
from pathlib import Path

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
    except OSError:
        return None
    if not first or first[0] != "cpu" or len(first) <= _LAST:
        return None
    ticks = [int(field) for field in first[1 : _LAST + 1]]
    per_s = os.sysconf("SC_CLK_TCK")
    total = sum(ticks)
    return ProcessorTime((total - ticks[_IDLE] - ticks[_IOWAIT]) / per_s, total / per_s)
