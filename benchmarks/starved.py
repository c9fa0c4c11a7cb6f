"""Whether a run is right, or says that it is not, on a machine whose cores are all taken, and is never void on a free one.

    python -m benchmarks.starved [--times 10] [--streams 128] [--rate 100] [--only free|starved] [--kinds same slower faster]
                                 [--write]

Every run goes through its verdict, between two endpoints that know what they sent: the same ones (HOLD), one 20 % slower
(ROLLBACK), and one 25 % faster (PROMOTE). It is wrong where its verdict claims what is not so, or a figure is past its budget
(1 % or 0.1 ms of gaps, 1 % or 0.5 ms of TTFT). INVALID is void, and HOLD of a slower or faster arm has missed it: both are
counted apart, and are failures on the free machine, except that a run during which other programs, or other machines on the
host, took more than 5 % of the processors is repeated, and shown all the same.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

from benchmarks.known_run import DUE, Kind, Known, run_between
from benchmarks.machine import Shares, busy_cores, described, watched
from benchmarks.results import write_section

TITLE = "Runs on a starved and on a free machine"
Place = Literal["free", "starved"]
Word = Literal["as must be", "missed", "void", "disturbed", "WRONG"]
MOST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One run, where, and what the machine did meanwhile."""

    place: Place
    known: Known
    shares: Shares
    seconds: float

    @property
    def word(self) -> Word:
        """What became of it, in a word."""
        if not self.known.right:
            return "WRONG"
        if self.known.verdict == DUE[self.known.kind]:
            return "as must be"
        if self.place == "free" and self.shares.disturbed:
            return "disturbed"
        return "missed" if self.known.missed else "void"

    @property
    def failed(self) -> bool:
        """Wrong, or on a free machine neither as must be nor explained by the machine's own record.

        A run that claims something wrong is wrong whatever else the machine did.
        """
        return self.word == "WRONG" or (self.place == "free" and self.word in ("missed", "void"))

    def cells(self) -> list[str]:
        """As a row of the table."""
        known = self.known
        word = f"**{self.word}**" if self.failed else self.word
        said = known.verdict + (f" ({', '.join(known.reasons)})" if known.reasons else "")
        worst = "none" if known.worst is None else str(known.worst)
        return [self.place, known.kind, said, worst, str(known.withheld), str(self.shares), f"{self.seconds:.0f}", word]


def main(arguments: list[str] | None = None) -> int:
    """Prints every run; answers 0 where none failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--streams", type=int, default=128)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--only", choices=("free", "starved"))
    parser.add_argument("--kinds", nargs="+", choices=tuple(DUE), default=tuple(DUE))
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
    return int(any(row.failed for row in rows))


HEAD = ["machine", "second arm", "verdict", "worst figure", "withheld", "foreign / stolen CPU", "s", "so it is"]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _repeated(place: Place, kind: Kind, streams: int, rate: int) -> Iterator[Row]:
    """One run, again where the machine's record explains that it is not as it must be."""
    for _ in range(MOST_REPEATS):
        row = _ran(place, kind, streams, rate)
        yield row
        if row.word != "disturbed":
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
            count = Counter(row.word for row in here)
            yield (
                f"{place} machine: {count['as must be']} of {len(here)} runs as must be, {count['missed']} missed what is there,"
                f" {count['void']} void (INVALID), {count['WRONG']} wrong, {count['disturbed']} disturbed and repeated"
            )


if __name__ == "__main__":
    sys.exit(main())
