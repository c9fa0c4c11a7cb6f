"""Whether the client is right, or says that it was not, on a machine whose cores are all taken, and keeps its word on a free one.

    python -m benchmarks.starved [--times 10] [--streams 128] [--rate 100]

Drives the doctor's own measurement so many times with the machine as it is and so many with a busy loop on every core. A figure
that is off by more than half the smallest default margin (10 %, 0.5 ms) without a complaint is a failure; so is a complaint on a
machine that no other program used. Measures and prints; the finer budgets are `fidelity.py`'s.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from specbench.doctor.diagnosis import Reading, Rung
from specbench.doctor.ladder import held_to_truth

TOLERANCE, TOLERANCE_MS = 0.05, 0.5
FREE_SHARE = 0.05
"""Share of the machine that other programs may use in a run that counts as one on a free machine."""


def main() -> int:
    """Prints every run; answers 0 where none was wrong in silence, and none on a free machine complained."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--streams", type=int, default=128)
    parser.add_argument("--rate", type=int, default=100)
    asked = parser.parse_args()
    free = [_told("free", held_to_truth(asked.streams, asked.rate)) for _ in range(asked.times)]
    with _busy_cores():
        starved = [_told("starved", held_to_truth(asked.streams, asked.rate)) for _ in range(asked.times)]
    silent = sum(_wrong_in_silence(rung) for rung in free + starved)
    quiet = [rung for rung in free if (rung.foreign_cpu or 0.0) <= FREE_SHARE]
    false_alarms = sum(bool(rung.complaints) for rung in quiet)
    print(f"wrong in silence: {silent} of {len(free + starved)}")
    print(
        f"complaints on a free machine: {false_alarms} of {len(quiet)} ({len(free) - len(quiet)} runs were disturbed by others)"
    )
    return int(silent > 0 or false_alarms > 0)


def _wrong(rung: Rung) -> list[Reading]:
    return [one for one in rung.wrong if one.said_ms is None or abs(one.said_ms - one.true_ms) > _tolerated_ms(one)]


def _tolerated_ms(reading: Reading) -> float:
    return max(TOLERANCE * reading.true_ms, TOLERANCE_MS)


def _wrong_in_silence(rung: Rung) -> bool:
    return not rung.complaints and (rung.failed > 0 or bool(_wrong(rung)))


def _told(name: str, rung: Rung) -> Rung:
    word = "late, and said so:" if rung.complaints else "WRONG IN SILENCE:" if _wrong_in_silence(rung) else "right"
    errors = ", ".join(f"{one.what} {one.said_ms or 0.0:.2f} for {one.true_ms:.2f}" for one in _wrong(rung))
    others = "unknown" if rung.foreign_cpu is None else f"{rung.foreign_cpu:.0%}"
    print(f"{name:<8}{rung.chunks_per_s:6.0f} chunks/s, others {others:>4}, {word} {errors}", flush=True)
    return rung


@contextmanager
def _busy_cores() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main())
