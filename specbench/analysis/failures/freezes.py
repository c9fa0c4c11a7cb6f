"""Moments at which an engine stood still: no stream of the block got a token for seconds, though answers were under way. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Ints
from specbench.model.records import Block, RequestRecord
from specbench.units import ns_of_s, seconds

SHORTEST_S = 2.0
TYPICAL_STEPS = 20.0
"""A freeze is as long as that, and as so many usual steps: a slow engine's steps are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """One such moment: in which block, for how long, and whether the engine went on afterwards."""

    block: Block
    length_s: float
    went_on: bool


def freezes_of(columns: CellArrays, records: Sequence[RequestRecord]) -> tuple[Freeze, ...]:
    """Every freeze of one arm in one cell, in order; other requests that wait for their first token do not end one.

    Args:
        columns: The arm's blocks and requests.
        records: The same requests.
    """
    times = np.sort(columns.events.time_ns)
    if not len(times):
        return ()
    usual_ns = float(np.median(columns.steps.gap_ns)) if len(columns.steps.gap_ns) else 0.0
    least_ns = max(ns_of_s(SHORTEST_S), TYPICAL_STEPS * usual_ns)
    counts = np.diff(columns.first_event)
    answered = np.flatnonzero(counts)
    first = columns.events.time_ns[columns.first_event[:-1][answered]]
    last = columns.events.time_ns[columns.first_event[1:][answered] - 1]
    found: list[Freeze] = []
    for place in np.flatnonzero(np.diff(times) >= least_ns):
        began, ended = times[place], times[place + 1]
        over = answered[(first <= began) & (last >= ended)]
        if len(over):
            found.append(
                Freeze(block=columns.blocks[columns.block[over[0]]], length_s=seconds(float(ended - began)), went_on=True)
            )
    return (*found, *_for_good(columns, times, records, least_ns))


def _for_good(columns: CellArrays, times: Ints, records: Sequence[RequestRecord], least_ns: float) -> list[Freeze]:
    """One for each block in which streams stopped in mid-answer and none got anything until they were given up."""
    longest: dict[str, float] = {}
    for record in records:
        if record.outcome in ("stalled", "timeout_total", "unanswered") and record.event_ns:
            silent_from, given_up = record.sent_ns + record.event_ns[-1], record.sent_ns + record.end_ns
            others = np.searchsorted(times, given_up) - np.searchsorted(times, silent_from, side="right")
            if not others and given_up - silent_from >= least_ns:
                longest[record.block] = max(longest.get(record.block, 0.0), seconds(given_up - silent_from))
    return [Freeze(block=block, length_s=longest[block.id], went_on=False) for block in columns.blocks if block.id in longest]
