"""How long `analyze` takes over a run of hours, and how much memory: a folder of 20,000,000 events, made here, from disk to report.

Measures and prints; no test rests on a time of this machine. `--events N` makes a smaller one.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.analysis import EVENTS, PAIRS, _blocks, _peak_mb, _requests, _row
from specbench.store import Ending, RunWriter
from tests.support.evidence import a_manifest, a_scenario, cells_for

CELLS = 4
WHOLE = 20_000_000
BUDGET_S, BUDGET_MB = 60.0, 2000.0


def main(words: list[str]) -> int:
    """Prints what was measured against the budget; answers 0 where all of it was met."""
    events = int(words[words.index("--events") + 1]) if "--events" in words else WHOLE
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "run"
        lines = made(folder, events)
        size_mb = (folder / "requests.jsonl").stat().st_size / 1e6
        print(f"{lines * EVENTS:,} events in {lines:,} requests, {size_mb:,.0f} MB, {CELLS} cells of {PAIRS} pairs")
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "specbench", "analyze", str(folder), "-q"], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
    cpu_s, peak_mb = used.ru_utime + used.ru_stime, _peak_mb(used)
    met = [
        _row("processor time", f"{cpu_s:.1f} s ({wall_s:.1f} s by the clock)", f"{BUDGET_S:.0f} s", cpu_s / BUDGET_S),
        _row("peak memory", f"{peak_mb:,.0f} MB", f"{BUDGET_MB:,.0f} MB", peak_mb / BUDGET_MB),
    ]
    return 0 if status == 0 and all(met) else 1


def made(folder: Path, events: int) -> int:
    """Writes a finished run of about so many events; how many requests they came in."""
    scenario = a_scenario(tuple(range(1, CELLS + 1)), pairs=PAIRS)
    rng = np.random.default_rng(1)
    lines = 0
    with closing(RunWriter(folder, a_manifest(scenario))) as writer:
        for cell in cells_for(scenario):
            for number, block in enumerate(_blocks(cell, scenario)):
                for record in _requests(block, events // (CELLS * 2 * PAIRS * EVENTS), rng):
                    writer.request(record)
                    lines += 1
                writer.block(replace(block, order=number))
        writer.finish(Ending("2026-01-01T00:00:00Z", ()))
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
