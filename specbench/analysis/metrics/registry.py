"""How each metric is computed from the arrays of a cell: one row per quantity of `model/metrics.py`, which names them all.

A new metric is one function in the module of its kind, and one row in either table. Nothing may be estimated or judged here.
"""

from collections.abc import Callable

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.samples import Samples, Totals
from specbench.analysis.metrics import acceptance, inter_token, latency, stalls, throughput
from specbench.units import MS_PER_S

Source = Callable[[CellArrays], Samples | Totals]

# Samples for the quantities that have percentiles, totals for the others.
SOURCES: dict[str, Source] = {
    "ttft": latency.ttft,
    "ttft_paired": latency.ttft,  # which prompts both arms answered is found where they are compared
    "tpot": latency.tpot,
    "tpot_classic": latency.classic_tpot,
    "e2e": latency.e2e,
    "stall": latency.stall,
    "itl": inter_token.itl,
    "chunk_gap": inter_token.chunk_gap,
    "pace": inter_token.pace,
    "output_tps": throughput.output_tps,
    "completed_rps": throughput.completed_rps,
    "error_rate": throughput.error_rate,
    "stalled_answers": stalls.stalled_answers,
    "output_length": throughput.output_length,
    "acceptance_length": acceptance.acceptance_length,
    "alpha": acceptance.alpha,
    "tokens_per_step": inter_token.tokens_per_step,
    "step_time": inter_token.step_time,
    "batch_size": throughput.reported("batch_size"),
    "queue_time": throughput.reported("queue_time_s_mean", MS_PER_S),
    "kv_peak": throughput.reported("kv_usage_peak"),
    "memory": throughput.reported("memory_bytes_peak"),
    "preemptions": throughput.reported("preemptions"),
    "oom": throughput.reported("oom_events"),
    "restarts": throughput.reported("restarts"),
}


def values_of(quantity: str, columns: CellArrays) -> Samples | Totals:
    """What the source of this quantity finds in these columns, worked out once."""
    if quantity not in columns.known:
        columns.known[quantity] = SOURCES[quantity](columns)
    return columns.known[quantity]
