"""What held speculation back in a cell, recognised from its numbers: an explanation for a reader, never part of a verdict.

The cases are those that any guide to speculative decoding warns of: prefill dominates, acceptance is low, the server is
saturated by batching, the KV cache has little room, or verifying simply costs more than it brings. No sentence may be made here.
"""

from dataclasses import dataclass

from specbench.model import queries
from specbench.model.guardrails import FULL_KV, LOW_ALPHA
from specbench.model.result import CellResult, Result

PREFILL_SHARE = 0.5  # of the whole answer's time, before its first token: decode can shorten only what is left
SATURATED = 1.1  # a larger batch that brings less than this times the tokens is no gain any more
SLOWER = 1.0


@dataclass(frozen=True, slots=True)
class LimitingFactor:
    """One thing that held speculation back in one cell, with the figures that show it, in the order of its sentence."""

    cell: str
    code: str
    figures: tuple[float, ...]


def limiting_factors(result: Result) -> tuple[LimitingFactor, ...]:
    """What held speculation back, cell by cell in the result's order; empty where nothing did."""
    return tuple(
        found
        for cell in result.cells
        for found in (*_prefill(cell), *_acceptance(cell), *_saturated(result, cell), *_memory(cell), *_cost(cell))
    )


def _baseline(cell: CellResult, metric: str) -> float | None:
    found = queries.comparison(cell, metric)
    return found.value.baseline if found is not None else None


def _prefill(cell: CellResult) -> tuple[LimitingFactor, ...]:
    first, whole = _baseline(cell, "ttft_p50"), _baseline(cell, "e2e_p50")
    if first is None or not whole or first / whole < PREFILL_SHARE:
        return ()
    return (LimitingFactor(cell.id, "prefill", (first / whole,)),)


def _acceptance(cell: CellResult) -> tuple[LimitingFactor, ...]:
    alpha = cell.acceptance.alpha
    if alpha is None or alpha >= LOW_ALPHA:
        return ()
    return (LimitingFactor(cell.id, "acceptance", (alpha,)),)


def _saturated(result: Result, cell: CellResult) -> tuple[LimitingFactor, ...]:
    """The baseline's throughput hardly grew from the next lower load to this one."""
    load, tps = cell.axes.concurrency, _baseline(cell, "output_tps")
    if load is None or tps is None:
        return ()
    lower = [
        (one.axes.concurrency, below)
        for one in result.cells
        if (one.axes.bin, one.axes.sampling) == (cell.axes.bin, cell.axes.sampling)
        and one.axes.concurrency is not None
        and one.axes.concurrency < load
        and (below := _baseline(one, "output_tps"))
    ]
    if not lower or tps / max(lower)[1] >= SATURATED:
        return ()
    return (LimitingFactor(cell.id, "saturated", (tps / max(lower)[1], max(lower)[0])),)


def _memory(cell: CellResult) -> tuple[LimitingFactor, ...]:
    peak, put_back = queries.comparison(cell, "kv_peak"), queries.comparison(cell, "preemptions")
    if peak is not None and peak.value.speculative is not None and peak.value.speculative >= FULL_KV:
        return (LimitingFactor(cell.id, "kv_full", (peak.value.speculative,)),)
    if put_back is None or put_back.value.speculative is None or put_back.value.baseline is None:
        return ()
    with_it, without = put_back.value.speculative, put_back.value.baseline
    if with_it <= without:
        return ()
    return (LimitingFactor(cell.id, "put_back", (with_it, without)),)


def _cost(cell: CellResult) -> tuple[LimitingFactor, ...]:
    found, tokens = cell.factors, cell.factors.tokens_per_step.speculative
    if found.tpot_ratio is None or found.break_even is None or tokens is None:
        return ()
    if found.tpot_ratio <= SLOWER or tokens >= found.break_even:
        return ()
    return (LimitingFactor(cell.id, "step_cost", (tokens, found.break_even)),)
