"""What chunk gaps or ITL without a time of their own can have been, at their smallest and at their largest.

An event that was read with a later one has only an upper bound of its time, but the gaps around it still sum to what lies between
the timed events before and after. Of m gaps with the sum S, at most S/x can be x or longer, and if their mean is x or more one
must be. Counting with S, S/2 … S/m therefore gives the largest percentile that is possible, and with S/m, 0 … 0 the smallest.
"""

from dataclasses import dataclass

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Bools, Floats, Ints
from specbench.analysis.arrays.samples import Samples, grouped, unit_quantiles
from specbench.units import NS_PER_MS


@dataclass(frozen=True, slots=True, eq=False)
class ValueBounds:
    """All values in ms by unit, those that nobody timed as small, and as large, as they can have been; `pairs` as in Columns."""

    pairs: tuple[int, ...]
    low: Samples
    high: Samples

    def of(self, quantile: float) -> tuple[Floats, Floats]:
        """The smallest and the largest percentile of each unit, (n_units,) each; NaN where it holds nothing."""
        low, high = (unit_quantiles(samples, [quantile])[:, 0] for samples in (self.low, self.high))
        return low, high


def value_bounds(quantity: str, columns: CellArrays) -> ValueBounds | None:
    """None where all intervals inside the steady window are timed."""
    if not columns.events.censored.any():
        return None
    spans = _steps(columns) if quantity == "itl" else _gaps(columns)
    if not spans.untimed.any():
        return None
    timed, tokens = spans.inside & ~spans.untimed, spans.tokens
    known = np.repeat(spans.gap_ns[timed] / tokens[timed], tokens[timed])
    low, high = _extremes(columns, spans)
    request = np.concatenate([np.repeat(spans.request[each], tokens[each]) for each in (timed, spans.untimed)])
    unit = columns.unit_of_requests()[request]
    order, n_units = np.argsort(unit, kind="stable"), len(columns.pairs)
    ends = (np.concatenate([known, untimed])[order] / NS_PER_MS for untimed in (low, high))
    return ValueBounds(columns.pairs, *(grouped(values, unit[order], n_units) for values in ends))


@dataclass(frozen=True, slots=True, eq=False)
class _Spans:
    """Intervals between consecutive events, or steps, of a request, all (n,): `untimed` ones lie inside the window too.

    `began_ns` is the stamp of the event that each begins with, `began_censored` whether that is only an upper bound.
    """

    request: Ints
    began_ns: Ints
    gap_ns: Ints
    tokens: Ints
    inside: Bools
    untimed: Bools
    began_censored: Bools


def _steps(columns: CellArrays) -> _Spans:
    steps = columns.steps
    untimed = steps.inside & steps.censored
    return _Spans(steps.request, steps.began_ns, steps.gap_ns, steps.tokens, steps.inside, untimed, steps.began_censored)


def _gaps(columns: CellArrays) -> _Spans:
    events = columns.events
    follows = events.request[1:] == events.request[:-1]
    inside = (events.inside[1:] & events.inside[:-1])[follows]
    began_censored = events.censored[:-1][follows]
    untimed = inside & (events.censored[1:][follows] | began_censored)
    gap_ns = np.diff(events.time_ns)[follows]
    began_ns = events.time_ns[:-1][follows]
    return _Spans(events.request[1:][follows], began_ns, gap_ns, np.ones_like(gap_ns), inside, untimed, began_censored)


def _extremes(columns: CellArrays, spans: _Spans) -> tuple[Floats, Floats]:
    """The untimed values at their smallest and at their largest, (n_untimed_tokens,) each.

    A run of them that begins with an event without a time, the first of its request or the first inside the window, may have
    begun any time since the last timed event before it, or since the request was sent. None ends with one: of several events in
    one read the last is timed, and they share their stamp.
    """
    place = np.flatnonzero(spans.untimed)
    request = spans.request[place]
    begins = np.append(True, (np.diff(place) > 1) | (request[1:] != request[:-1]))
    run = np.cumsum(begins) - 1
    sums = np.bincount(run, weights=spans.gap_ns[place])
    sizes = np.bincount(run, weights=spans.tokens[place]).astype(np.int64)
    most = sums + _since_timed(columns, spans)[place[begins]]
    first = np.cumsum(sizes) - sizes
    low = np.zeros(int(sizes.sum()))
    low[first] = sums / sizes
    high = np.repeat(most, sizes) / (np.arange(len(low)) - np.repeat(first, sizes) + 1)
    return low, high


def _since_timed(columns: CellArrays, spans: _Spans) -> Ints:
    """From the last timed event of the request, or from its start, to the stamp that each span begins with, (n,); 0 if timed."""
    timed = np.maximum.accumulate(np.where(spans.began_censored, -1, np.arange(len(spans.request))))
    known = (timed >= 0) & (spans.request[timed] == spans.request)
    return spans.began_ns - np.where(known, spans.began_ns[timed], columns.start_ns[spans.request])
