"""Times of whole requests in milliseconds: first token, time per output token, end to end, longest stall.

Only requests that began inside the steady window count, followed to their end; failed ones lie at +inf, set-aside ones are left
out. One that was still open at its block's end has the first token that it got. Gaps between tokens are in `inter_token.py`.
"""

import numpy as np

from specbench.analysis.arrays.cell_arrays import FAILED, CellArrays
from specbench.analysis.arrays.events import Bools, Floats, Ints
from specbench.analysis.arrays.samples import Samples, grouped
from specbench.model.metrics import TPOT_TOKENS
from specbench.units import NS_PER_MS


def ttft(columns: CellArrays) -> Samples:
    """Time to the first content event, from the moment before the request is written (open loop: from its schedule)."""
    first, _ = _ends(columns)
    begun = np.diff(columns.first_event) > 0
    waits = columns.is_outcome({"unanswered"}) & begun
    return _of_requests(columns, (first - columns.start_ns) / NS_PER_MS, begun, in_time=waits)


def answered_ttft(columns: CellArrays) -> tuple[Ints, Floats]:
    """The requests that began inside the window and were answered, by their places, and the TTFT of each in ms: both (n,)."""
    first, _ = _ends(columns)
    kept = columns.started_inside() & columns.is_outcome({"ok"}) & (np.diff(columns.first_event) > 0)
    return np.flatnonzero(kept), ((first - columns.start_ns) / NS_PER_MS)[kept]


def e2e(columns: CellArrays) -> Samples:
    """Time to the last content event, from the same moment as TTFT."""
    _, last = _ends(columns)
    return _of_requests(columns, (last - columns.start_ns) / NS_PER_MS, np.diff(columns.first_event) > 0)


def tpot(columns: CellArrays) -> Samples:
    """Time per output token of answers of 8 tokens or more: (last - first content event) ÷ (tokens - tokens of the first step).

    A shorter answer's is the time of one or two engine steps, as ITL tells it. What shares the first event's stamp came with it:
    no time passed between them, so that its tokens leave the denominator too. Undefined, and left out, where all came at once.
    """
    first, last = _ends(columns)
    after = columns.streamed_tokens - columns.opening_tokens
    long_enough = columns.streamed_tokens >= TPOT_TOKENS
    return _of_requests(columns, _per(last - first, after), (after > 0) & long_enough)


def classic_tpot(columns: CellArrays) -> Samples:
    """Time per output token as most tools print it: (last - first content event) ÷ (tokens - 1)."""
    first, last = _ends(columns)
    after = columns.streamed_tokens - 1
    return _of_requests(columns, _per(last - first, after), after > 0)


def stall(columns: CellArrays) -> Samples:
    """The longest gap between consecutive content events of a request; gaps that touch a censored event are left out."""
    events = columns.events
    gap = np.full(len(events.time_ns), -1, dtype=np.int64)
    timed = (events.request[1:] == events.request[:-1]) & ~events.censored[1:] & ~events.censored[:-1]
    gap[1:][timed] = np.diff(events.time_ns)[timed]
    longest = np.full(len(columns.block), -1, dtype=np.int64)
    some = np.diff(columns.first_event) > 0
    if some.any():
        longest[some] = np.maximum.reduceat(gap, columns.first_event[:-1][some])
    return _of_requests(columns, longest / NS_PER_MS, longest >= 0)


def _ends(columns: CellArrays) -> tuple[Ints, Ints]:
    """The first and last content event of each request, (n_requests,); of no meaning where it has none."""
    time_ns = columns.events.time_ns
    if not len(time_ns):
        return columns.start_ns, columns.start_ns
    top = len(time_ns) - 1
    return time_ns[np.minimum(columns.first_event[:-1], top)], time_ns[np.maximum(columns.first_event[1:] - 1, 0)]


def _per(span_ns: Ints, tokens: Ints) -> Floats:
    return np.divide(span_ns, tokens, out=np.zeros(len(tokens)), where=tokens > 0) / NS_PER_MS


def _of_requests(columns: CellArrays, values: Floats, defined: Bools, in_time: Bools | None = None) -> Samples:
    """The values of the requests that count; `in_time`: failed ones that have this value all the same."""
    failed = columns.is_outcome(FAILED)
    kept = columns.started_inside() & (failed | (columns.is_outcome({"ok"}) & defined))
    if in_time is not None:
        failed = failed & ~in_time
    return grouped(np.where(failed, np.inf, values)[kept], columns.unit_of_requests()[kept], len(columns.pairs))
