"""Speculation as counted, and by whom: by requests, by the engine's counters, or by the tokens that each step brought.

What the counts mean (length, rate, alpha) is worked out in `acceptance.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from specbench.analysis.arrays.cell_arrays import NOT_REPORTED, CellArrays
from specbench.analysis.arrays.events import Floats
from specbench.analysis.arrays.samples import summed
from specbench.analysis.metrics.inter_token import tokens_per_step
from specbench.analysis.metrics.signs import no_sign, unread_page
from specbench.explain import absences

PER_REQUEST = "per-request counts"
COUNTERS = "counter differences"
STREAM = "tokens per step"
NOWHERE = "none"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Speculation as counted, one row per cluster (a unit, or a request where units are few), all (n_clusters,).

    `per_position` (n_clusters, n_positions) has no column where positions were not told. For `source` STREAM, `rounds` are
    decode steps, `accepted` the tokens beyond one a step, and nothing is known of `drafted`; only an arm that shows a sign of
    speculation has it.
    """

    source: str
    rounds: Floats
    drafted: Floats | None
    accepted: Floats
    per_position: Floats
    reason: str | None


def counts_of(columns: CellArrays, by: Literal["unit", "request"] = "unit") -> Counts:
    """The best counts at hand: per request, else the engine's counter differences, else tokens per step of the stream.

    Args:
        by: "unit" for one row per unit; "request" for one row per request, where requests tell their own.
    """
    counted = (columns.rounds != NOT_REPORTED) & (columns.accepted != NOT_REPORTED)
    counted &= columns.is_outcome({"ok"}) & columns.started_inside()
    if counted.any() and columns.rounds[counted].sum() > 0:
        units = columns.unit_of_requests()[counted] if by == "unit" else np.arange(int(counted.sum()))
        n_rows = len(columns.pairs) if by == "unit" else int(counted.sum())
        positions = [summed(column[counted], units, n_rows) for column in columns.per_position.T]
        return Counts(
            source=PER_REQUEST,
            rounds=summed(columns.rounds[counted], units, n_rows),
            drafted=summed(columns.drafted[counted], units, n_rows) if (columns.drafted[counted] != NOT_REPORTED).all() else None,
            accepted=summed(columns.accepted[counted], units, n_rows),
            per_position=np.array(positions).reshape(len(positions), n_rows).T,
            reason=None,
        )
    counters = _counters(columns)
    if counters is not None:
        return counters
    stream = _stream(columns)
    return stream if stream.reason is None else replace(stream, reason=_half_counted(columns) or stream.reason)


def _half_counted(columns: CellArrays) -> str | None:
    """That the engine counted rounds and not what they accepted; None where it counted both, or neither."""
    counted = [b.telemetry.acceptance.rounds or 0 for b in columns.blocks if b.telemetry and b.telemetry.acceptance]
    if not columns.whole or not any(counted):
        return None
    return absences.half_counted(sum(counted))


def _counters(columns: CellArrays) -> Counts | None:
    if not columns.whole:
        return None
    told = [
        (unit, block.telemetry.acceptance)
        for unit, block in zip(columns.unit, columns.blocks, strict=True)
        if block.telemetry and block.telemetry.acceptance and not block.telemetry.reset
    ]
    kept = [(unit, a) for unit, a in told if a.rounds is not None and a.accepted is not None]
    if not any(a.rounds for _, a in kept):
        return None
    units = np.array([unit for unit, _ in kept], dtype=np.int64)

    def by_unit(values: Sequence[int]) -> Floats:
        return summed(np.array(values, dtype=np.int64), units, len(columns.pairs))

    drafted = [a.drafted for _, a in kept if a.drafted is not None]
    width = max(len(a.per_position or ()) for _, a in kept)
    rows = [(a.per_position or ()) + (0,) * (width - len(a.per_position or ())) for _, a in kept]
    return Counts(
        source=COUNTERS,
        rounds=by_unit([a.rounds or 0 for _, a in kept]),
        drafted=by_unit(drafted) if len(drafted) == len(kept) else None,
        accepted=by_unit([a.accepted or 0 for _, a in kept]),
        per_position=np.array([by_unit(column) for column in zip(*rows, strict=True)]).reshape(width, len(columns.pairs)).T,
        reason=None,
    )


def _stream(columns: CellArrays) -> Counts:
    steps = tokens_per_step(columns)
    extra = steps.numerator - steps.denominator
    reason, unread = steps.reason, unread_page(columns)
    if reason is None and not steps.denominator.any():
        reason = absences.NO_LATER_STEP
    elif reason is None and not extra.any():
        reason = absences.NO_SPECULATION if unread is None else unread
    elif reason is None:
        reason = no_sign(columns)
    rounds, nothing = steps.denominator, np.zeros((len(extra), 0))
    if reason is not None and extra.any():
        rounds, extra = np.zeros(len(extra)), np.zeros(len(extra))
    source = STREAM if reason is None else NOWHERE
    return Counts(source=source, rounds=rounds, drafted=None, accepted=extra, per_position=nothing, reason=reason)
