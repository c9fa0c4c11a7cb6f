"""Both arms of a pair of blocks on the prompts that both answered: the same request in each arm, whatever else the faster took.

Prompt number i of a pair is the same in both arms, so requests are matched by pair and number, never by their text, which may
come again. The two figures of a pair are set against each other as those of any metric of blocks are.
"""

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Floats, Ints
from specbench.analysis.arrays.samples import grouped, summed
from specbench.analysis.comparison.arm_statistics import ArmSamples
from specbench.analysis.metrics.latency import answered_ttft


def by_prompt(baseline: CellArrays, speculative: CellArrays) -> tuple[ArmSamples, ArmSamples]:
    """Each arm's TTFT of the prompts that both answered inside their windows, and its geometric mean by pair.

    The ratio of the two means is the geometric mean of the ratios, prompt by prompt. A prompt that either arm failed, or had not
    answered, counts in neither; such requests are for `error_rate` and the p95 to tell.
    """
    requests = [answered_ttft(columns) for columns in (baseline, speculative)]
    names = [_names(columns, chosen) for columns, (chosen, _) in zip((baseline, speculative), requests, strict=True)]
    _, here, there = np.intersect1d(names[0], names[1], return_indices=True)
    sides = zip((baseline, speculative), requests, (here, there), strict=True)
    first, second = (_arm(columns, chosen[places], times[places]) for columns, (chosen, times), places in sides)
    return first, second


def _names(columns: CellArrays, chosen: Ints) -> Ints:
    """One number for the pair and the number of each chosen request, (n_chosen,)."""
    pairs = np.array(columns.pairs, dtype=np.int64)[columns.unit_of_requests()[chosen]]
    return (pairs << 32) + columns.index[chosen]


def _arm(columns: CellArrays, chosen: Ints, times: Floats) -> ArmSamples:
    n_units, units = len(columns.pairs), columns.unit_of_requests()[chosen]
    counts = np.bincount(units, minlength=n_units)
    with np.errstate(divide="ignore"):
        logs = summed(np.log(times), units, n_units)
    means = np.full(n_units, np.nan)
    np.divide(logs, counts, out=means, where=counts > 0)
    return ArmSamples(grouped(times, units, n_units), np.exp(means), columns.pairs)
