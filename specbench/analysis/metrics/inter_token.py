"""Times between tokens in milliseconds: chunk gaps, token-amortised ITL, pace, engine steps as the client sees them.

An interval counts where both its ends lie inside its block's steady window, whatever became of its request. Times of whole
requests are in `latency.py`.
"""

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Ints
from specbench.analysis.arrays.samples import Samples, Totals, summed
from specbench.analysis.metrics.signs import no_sign
from specbench.explain import absences
from specbench.model.metrics import PACE_TOKENS
from specbench.units import NS_PER_MS

MERGED_SHARE = 0.05
"""Tokens beyond one a step that a plain engine's busy frontend may bring, as it merges what waits."""


def chunk_gap(columns: CellArrays) -> Samples:
    """Time between consecutive content events; a gap that touches a censored event is left out."""
    events = columns.events
    usable = events.inside & ~events.censored
    timed = np.flatnonzero(usable[1:] & usable[:-1] & (events.request[1:] == events.request[:-1])) + 1
    gaps = events.time_ns[timed] - events.time_ns[timed - 1]
    return Samples(gaps / NS_PER_MS, np.searchsorted(timed, _first_event_of_units(columns)))


def itl(columns: CellArrays) -> Samples:
    """Inter-token latency amortised over engine steps: a step gap g that brings k tokens gives k values of g ÷ k."""
    steps = columns.steps
    timed = steps.inside & ~steps.censored
    tokens = steps.tokens[timed]
    values = np.repeat(steps.gap_ns[timed] / tokens / NS_PER_MS, tokens)
    before = np.concatenate(([0], np.cumsum(tokens)))
    return Samples(values, before[np.searchsorted(steps.request[timed], columns.first_request)])


def pace(columns: CellArrays) -> Samples:
    """Over sliding windows of 8 tokens in a request: the time for the next 8 tokens ÷ 8; censored stamps are used as they are."""
    events = columns.events
    # A request's number where the event is inside the window, else -1: a span is good where both its ends show the same request.
    owner = np.repeat(np.where(events.inside, events.request, -1), events.tokens)
    time_ns = np.repeat(events.time_ns, events.tokens)
    good = np.flatnonzero((owner[PACE_TOKENS:] == owner[:-PACE_TOKENS]) & (owner[PACE_TOKENS:] >= 0))
    spans = (time_ns[PACE_TOKENS:] - time_ns[:-PACE_TOKENS])[good]
    first_token = np.concatenate(([0], np.cumsum(events.tokens)))[_first_event_of_units(columns)]
    return Samples(spans / (PACE_TOKENS * NS_PER_MS), np.searchsorted(good, first_token))


def step_time(columns: CellArrays) -> Totals:
    """Mean time between consecutive engine steps of a request, as the client sees it."""
    units, n_units = columns.unit_of_requests(), len(columns.pairs)
    return Totals(summed(columns.step_gap_ns, units, n_units) / NS_PER_MS, summed(columns.step_count, units, n_units))


def tokens_per_step(columns: CellArrays) -> Totals:
    """Output tokens ÷ decode steps, drafted or not; no value where events were counted as one token each, or where more than one
    in a step may come from anything but speculation. A few merged events of an engine that does not speculate are let pass.

    The first step of a request belongs to its prefill and is left out on both sides.
    """
    units, n_units, told = columns.unit_of_requests(), len(columns.pairs), columns.counted
    tokens, steps = (summed(column[told], units[told], n_units) for column in (columns.step_tokens, columns.step_count))
    reason = absences.EVENT_SIZES_NOT_REPORTED if columns.step_count.any() and not steps.any() else None
    if (tokens > steps).any():
        merged_few = columns.speculates is False and tokens.sum() <= (1 + MERGED_SHARE) * steps.sum()
        reason = None if merged_few else no_sign(columns)
    return Totals(tokens, steps, None) if reason is None else Totals(np.zeros(n_units), np.zeros(n_units), reason)


def _first_event_of_units(columns: CellArrays) -> Ints:
    """The first event of each unit and, at the end, the number of events, (n_units + 1,)."""
    return columns.first_event[columns.first_request]
