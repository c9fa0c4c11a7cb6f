"""Counts, rates and gauges of whole blocks: throughput, errors, answer lengths, and what the engine tells of itself.

Each is a ratio of two sums per unit, so that blocks of different length weigh as they should. Times between tokens are in
`inter_token.py`.
"""

from collections.abc import Callable

import numpy as np

from specbench.analysis.arrays.cell_arrays import FAILED, NOT_REPORTED, WITHOUT_LATENCY, CellArrays
from specbench.analysis.arrays.events import Bools, Floats, sum_by_request
from specbench.analysis.arrays.samples import Totals, summed
from specbench.explain import absences
from specbench.units import NS_PER_S


def output_tps(columns: CellArrays) -> Totals:
    """Tokens received inside the steady window ÷ its length in seconds; what a failed answer brought is no output.

    No value in a unit with an answer whose streamed tokens are not known: its rate would be too low.
    """
    units, n_units = columns.unit_of_requests(), len(columns.pairs)
    tokens = np.where(columns.is_outcome(FAILED), 0, columns.tokens_inside)
    window_s = _window_s(columns)
    window_s[np.unique(units[_tokens_unknown(columns)])] = 0.0
    reason = absences.TOKENS_UNKNOWN if _tokens_unknown(columns).any() and not window_s.any() else None
    return Totals(np.where(window_s > 0, summed(tokens, units, n_units), 0.0), window_s, reason)


def completed_rps(columns: CellArrays) -> Totals:
    """Sum over successful requests of the share of their tokens that fell inside the window ÷ its length in seconds.

    Where the tokens of an answer are not known, its share is that of its events.
    """
    inside, whole, unknown = columns.tokens_inside, columns.streamed_tokens, _tokens_unknown(columns)
    if unknown.any():
        inside = np.where(unknown, sum_by_request(columns.events.inside, columns.first_event), inside)
        whole = np.where(unknown, np.diff(columns.first_event), whole)
    share = np.divide(inside, whole, out=np.zeros(len(whole)), where=whole > 0)
    share[~columns.is_outcome({"ok"})] = 0.0
    return Totals(summed(share, columns.unit_of_requests(), len(columns.pairs)), _window_s(columns))


def error_rate(columns: CellArrays) -> Totals:
    """Failed ÷ (failed + successful) requests of the whole block, its ramp included: a failure counts whenever it happens.

    Errors, timeouts, truncated and empty answers are failures; requests that were cut by our own clock or limits, or were
    longer than the model's context, are neither.
    """
    failed = columns.is_outcome(FAILED | WITHOUT_LATENCY)
    judged = failed | columns.is_outcome({"ok"})
    units, n_units = columns.unit_of_requests(), len(columns.pairs)
    return Totals(summed(failed.astype(np.int64), units, n_units), summed(judged.astype(np.int64), units, n_units))


def output_length(columns: CellArrays) -> Totals:
    """Mean output tokens of the successful requests that began inside the window."""
    kept = columns.started_inside() & columns.is_outcome({"ok"}) & (columns.output_tokens != NOT_REPORTED)
    units, n_units = columns.unit_of_requests()[kept], len(columns.pairs)
    counts = np.bincount(units, minlength=n_units).astype(np.float64)
    return Totals(summed(columns.output_tokens[kept], units, n_units), counts)


def reported(field: str, factor: float = 1.0) -> Callable[[CellArrays], Totals]:
    """What the engine tells of itself in this field of `Telemetry`, times `factor`, over the blocks that tell it.

    Where none does, the reason is the engine's own.
    """

    def source(columns: CellArrays) -> Totals:
        n_units = len(columns.pairs)
        if not columns.whole:
            return Totals(np.zeros(n_units), np.zeros(n_units), absences.WHOLE_BLOCKS_ONLY)
        blocks = [(unit, block.telemetry) for unit, block in zip(columns.unit, columns.blocks, strict=True) if block.telemetry]
        values = [(unit, value) for unit, telemetry in blocks if (value := getattr(telemetry, field)) is not None]
        said = sorted({why for _, telemetry in blocks if (why := telemetry.why_absent(field))})
        reason = None if values else next(iter(said), absences.NOT_REPORTED)
        units = np.array([unit for unit, _ in values], dtype=np.int64)
        sums = summed(np.array([value for _, value in values], dtype=np.float64) * factor, units, n_units)
        return Totals(sums, np.bincount(units, minlength=n_units).astype(np.float64), reason)

    return source


def _tokens_unknown(columns: CellArrays) -> Bools:
    """Which good answers have events and not one token: it is not known which of the counted tokens were streamed."""
    unknown: Bools = (columns.streamed_tokens == 0) & (np.diff(columns.first_event) > 0)
    return unknown & columns.is_outcome({"ok"})


def _window_s(columns: CellArrays) -> Floats:
    return summed(columns.close_ns - columns.open_ns, columns.unit, len(columns.pairs)) / NS_PER_S
