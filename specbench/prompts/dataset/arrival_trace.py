"""When the requests of a dataset came, to be replayed: its rows' moments, and the stretch of them that each pair gets."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from specbench.errors import DataError
from specbench.model.data.datasets import DatasetReading
from specbench.model.scenario import BlockSize, Matrix, Route
from specbench.prompts.dataset.sample import FALLS_BACK_S
from specbench.prompts.dataset.survey import survey
from specbench.prompts.lengths import Floats
from specbench.units import ns_of_s

FASTEST, SLOWEST = 100_000.0, 1e-3  # requests per second, on average
_SINCE_1970_S = 5e8  # larger ones are dates
_AHEAD_S = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class ArrivalTrace:
    """The moments of a dataset's requests in seconds since the first, rising, (n,)."""

    path: Path
    at_s: Floats

    @property
    def length_s(self) -> float:
        """How long it lasts, up to where the next request would come."""
        return float(self.at_s[-1]) * len(self.at_s) / (len(self.at_s) - 1)

    @property
    def mean_rate(self) -> float:
        """Requests per second on average."""
        return len(self.at_s) / self.length_s

    def arrivals_ns(self, pair: int, stretch_s: float, speed: float) -> Iterator[int]:
        """When the requests of this pair are due since its block's start: stretch number `pair` of those that last so long at
        this speed, and on from there for as long as it is asked, from the trace's beginning again once it is over."""
        start_s = (pair * stretch_s * speed) % self.length_s
        place = int(np.searchsorted(self.at_s, start_s))
        rounds = 0
        while True:
            if place == len(self.at_s):
                place, rounds = 0, rounds + 1
            yield ns_of_s((float(self.at_s[place]) + rounds * self.length_s - start_s) / speed)
            place += 1


@lru_cache(maxsize=1)  # asked for the loads, and again for their arrivals
def read_trace(path: Path, reading: DatasetReading, seed: int, route: Route) -> ArrivalTrace:
    """The moments of the file's requests.

    Raises:
        DataError: the file cannot be read, has rows without a moment or out of order, or moments of another unit.
    """
    at_s = survey(path, reading, seed, route).at_s
    missing = int(np.isnan(at_s).sum())
    if missing:
        held = "no moments to replay" if missing == len(at_s) else f"no moment in {missing:,} of its {len(at_s):,} requests"
        raise DataError(
            f"{path}: it has {held}; a row needs a time that its shape has, as a number in its unit or a"
            " date such as 2026-03-01T12:00:00Z (docs/data.md); or set matrix.arrivals: poisson"
        )
    backwards = int((at_s < np.maximum.accumulate(at_s) - FALLS_BACK_S).sum())
    if backwards:
        raise DataError(f"{path}: {backwards:,} of its requests came before the one above them; sort it by time to replay it")
    first_s, last_s = (float(end) for end in (at_s.min(), at_s.max()))
    if len(at_s) < 2 or last_s == first_s:
        raise DataError(f"{path}: its {len(at_s):,} requests all came at once; to replay a trace takes two moments at least")
    trace = ArrivalTrace(path, np.sort(at_s - first_s))
    ahead = last_s > _SINCE_1970_S and last_s > time.time() + _AHEAD_S
    if ahead or not SLOWEST <= trace.mean_rate <= FASTEST:
        when = ", and lies in the future" if ahead else ""
        raise DataError(
            f"{path}: it would last {trace.length_s:.3g} s at a mean rate of {trace.mean_rate:.3g} requests/s{when};"
            " are its times in another unit than its shape has (docs/data.md)?"
        )
    return trace


def stretch_s(block: BlockSize, rate: float) -> float:
    """How long a block lasts that gets arrivals at this rate, from its start on: what a pair takes of a trace, at speed 1."""
    return block.ramp_s + min(block.max_s, max(block.min_s, block.min_requests / rate))


def check_long_enough(trace: ArrivalTrace, matrix: Matrix) -> None:
    """Nothing, where each pair has a stretch of its own at each speed.

    Raises:
        DataError: it is shorter, with its length and what is needed.
    """
    for rate in matrix.rate:
        needed_s = matrix.pairs * stretch_s(matrix.block, rate) * rate / trace.mean_rate
        if needed_s > trace.length_s:
            speed = f"x{rate / trace.mean_rate:g}"
            lasts = f"{trace.length_s:,.0f}" if trace.length_s >= 10 else f"{trace.length_s:.2g}"
            raise DataError(
                f"{trace.path}: it lasts {lasts} s, and {matrix.pairs} pairs at {speed} need {needed_s:,.0f} s; take a longer"
                " one, fewer pairs (matrix.pairs), shorter blocks or a lower speed, or mend its times if they are in another unit"
                " than its shape has (docs/data.md)"
            )
