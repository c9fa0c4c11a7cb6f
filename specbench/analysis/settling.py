"""When the blocks of an arm settle, and how many independent looks at the engine they hold.

All streams of a block move together, so the series is taken over time bins across streams. Whether a cell is steady enough to be
judged is decided in the `integrity` modules.
"""

from dataclasses import dataclass
from statistics import median

import numpy as np

from specbench.analysis.columns import Columns
from specbench.analysis.events import Floats
from specbench.analysis.stats_series import effective_samples, mser5
from specbench.units import MS_PER_S, NS_PER_MS

BIN_MS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """Over the blocks of one arm that are long enough to tell, `blocks` of them.

    `warm_up_s`: the median time after which the window should have opened; `unsettled`: blocks in which no such time was found;
    `bins` and `effective`: time bins of 250 ms, and how many independent ones carry as much about the mean.
    """

    blocks: int
    unsettled: int
    warm_up_s: float
    bins: int
    effective: float


def settling_of(columns: Columns) -> Settling | None:
    """How the time per token of each block settles, by MSER-5; None where no block is long enough (20 bins with tokens)."""
    series = [values for block in range(len(columns.blocks)) if len(values := _time_per_token(columns, block))]
    cuts = [(values, cut) for values in series if (cut := mser5(values)) is not None]
    if not cuts:
        return None
    return Settling(
        blocks=len(cuts),
        unsettled=sum(1 for _, cut in cuts if not cut.steady),
        warm_up_s=median(cut.dropped for _, cut in cuts) * BIN_MS / MS_PER_S,
        bins=sum(len(values) for values, _ in cuts),
        effective=sum(effective_samples(values) for values, _ in cuts),
    )


def _time_per_token(columns: Columns, block: int) -> Floats:
    """Mean time per token in milliseconds in each time bin of a block's window that brought tokens, (n_bins,)."""
    of_block = np.flatnonzero(columns.block == block)
    opened, closed = int(columns.open_ns[block]), int(columns.close_ns[block])
    n_bins = (closed - opened) // (BIN_MS * NS_PER_MS)
    if not len(of_block) or n_bins < 1:
        return np.zeros(0)
    events = columns.events
    first, last = columns.first_event[of_block[0]], columns.first_event[of_block[-1] + 1]
    request, time_ns = events.request[first:last], events.time_ns[first:last]
    inside = events.inside[first:last]
    timed = (request[1:] == request[:-1]) & inside[1:] & inside[:-1]
    place = ((time_ns[1:][timed] - opened) // (BIN_MS * NS_PER_MS)).clip(max=n_bins - 1)
    spans = np.bincount(place, weights=np.diff(time_ns)[timed] / NS_PER_MS, minlength=n_bins)
    tokens = np.bincount(place, weights=events.tokens[first:last][1:][timed], minlength=n_bins)
    some = tokens > 0
    values: Floats = spans[some] / tokens[some]
    return values
