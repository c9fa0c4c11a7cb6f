"""How each metric is computed from the arrays of a cell: one row per quantity of `model/metrics.py`, which names them all.

A new metric is one function in the module of its kind, and one row in either table. Nothing may be estimated or judged here.
"""

from collections.abc import Callable

from specbench.analysis import acceptance, cadence, latency, tallies
from specbench.analysis.columns import Columns
from specbench.analysis.samples import Samples, Totals

Source = Callable[[Columns], Samples | Totals]

# Samples for the quantities that have percentiles, totals for the others.
SOURCES: dict[str, Source] = {
    "ttft": latency.ttft,
    "tpot": latency.tpot,
    "tpot_classic": latency.classic_tpot,
    "e2e": latency.e2e,
    "stall": latency.stall,
    "itl": cadence.itl,
    "chunk_gap": cadence.chunk_gap,
    "pace": cadence.pace,
    "output_tps": tallies.output_tps,
    "completed_rps": tallies.completed_rps,
    "error_rate": tallies.error_rate,
    "output_length": tallies.output_length,
    "acceptance_length": acceptance.acceptance_length,
    "alpha": acceptance.alpha,
    "tokens_per_step": cadence.tokens_per_step,
    "step_time": cadence.step_time,
    "queue_time": tallies.queue_time,
    "kv_peak": tallies.kv_peak,
    "memory": tallies.memory,
    "preemptions": tallies.preemptions,
    "oom": tallies.oom,
    "restarts": tallies.restarts,
}
