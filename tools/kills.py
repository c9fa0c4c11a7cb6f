"""Kills parts of runs with SIGKILL at seeded random moments, and holds what is left to its promise.

Each time a short run is begun, one of its processes is killed (the run itself, its load generator, or an engine), its folder is
analysed and the run is resumed until it has its planned pairs. By the identities of its requests none is counted twice, and none
that stood on disk before is missing. What decodes is the run itself, where it has one load generator.

    python tools/kills.py [--kills 20] [--seed 1]
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ARGUMENTS = [
    "scenarios/code.yaml", "--profile", "smoke", "--set", "matrix.pairs=2", "--set", "matrix.concurrency=[1]",
    "--set", "matrix.block={min_requests: 6, min_s: 0.7, max_s: 6}",
]  # fmt: skip
PARTS = {"parent": None, "child": "specbench.load.child", "engine": "specbench.engine"}
MOST_RESUMES = 5
LONGEST_S = 600
FINE = (0, 30)  # a busy machine may spoil the generator's timing; that is no matter here


def main(words: list[str]) -> int:
    """Prints a line for each kill; answers 0 where every folder kept its promise."""
    kills, seed = (
        int(words[words.index(name) + 1]) if name in words else usual for name, usual in (("--kills", 20), ("--seed", 1))
    )
    rng = random.Random(seed)
    wrong = 0
    for number in range(kills):
        part = list(PARTS)[number % len(PARTS)]
        with tempfile.TemporaryDirectory() as parent:
            faults = killed_once(Path(parent) / "run", part, rng)
        wrong += bool(faults)
        print(f"{number + 1:3} of {kills}: {part:7} {'; '.join(faults) or 'kept'}", flush=True)
    print(f"{kills - wrong} of {kills} folders analysed, and resumed to their planned pairs with each request once")
    return 1 if wrong else 0


def killed_once(folder: Path, part: str, rng: random.Random) -> list[str]:
    """What went wrong with one run of which this part was killed; nothing where all was well."""
    run = subprocess.Popen(
        specbench("run", *ARGUMENTS, "--out", str(folder)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + LONGEST_S
    while run.poll() is None and not (folder / "requests.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(rng.uniform(0.0, 8.0))
    victims = [run.pid] if PARTS[part] is None else [pid for pid, line in below(run.pid) if PARTS[part] in line]
    if run.poll() is None and victims:
        os.kill(rng.choice(victims), signal.SIGKILL)
    run.wait()
    before = requests_of(folder)
    faults = (
        [] if subprocess.run(specbench("analyze", str(folder)), capture_output=True, check=False).returncode == 0 else ["analyze"]
    )
    for _ in range(MOST_RESUMES):
        if whole(folder):
            break
        done = subprocess.run(
            specbench("run", *ARGUMENTS, "--resume", str(folder)), capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
        if done.returncode not in FINE:
            faults.append(f"resume: exit {done.returncode}, {done.stderr.strip().splitlines()[-1:]}")
            break
    after = requests_of(folder)
    if not whole(folder):
        faults.append("pairs are missing")
    if len(set(after)) < len(after):
        faults.append(f"{len(after) - len(set(after))} requests stand there twice")
    if lost := set(before) - set(after):
        faults.append(f"{len(lost)} requests are gone")
    return faults


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


def requests_of(folder: Path) -> list[tuple[str, int]]:
    """Block and index of every whole line of requests."""
    try:
        lines = (folder / "requests.jsonl").read_bytes().splitlines(keepends=True)
    except OSError:
        return []
    return [(one["block"], one["index"]) for one in (json.loads(line) for line in lines if line.endswith(b"\n"))]


def whole(folder: Path) -> bool:
    """Whether the run reached its end with both blocks of each planned pair in one attempt, and no engine died there."""
    if not (folder / "finished.json").exists():
        return False
    found: dict[tuple[int, int], set[str]] = {}
    for line in (folder / "blocks.jsonl").read_bytes().splitlines():
        block = json.loads(line)
        if block["engine_exit"] is None:
            found.setdefault((block["pair"], block["attempt"]), set()).add(block["arm"])
    return {pair for (pair, _), arms in found.items() if len(arms) == 2} == {0, 1}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
