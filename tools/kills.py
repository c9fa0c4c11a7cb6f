"""Kills parts of runs with SIGKILL at seeded random moments, and holds what is left to its promise.

Each time a short run of two workers is begun, one of its processes is killed (the run itself, the master, a worker's reader or
decoder, or an engine), its folder is analysed and the run is resumed until it has its planned pairs. By the identities of its
requests none is counted twice, and every line that stood on disk before still stands there, in its place.

    python tools/kills.py [--kills 20] [--seed 1] [--first 1]
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ARGUMENTS = [
    "scenarios/code.yaml", "--profile", "smoke", "--processes", "2", "--answers", "off",
    "--set", "matrix.pairs=2", "--set", "matrix.concurrency=[2]", "--set", "matrix.primary=2",
    "--set", "matrix.block={min_requests: 6, min_s: 0.7, max_s: 6}",
]  # fmt: skip
PARTS = {
    "parent": None,
    "master": "specbench.load.fleet.master",
    "reader": "specbench.load.fleet.reader",
    "decoder": "specbench.load.fleet.worker",
    "engine": "specbench.engine",
}
MOST_RESUMES = 5
LONGEST_S = 600
MOST_S = 8.0
FINE = (0, 30)  # a busy machine may spoil the generator's timing; that is no matter here


def main(words: list[str]) -> int:
    """Prints a line for each kill; answers 0 where every folder kept its promise."""
    kills, seed, first = (
        int(words[words.index(name) + 1]) if name in words else usual
        for name, usual in (("--kills", 20), ("--seed", 1), ("--first", 1))
    )
    kept = 0
    numbers = range(first, kills + 1)
    for number in numbers:
        part = list(PARTS)[(number - 1) % len(PARTS)]
        with tempfile.TemporaryDirectory() as parent:
            kill = killed_once(Path(parent) / "run", part, random.Random(f"{seed}/{number}"))
        kept += kill.hit and not kill.faults
        print(f"{number:3} of {kills}: {part:7} {kill.line}", flush=True)
    print(f"{kept} of {len(numbers)} folders analysed, and resumed to their planned pairs with each request once")
    return 0 if kept == len(numbers) else 1


@dataclass(frozen=True, slots=True)
class Kill:
    """What one kill came to: when it was, how the run ended, and what went wrong with its folder."""

    after_s: float
    hit: bool
    exit_code: int
    lines: int
    faults: tuple[str, ...]

    @property
    def line(self) -> str:
        """As it is printed."""
        when = f"after {self.after_s:4.1f} s" if self.hit else "came too late"
        return f"{when}, exit {self.exit_code}, {self.lines} requests on disk: {'; '.join(self.faults) or 'kept'}"


def killed_once(folder: Path, part: str, rng: random.Random) -> Kill:
    """One run of which this part was killed, and what became of its folder."""
    run = subprocess.Popen(
        specbench("run", *ARGUMENTS, "--out", str(folder)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + LONGEST_S
    while run.poll() is None and not (folder / "requests.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    after_s = rng.uniform(0.0, MOST_S)
    time.sleep(after_s)
    victims = [run.pid] if PARTS[part] is None else sorted(pid for pid, line in below(run.pid) if PARTS[part] in line)
    hit = run.poll() is None and bool(victims)
    if hit:
        os.kill(rng.choice(victims), signal.SIGKILL)
    exit_code = run.wait(LONGEST_S)
    before = lines_of(folder / "requests.jsonl")
    faults = []
    analysed = subprocess.run(specbench("analyze", str(folder)), capture_output=True, text=True, check=False)
    if analysed.returncode != 0:
        faults.append(f"analyze: exit {analysed.returncode}, {analysed.stderr.strip().splitlines()[-1:]}")
    for _ in range(MOST_RESUMES):
        if whole(folder):
            break
        done = subprocess.run(
            specbench("run", *ARGUMENTS, "--resume", str(folder)), capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
        if done.returncode not in FINE:
            faults.append(f"resume: exit {done.returncode}, {done.stderr.strip().splitlines()[-1:]}")
            break
    after = lines_of(folder / "requests.jsonl")
    if not whole(folder):
        faults.append("pairs are missing")
    faults += [f"{twice} requests stand there twice" for twice in [doubled(after)] if twice]
    if after[: len(before)] != before:
        faults.append(f"of {len(before)} requests on disk not all stand where they stood")
    return Kill(after_s, hit, exit_code, len(before), tuple(faults))


def specbench(*words: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "specbench", *words]


def below(pid: int) -> list[tuple[int, str]]:
    """The processes that this one started, and those that they did, each with its command line."""
    found: list[tuple[int, str]] = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, ValueError, IndexError):
            continue
        if parent == pid:
            found += [(int(entry.name), line), *below(int(entry.name))]
    return found


def lines_of(path: Path) -> list[bytes]:
    """Every whole line of it."""
    try:
        return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    except OSError:
        return []


def doubled(lines: list[bytes]) -> int:
    """How many of these requests have the identity of an earlier one."""
    requests = [json.loads(line) for line in lines]
    return len(requests) - len({(one["block"], one["index"]) for one in requests})


def whole(folder: Path) -> bool:
    """Whether the run reached its end with both blocks of each planned pair in one attempt that holds."""
    if not (folder / "finished.json").exists():
        return False
    found: dict[tuple[int, int], set[str]] = {}
    for line in (folder / "blocks.jsonl").read_bytes().splitlines():
        block = json.loads(line)
        if block["engine_exit"] is None and block["fleet"]["void"] is None:
            found.setdefault((block["pair"], block["attempt"]), set()).add(block["arm"])
    return {pair for (pair, _), arms in found.items() if len(arms) == 2} == {0, 1}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
