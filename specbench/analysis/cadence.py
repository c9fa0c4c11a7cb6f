"""Times between tokens in milliseconds: chunk gaps, token-amortised ITL, pace, engine steps as the client sees them.

An interval counts where both its ends lie inside its block's steady window, whatever became of its request. Times of whole
requests are in `latency.py`.
"""

import numpy as np

from specbench.analysis.columns import Columns
from specbench.analysis.events import Ints
from specbench.analysis.samples import Samples, Totals, summed
from specbench.units import NS_PER_MS

PACE_TOKENS = 8


def chunk_gap(columns: Columns) -> Samples:
    """Time between consecutive content events; a gap that touches a censored event is left out."""
    events = columns.events
    usable = events.inside & ~events.censored
    timed = np.flatnonzero(usable[1:] & usable[:-1] & (events.request[1:] == events.request[:-1])) + 1
    gaps = events.time_ns[timed] - events.time_ns[timed - 1]
    return Samples(gaps / NS_PER_MS, np.searchsorted(timed, _first_event_of_units(columns)))


def itl(columns: Columns) -> Samples:
    """Inter-token latency amortised over engine steps: a step gap g that brings k tokens gives k values of g ÷ k."""
    steps = columns.steps
    timed = steps.inside & ~steps.censored
    tokens = steps.tokens[timed]
    values = np.repeat(steps.gap_ns[timed] / tokens / NS_PER_MS, tokens)
    before = np.concatenate(([0], np.cumsum(tokens)))
    return Samples(values, before[np.searchsorted(steps.request[timed], columns.first_request)])


def pace(columns: Columns) -> Samples:
    """Over sliding windows of 8 tokens in a request: the time for the next 8 tokens ÷ 8; censored stamps are used as they are."""
    events = columns.events
    carrier = np.repeat(np.arange(len(events.tokens)), events.tokens)
    start, end = carrier[:-PACE_TOKENS], carrier[PACE_TOKENS:]
    inside = events.inside[start] & events.inside[end] & (events.request[start] == events.request[end])
    start, end = start[inside], end[inside]
    spans = events.time_ns[end] - events.time_ns[start]
    return Samples(spans / (PACE_TOKENS * NS_PER_MS), np.searchsorted(start, _first_event_of_units(columns)))


def step_time(columns: Columns) -> Totals:
    """Mean time between consecutive engine steps of a request, as the client sees it."""
    steps, units, n_units = columns.steps, columns.unit_of_requests(), len(columns.pairs)
    owner = units[steps.request[steps.inside]]
    gaps_ms = summed(steps.gap_ns[steps.inside], owner, n_units) / NS_PER_MS
    return Totals(gaps_ms, np.bincount(owner, minlength=n_units).astype(np.float64))


def tokens_per_step(columns: Columns) -> Totals:
    """Output tokens ÷ decode steps, drafted or not; no value where events were counted as one token each.

    The first step of a request belongs to its prefill and is left out on both sides.
    """
    steps, units, n_units = columns.steps, columns.unit_of_requests(), len(columns.pairs)
    used = steps.inside & columns.counted[steps.request]
    untold = "the endpoint does not tell how many tokens an event holds" if steps.inside.any() and not used.any() else None
    owner = units[steps.request[used]]
    return Totals(summed(steps.tokens[used], owner, n_units), np.bincount(owner, minlength=n_units).astype(np.float64), untold)


def _first_event_of_units(columns: Columns) -> Ints:
    """The first event of each unit and, at the end, the number of events, (n_units + 1,)."""
    return columns.first_event[columns.first_request]
