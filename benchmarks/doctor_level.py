"""Whether the client is true at the load up to which `doctor` calls it so: the comparison of `fidelity`, made there.

    python -m benchmarks.doctor_level [--seconds 6] [--repeat 3] [--write]

Asks the doctor, then measures anew at the highest rung that it found true, and prints every figure and whether it met its budget.
"""

import argparse
import sys

from benchmarks.fidelity import Level, Row, line_of, measured, ours
from benchmarks.machine import described
from benchmarks.results import write_section
from specbench.doctor import Diagnosis, as_text, doctor

TITLE = "What the doctor promises"


def main(arguments: list[str] | None = None) -> int:
    """Prints the doctor's level and the figures there; answers 0 where all of them met their budgets."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the outcome into benchmarks/RESULTS.md too")
    asked = parser.parse_args(arguments)
    diagnosis = doctor(None, say=lambda said: print(said, flush=True))
    print(as_text(diagnosis), flush=True)
    level = named_level(diagnosis)
    if level is None:
        print("the doctor names no load at which this machine measures truly: nothing to hold it to")
        return 1
    rows = []
    for _ in range(asked.repeat):
        rows.append(measured("specbench", level, asked.seconds, ours(level, asked.seconds)))
        print(line_of(rows[-1]), flush=True)
    sentence, met = verdict(level, diagnosis, rows)
    print(sentence)
    if asked.write:
        text = f"`python -m benchmarks.doctor_level --write` wrote this section: {described()}."
        write_section(TITLE, "\n".join([text, "", "```", *map(line_of, rows), "```", "", f"- {sentence}"]))
    return 0 if met else 1


def named_level(diagnosis: Diagnosis) -> Level | None:
    """The load of the highest rung that the doctor found true; None where there is none."""
    true = [rung for rung in diagnosis.rungs if rung.ok]
    best = max(true, key=lambda rung: rung.chunks_per_s, default=None)
    return None if best is None else Level(best.streams, best.rate)


def verdict(level: Level, diagnosis: Diagnosis, rows: list[Row]) -> tuple[str, bool]:
    """In a sentence whether the client was true at the level named, and whether it was."""
    missed = sorted({what for row in rows for what, _, _, ok in row.errors() if not ok})
    outcome = "met" if not missed else f"MISSED: {', '.join(missed)}"
    named = f"the doctor names {diagnosis.chunks_per_s or 0.0:.0f} chunks/s a process ({level.name})"
    return f"{named}; budgets there in {len(rows)} runs: {outcome}", not missed


if __name__ == "__main__":
    sys.exit(main())
