"""Half an hour of load from two workers: whether memory grows after the third minute, and whether a request's record is lost.

Both arms are plain embedded engines at 24 streams and three times their speed, about 2,000 chunks a second; blocks last a minute.
It is no part of `make bench`.

    python -m benchmarks.soak [--minutes 30] [--processes 2] [--write]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import described
from benchmarks.results import write_section
from tests.support.leftovers import NAME, a_mark, marked

STREAMS, TIMES_AS_FAST, BLOCK_S, EVERY_S = 24, 3, 60, 5.0
SETTLED_S = 180.0  # from when on memory must stay
MOST_GROWTH = 0.10
LEAST_CHUNKS_A_S = 2000
MEASURED = (0, 30)  # exit codes of a run to its end: a busy machine may spoil its timing
ROLES = {
    "specbench run": "run",
    "specbench.load.fleet.master": "master",
    "specbench.load.fleet.reader": "reader",
    "specbench.load.fleet.worker": "decoder",
    "specbench.load.": "load",
    "specbench.arms.supervisor": "supervisor",
    "specbench.engine": "engine",
    "resource_tracker": "resource tracker",
}


@dataclass(slots=True)
class Course:
    """The resident memory of one process in MB, each with the seconds since the run began."""

    role: str
    seen: list[tuple[float, float]] = field(default_factory=list)

    @property
    def settled(self) -> list[float]:
        """What was seen from the third minute of the process's own life on."""
        return [mb for at, mb in self.seen if at - self.seen[0][0] >= SETTLED_S]

    @property
    def growth(self) -> float | None:
        """The most memory after the third minute ÷ what it was there, minus 1; None for a process that lived shorter."""
        return max(self.settled) / self.settled[0] - 1 if self.settled else None


def main(words: list[str]) -> int:
    """Prints a row for each process and for the records; answers 0 where all is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="keep the table in RESULTS.md")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "run"
        status, courses = soaked(folder, asked.minutes, asked.processes)
        if status not in MEASURED:
            return status
        rows = [*memory_rows(courses), *record_rows(folder)]
    table = ["| what | found | limit | |", "|---|---|---|---|", *(line for line, _ in rows)]
    print("\n".join(table))
    if asked.write:
        note = f"{asked.minutes} minutes, {asked.processes} workers, {STREAMS} streams, blocks of {BLOCK_S} s. {described()}"
        write_section("Soak", "\n".join([note, "", *table]))
    return 0 if all(met for _, met in rows) else 1


def run_command(folder: Path, pairs: int, block_s: int) -> list[str]:
    """A run of two plain embedded engines at about 2,000 chunks a second, in blocks of one length."""
    sets = {
        "arms.speculative.speculative": "null",
        "arms.baseline.options": f"{{times_as_fast: {TIMES_AS_FAST}}}",
        "arms.speculative.options": f"{{times_as_fast: {TIMES_AS_FAST}}}",
        "matrix.concurrency": f"[{STREAMS}]",
        "matrix.primary": str(STREAMS),
        "matrix.pairs": str(pairs),
        "matrix.block": f"{{min_requests: 1, min_s: {block_s}, max_s: {block_s}}}",
    }
    words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "specbench", "run", "scenarios/code.yaml", "--aa", "--answers", "off", *words]
    return [*command, "--out", str(folder)]


def soaked(folder: Path, minutes: int, processes: int) -> tuple[int, list[Course]]:
    """The exit code of such a run, and the memory of each of its processes."""
    mark, pairs = a_mark(), max(2, minutes * 60 // (2 * BLOCK_S))
    command = [*run_command(folder, pairs, BLOCK_S), "-q", "--processes", str(processes)]
    courses: dict[int, Course] = {}
    began = time.monotonic()
    run = subprocess.Popen(command, env=os.environ | {NAME: mark}, stdout=subprocess.DEVNULL)
    try:
        while run.poll() is None:
            if lines_in(folder / "blocks.jsonl") == 2 * pairs:
                break  # what follows is the analysis
            for pid, line in marked(mark).items():
                mb = resident_mb(pid)
                if mb is not None:
                    courses.setdefault(pid, Course(role_of(line))).seen.append((time.monotonic() - began, mb))
            time.sleep(EVERY_S)
        run.wait()
    finally:
        if run.poll() is None:
            run.terminate()
            run.wait()
    return run.returncode, list(courses.values())


def lines_in(path: Path) -> int:
    """How many lines it has; 0 where there is none yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def resident_mb(pid: int) -> float | None:
    """The memory that it holds now; None once it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return None


def role_of(line: str) -> str:
    """What a process is for, by its command line."""
    return next((role for part, role in ROLES.items() if part in line), "other")


def memory_rows(courses: list[Course]) -> list[tuple[str, bool]]:
    """A row for each role: of the processes that lived long enough the one that grew most."""
    rows = []
    for role in dict.fromkeys(course.role for course in courses):
        grown = [(course.growth, course) for course in courses if course.role == role and course.growth is not None]
        if grown:
            growth, worst = max(grown, key=lambda one: one[0])
            found = f"{worst.settled[0]:.0f} MB, then {100 * growth:+.1f} % at most"
            rows.append(_row(f"memory, {role} ({len(grown)})", found, f"{100 * MOST_GROWTH:+.0f} %", growth <= MOST_GROWTH))
    return rows or [_row("memory", "no process lived for three minutes", "one", False)]


def record_rows(folder: Path) -> list[tuple[str, bool]]:
    """Whether every request that an engine answered has one record, and how much load that was."""
    blocks = [json.loads(line) for line in (folder / "blocks.jsonl").read_text().splitlines()]
    places = [(one["block"], one["index"]) for one in map(json.loads, (folder / "requests.jsonl").read_text().splitlines())]
    answered = sum(int(block["engine_truth"]["requests"]) for block in blocks)
    window_s = sum(block["window_close_ns"] - block["window_open_ns"] for block in blocks) / 1e9
    rate = sum(block["health"]["chunks"] for block in blocks) / window_s
    return [
        _row("requests answered by engines, and records", f"{answered:,} and {len(places):,}", "equal", answered == len(places)),
        _row("records twice", str(len(places) - len(set(places))), "0", len(places) == len(set(places))),
        _row("chunks a second", f"{rate:,.0f}", f"at least {LEAST_CHUNKS_A_S:,}", rate >= LEAST_CHUNKS_A_S),
    ]


def _row(what: str, found: str, limit: str, met: bool) -> tuple[str, bool]:
    return f"| {what} | {found} | {limit} | {'met' if met else '**missed**'} |", met


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
