"""Answers that fell silent in mid-stream, as a reader would notice, and from which silence on that is called a stall.

Only answers that ended well count: one that stalled and then failed is a failure already. Silence before the first token is TTFT.
"""

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Bools
from specbench.analysis.arrays.samples import Totals, summed
from specbench.explain import absences
from specbench.units import NS_PER_S

SHORTEST_NS = NS_PER_S
TYPICAL_GAPS = 10  # a slow engine's usual gaps are no stalls


def stall_limit_ns(baseline: CellArrays) -> int:
    """The longest silence of a cell that is no stall: 1 s, or ten times the baseline's median gap between engine steps."""
    gaps = baseline.steps.gap_ns[baseline.steps.gap_ns > 0]
    return max(SHORTEST_NS, round(TYPICAL_GAPS * float(np.median(gaps))) if len(gaps) else 0)


def stalled_answers(columns: CellArrays) -> Totals:
    """Answers with a gap above the limit ÷ answers, of requests that began inside the steady window.

    Stamps are taken as they are: what a network held back arrives at once, so the event that ends a stall is often one that
    could not be timed. An answer that came whole did not stall; where every answer did, nothing could have, and nothing is known.
    """
    units, n_units = columns.unit_of_requests(), len(columns.pairs)
    kept = columns.started_inside() & columns.is_outcome({"ok"}) & (np.diff(columns.first_event) > 0)
    longest = _longest_gap_ns(columns)
    if not (kept & longest.astype(np.bool_)).any():
        reason = absences.CAME_WHOLE if kept.any() else None
        return Totals(np.zeros(n_units), np.zeros(n_units), reason)
    stalled: Bools = kept & (longest > columns.stall_after_ns)
    return Totals(summed(stalled.astype(np.int64), units, n_units), summed(kept.astype(np.int64), units, n_units))


def _longest_gap_ns(columns: CellArrays) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The longest time between two content events of each request, (n_requests,); 0 where all came at once."""
    events = columns.events
    gaps = np.zeros(len(events.time_ns), dtype=np.int64)
    same = events.request[1:] == events.request[:-1]
    gaps[1:][same] = np.diff(events.time_ns)[same]
    longest = np.zeros(len(columns.block), dtype=np.int64)
    some = np.diff(columns.first_event) > 0
    if some.any():
        longest[some] = np.maximum.reduceat(gaps, columns.first_event[:-1][some])
    return longest
