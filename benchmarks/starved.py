"""Whether a run is right, or says that it is not, on a machine whose cores are all taken, and is never void on a free one.

    python -m benchmarks.starved [--times 10] [--streams 128] [--rate 100] [--only free|starved] [--kinds same slower] [--write]

Every run goes through its verdict, between two endpoints that know what they sent: the same ones, and one 20 % slower. It is
right when its verdict can be and every figure is within its budget (1 % or 0.1 ms of gaps, 1 % or 0.5 ms of TTFT), as far as it
is not INVALID. A run on the free machine that is void although other programs, or other machines on the host, took no more than
5 % of the processors is a failure too; where they took more it is repeated, and shown all the same.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

from benchmarks.known_run import Kind, Known, run_between
from benchmarks.machine import Shares, busy_cores, described, watched
from benchmarks.results import write_section

TITLE = "Runs on a starved and on a free machine"
Place = Literal["free", "starved"]
MOST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One run, where, and what the machine did meanwhile."""

    place: Place
    known: Known
    shares: Shares
    seconds: float

    @property
    def as_must_be(self) -> bool:
        """Right or INVALID, and on a free machine not INVALID."""
        return self.known.right and (self.place == "starved" or self.known.verdict != "INVALID")

    def cells(self) -> list[str]:
        """As a row of the table."""
        known = self.known
        word = "as must be" if self.as_must_be else "disturbed" if self.explained else "**WRONG**"
        said = known.verdict + (f" ({', '.join(known.reasons)})" if known.reasons else "")
        worst = "none" if known.worst is None else str(known.worst)
        return [self.place, known.kind, said, worst, str(known.withheld), str(self.shares), f"{self.seconds:.0f}", word]

    @property
    def explained(self) -> bool:
        """Whether the machine's own record explains that a run on a free machine is void: then it is repeated.

        A run that claims something wrong is wrong whatever else the machine did.
        """
        return self.place == "free" and self.known.verdict == "INVALID" and self.shares.disturbed


def main(arguments: list[str] | None = None) -> int:
    """Prints every run; answers 0 where each was as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--streams", type=int, default=128)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--only", choices=("free", "starved"))
    parser.add_argument("--kinds", nargs="+", choices=("same", "slower"), default=("same", "slower"))
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/RESULTS.md too")
    asked = parser.parse_args(arguments)
    rows: list[Row] = []
    print(_line(HEAD))
    print("|---" * len(HEAD) + "|", flush=True)
    for place in (asked.only,) if asked.only else ("free", "starved"):
        for kind in asked.kinds:
            for _ in range(asked.times):
                for row in _repeated(place, kind, asked.streams, asked.rate):
                    rows.append(row)
                    print(_line(row.cells()), flush=True)
    sums = list(_sums(rows))
    print("\n".join(sums))
    if asked.write:
        load = f"{asked.streams} streams x {asked.rate} chunks/s"
        text = f"`python -m benchmarks.starved --write` wrote this section: {described()}; {load}."
        table = [_line(HEAD), "|---" * len(HEAD) + "|", *(_line(row.cells()) for row in rows)]
        write_section(TITLE, "\n".join([text, "", *table, "", *(f"- {sentence}" for sentence in sums)]))
    return int(any(not row.as_must_be and not row.explained for row in rows))


HEAD = ["machine", "second arm", "verdict", "worst figure", "withheld", "foreign / stolen CPU", "s", "so it is"]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _repeated(place: Place, kind: Kind, streams: int, rate: int) -> Iterator[Row]:
    """One run, again where it went wrong and the machine's record explains it."""
    for _ in range(MOST_REPEATS):
        row = _ran(place, kind, streams, rate)
        yield row
        if row.as_must_be or not row.explained:
            return


def _ran(place: Place, kind: Kind, streams: int, rate: int) -> Row:
    began = time.monotonic()
    with watched() as shares, busy_cores() if place == "starved" else nullcontext():
        known = run_between(kind, streams, rate)
    return Row(place, known, shares, time.monotonic() - began)


def _sums(rows: list[Row]) -> Iterator[str]:
    for place in ("free", "starved"):
        here = [row for row in rows if row.place == place]
        if here:
            explained = sum(not row.as_must_be and row.explained for row in here)
            wrong = sum(not row.as_must_be and not row.explained for row in here)
            void = sum(row.known.verdict == "INVALID" for row in here)
            fine = len(here) - wrong - explained
            yield (
                f"{place} machine: {fine} of {len(here)} runs as must be ({void} INVALID), {wrong} wrong,"
                f" {explained} disturbed and repeated"
            )


if __name__ == "__main__":
    sys.exit(main())
