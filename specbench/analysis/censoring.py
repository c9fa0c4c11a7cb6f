"""How far gaps without a time of their own could move a percentile of chunk gaps or ITL; where they could, it has no value.

An event that was read with a later one has only an upper bound of its time, but the gaps around it still sum to what lies between
the timed events before and after. Of m gaps with the sum S, at most S/x can be x or longer, and if their mean is x or more one
must be. Counting with S, S/2 … S/m therefore gives the largest percentile that is possible, and with S/m, 0 … 0 the smallest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from specbench.analysis.columns import Columns, select_bin
from specbench.analysis.events import Bools, Floats, Ints
from specbench.analysis.metrics import METRICS
from specbench.analysis.samples import quantiles
from specbench.model.asked import ARMS
from specbench.model.judged import BinResult, Comparison, PerArm
from specbench.units import NS_PER_MS

TOLERANCE, TOLERANCE_MS = 0.01, 0.1  # what the client may be off by: docs/adr/0021
UNCERTAIN = ("chunk_gap", "itl")


def with_certain_percentiles(
    comparisons: Sequence[Comparison], baseline: Columns, speculative: Columns
) -> tuple[Comparison, ...]:
    """The comparisons, those of chunk gaps and ITL without a value where merged reads leave it open by more than 1 %.

    Lower percentiles of the same quantity usually stay: a few gaps in a thousand move only what lies far out.
    """
    spreads = {name: (_spread(name, baseline), _spread(name, speculative)) for name in UNCERTAIN}
    return tuple(_certain(each, *spreads.get(_quantity(each.metric), (None, None))) for each in comparisons)


def bins_with_certain_percentiles(bins: Sequence[BinResult], columns: PerArm[Columns]) -> tuple[BinResult, ...]:
    """The same for the comparisons of each bin."""
    if not (columns.baseline.events.censored.any() or columns.speculative.events.censored.any()):
        return tuple(bins)
    return tuple(replace(each, metrics=with_certain_percentiles(each.metrics, *_of_bin(each, columns))) for each in bins)


def _of_bin(result: BinResult, columns: PerArm[Columns]) -> tuple[Columns, Columns]:
    baseline, speculative = (select_bin(columns.of(arm), result.bin, result.sampling) for arm in ARMS)
    return baseline, speculative


def open_bounds(columns: Columns, metric: str) -> tuple[float, float] | None:
    """The smallest and largest value, in ms, of a percentile that merged reads leave open; None where it is known well enough."""
    return _open(_spread(_quantity(metric), columns), METRICS[metric].quantile or 0.0)


def _quantity(metric: str) -> str:
    return metric.rpartition("_p")[0]


def _certain(comparison: Comparison, baseline: "_Spread | None", speculative: "_Spread | None") -> Comparison:
    quantile = METRICS[comparison.metric].quantile or 0.0
    found = PerArm(_open(baseline, quantile), _open(speculative, quantile))
    if found.baseline is None and found.speculative is None:
        return comparison
    said = "; ".join(f"{arm}: {_between(found.of(arm))}" for arm in ARMS if found.of(arm) is not None)
    return replace(
        comparison,
        value=_kept(comparison.value, found),
        bound=_kept(comparison.bound, found),
        ratio=None,
        ci_low=None,
        ci_high=None,
        se_log=None,
        df=None,
        p_sign_flip=None,
        reason=f"events that the client read together leave this percentile open ({said})",
    )


def _kept(values: PerArm[float | None], found: PerArm[tuple[float, float] | None]) -> PerArm[float | None]:
    baseline, speculative = (None if found.of(arm) is not None else values.of(arm) for arm in ARMS)
    return PerArm(baseline, speculative)


def _between(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f} ms"


_Spread = tuple[Floats, Floats]
"""All values in ms, those that nobody timed as small, and as large, as they can have been."""


def _open(spread: _Spread | None, quantile: float) -> tuple[float, float] | None:
    if spread is None:
        return None
    low, high = (float(quantiles(values, [quantile])[0]) for values in spread)
    return (low, high) if high - low > max(TOLERANCE * low, TOLERANCE_MS) else None


def _spread(quantity: str, columns: Columns) -> _Spread | None:
    """None where all intervals inside the steady window are timed."""
    if not columns.events.censored.any():
        return None
    spans = _steps(columns) if quantity == "itl" else _gaps(columns)
    if not spans.untimed.any():
        return None
    timed, tokens = spans.inside & ~spans.untimed, spans.tokens
    known = np.repeat(spans.gap_ns[timed] / tokens[timed], tokens[timed])
    low, high = _extremes(columns, spans)
    return np.concatenate([known, low]) / NS_PER_MS, np.concatenate([known, high]) / NS_PER_MS


@dataclass(frozen=True, slots=True, eq=False)
class _Spans:
    """Intervals between consecutive events, or steps, of a request, all (n,): `untimed` ones lie inside the window too."""

    request: Ints
    gap_ns: Ints
    tokens: Ints
    inside: Bools
    untimed: Bools


def _steps(columns: Columns) -> _Spans:
    steps = columns.steps
    return _Spans(steps.request, steps.gap_ns, steps.tokens, steps.inside, steps.inside & steps.censored)


def _gaps(columns: Columns) -> _Spans:
    events = columns.events
    follows = events.request[1:] == events.request[:-1]
    inside = (events.inside[1:] & events.inside[:-1])[follows]
    untimed = inside & (events.censored[1:] | events.censored[:-1])[follows]
    gap_ns = np.diff(events.time_ns)[follows]
    return _Spans(events.request[1:][follows], gap_ns, np.ones_like(gap_ns), inside, untimed)


def _extremes(columns: Columns, spans: _Spans) -> tuple[Floats, Floats]:
    """The untimed values at their smallest and at their largest, (n_untimed_tokens,) each.

    Where the first event of a request is among them, it may have come any time since the request was sent.
    """
    place = np.flatnonzero(spans.untimed)
    request = spans.request[place]
    begins = np.append(True, (np.diff(place) > 1) | (request[1:] != request[:-1]))
    run = np.cumsum(begins) - 1
    sums = np.bincount(run, weights=spans.gap_ns[place])
    sizes = np.bincount(run, weights=spans.tokens[place]).astype(np.int64)
    start, owner = place[begins], request[begins]
    head = columns.first_event[owner]
    since_sent = ((start == 0) | (spans.request[start - 1] != owner)) & columns.events.censored[head]
    most = sums + np.where(since_sent, columns.events.time_ns[head] - columns.start_ns[owner], 0)
    first = np.cumsum(sizes) - sizes
    low = np.zeros(int(sizes.sum()))
    low[first] = np.where(since_sent, 0.0, sums / sizes)
    high = np.repeat(most, sizes) / (np.arange(len(low)) - np.repeat(first, sizes) + 1)
    return low, high
