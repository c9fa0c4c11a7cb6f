"""How long a large dataset takes to be measured, binned and sampled, and how much memory, against the budget.

    python -m benchmarks.dataset [--rows 1000000] [--array-mb 670]

Writes a log of requests (0.8 GB) and one JSON array (670 MB) into a temporary folder, and deletes both.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specbench.model.data.datasets import DatasetReading
from specbench.plan.dataset_bins import BinsRequest, summary_of
from specbench.prompts.corpora import documents

BUDGET_S, BUDGET_MB = 60.0, 1000.0
OUTSIDE = 0.025
CHARACTERS = (5.9, 0.9)  # mean and spread of the logarithm of a prompt's


@dataclass(frozen=True, slots=True)
class Measured:
    """What one file took."""

    seconds: float
    wall_s: float
    peak_mb: float
    shares_off: float
    outside: float


def main(arguments: list[str]) -> int:
    """Prints what was measured against the budget; answers 0 where all of it was met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dataset")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--array-mb", type=int, default=670)
    parser.add_argument("--measure", type=Path)
    asked = parser.parse_args(arguments)
    if asked.measure is not None:
        _measure(asked.measure)
        return 0
    met: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for path, write in ((Path(folder) / "log.jsonl", _write_log), (Path(folder) / "array.json", _write_array)):
            rows = write(path, asked.rows, asked.array_mb)
            print(f"{path.name}: {rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB")
            met += _judged(_apart(path))
            path.unlink()
    return 0 if all(met) else 1


def _apart(path: Path) -> Measured:
    """Measured in a process of its own, whose peak is its file's alone."""
    command = [sys.executable, "-m", "benchmarks.dataset", "--measure", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Measured(**json.loads(done.stdout))


def _measure(path: Path) -> None:
    began, wall = time.process_time(), time.perf_counter()
    summary = summary_of(BinsRequest(path=path, reading=DatasetReading()), None)
    seconds, wall_s = time.process_time() - began, time.perf_counter() - wall
    counts = list(summary.census.bins.values())
    off = max(abs(count / sum(counts) - one.weight) for count, one in zip(counts, summary.bins, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    outside = sum(summary.census.outside.values()) / (summary.census.used + sum(summary.census.outside.values()))
    measured = {"seconds": seconds, "wall_s": wall_s, "peak_mb": peak, "shares_off": off, "outside": outside}
    print(json.dumps(measured))


def _judged(one: Measured) -> list[bool]:
    clock = f"{one.seconds:.1f} s ({one.wall_s:.1f} s by the clock)"
    return [
        _row("processor time", clock, f"{BUDGET_S:.0f} s", one.seconds / BUDGET_S),
        _row("peak memory", f"{one.peak_mb:,.0f} MB", f"{BUDGET_MB:,.0f} MB", one.peak_mb / BUDGET_MB),
        _row("shares off", f"{one.shares_off:.4f}", "0.01", one.shares_off / 0.01),
        _row("outside all bins", f"{100 * one.outside:.2f} %", f"{100 * OUTSIDE} %", one.outside / OUTSIDE),
    ]


def _row(what: str, seen: str, budget: str, share: float) -> bool:
    print(f"  {what:<18} {seen:<36} budget {budget:<10} {share:5.2f} of it  {'met' if share <= 1 else 'MISSED'}")
    return share <= 1


def _texts(seed: int) -> Iterator[str]:
    rng, whole = random.Random(seed), "\n".join(documents("prose"))
    while True:
        length = int(min(20_000, rng.lognormvariate(*CHARACTERS)))
        start = rng.randrange(len(whole) - length - 1)
        yield whole[start : start + length]


def _write_log(path: Path, rows: int, _: int) -> int:
    """Requests as a gateway logs them, with their usage."""
    rng, texts = random.Random(1), _texts(2)
    with path.open("w") as file:
        for number in range(rows):
            text = next(texts)
            messages = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": text}]
            usage = {"prompt_tokens": 1 + int(len(text) / 4.4), "completion_tokens": 1 + int(rng.lognormvariate(4.8, 0.7))}
            row = {"id": number, "model": "m", "messages": messages, "max_tokens": 256, "temperature": 0.7, "usage": usage}
            file.write(json.dumps(row) + "\n")
    return rows


def _write_array(path: Path, _: int, megabytes: int) -> int:
    """Conversations in one array, as ShareGPT's file has them."""
    texts, rows = _texts(3), 0
    with path.open("w") as file:
        file.write("[")
        while file.tell() < megabytes * 1_000_000:
            turns = [{"from": one, "value": next(texts)} for one in ("human", "gpt", "human", "gpt")]
            file.write(("," if rows else "") + json.dumps({"id": str(rows), "conversations": turns}))
            rows += 1
        file.write("]")
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
