"""Whether showing a run costs its generator anything: processor time a chunk of the reader, on a terminal and without one.

Both arms are plain embedded engines at 24 streams and three times their speed, about 2,000 chunks a second, as in `soak.py`. Runs
on a pseudo-terminal, whose display is drawn as a person would see it, take turns with runs whose output is a pipe.

    python -m benchmarks.live_view [--times 5] [--write]
"""

import argparse
import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from benchmarks.machine import cpu_s, described
from benchmarks.results import write_section
from benchmarks.soak import MEASURED, lines_in, role_of, run_command
from tests.support.leftovers import NAME, a_mark, marked

PAIRS, BLOCK_S, EVERY_S = 3, 8, 0.2
MOST = 1.03  # times what it costs without a display
READER = "load"
SIZE = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}


def main(words: list[str]) -> int:
    """Prints each run and the ratio of the medians; answers 0 where the display costs at most 3 %."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_view", description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="keep the table in RESULTS.md")
    asked = parser.parse_args(words)
    costs: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * asked.times):
        shown = number % 4 in (0, 3)  # which comes first takes turns too
        cost = reader_us_a_chunk(shown)
        print(f"{'shown' if shown else 'plain'}  {cost:6.1f} µs a chunk", flush=True)
        costs[shown].append(cost)
    with_it, without = (median(costs[shown]) for shown in (True, False))
    met = with_it <= MOST * without
    line = f"reader, median of {asked.times}: {with_it:.1f} µs a chunk shown, {without:.1f} plain, ratio {with_it / without:.3f}"
    verdict = f"{line} (at most {MOST:g}): {'met' if met else 'MISSED'}"
    print(verdict)
    if asked.write:
        every = ", ".join(f"{shown:.1f} / {plain:.1f}" for shown, plain in zip(costs[True], costs[False], strict=True))
        write_section(
            "The display of a run", f"{described()}\n\nShown / plain, µs a chunk of the reader: {every}.\n\n- {verdict}"
        )
    return 0 if met else 1


def reader_us_a_chunk(shown: bool) -> float:
    """Processor time of the reader ÷ the chunks that it read, in one run; its start weighs alike in both kinds."""
    mark = a_mark()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "run"
        command = run_command(folder, PAIRS, BLOCK_S)
        master, terminal = pty.openpty()
        drawn = threading.Thread(target=_drain, args=(master,), daemon=True)
        drawn.start()
        with subprocess.Popen(
            command,
            env={key: value for key, value in os.environ.items() if key != "CI"} | SIZE | {NAME: mark},
            stdout=subprocess.DEVNULL,
            stderr=terminal if shown else subprocess.DEVNULL,
        ) as run:
            used = _reader_s(run, mark, folder)
        os.close(terminal)
        drawn.join(5)
        if run.returncode not in MEASURED:
            raise SystemExit(f"the run ended with {run.returncode}")
        blocks = [json.loads(line) for line in (folder / "blocks.jsonl").read_text().splitlines()]
    chunks = sum(int(block["health"]["chunks"]) for block in blocks)
    return 1e6 * used / chunks


def _reader_s(run: subprocess.Popen[bytes], mark: str, folder: Path) -> float:
    """The reader's processor time as last found while the run measured."""
    used = 0.0
    while run.poll() is None and lines_in(folder / "blocks.jsonl") < 2 * PAIRS:
        for pid in (pid for pid, line in marked(mark).items() if role_of(line) == READER):
            used = max(used, cpu_s(pid) or 0.0)
        time.sleep(EVERY_S)
    run.wait()
    return used


def _drain(master: int) -> None:
    try:
        while os.read(master, 65536):
            pass
    except OSError:  # the run has closed its end
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
