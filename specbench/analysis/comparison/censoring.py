"""How far gaps without a time of their own could move a percentile of chunk gaps or ITL; where they could, it has no value.

What the gaps can have been is `censored_bounds.py`'s. As the metrics do, this takes percentiles block by block and the
geometric mean of the blocks; a block that is open by itself, where their mean is not, adds to the error of the ratio.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf, log, sqrt

import numpy as np

from specbench.analysis.arrays.cell_arrays import TURNS, CellArrays, select_bin, select_turns
from specbench.analysis.arrays.censored_bounds import ValueBounds, value_bounds
from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.paired import Estimate, finite_exp, t_quantile
from specbench.explain import absences
from specbench.model.metrics import METRICS
from specbench.model.result import ArmEstimate, BinResult, Comparison, PerArm
from specbench.model.scenario import ARMS

TOLERANCE, TOLERANCE_MS = 0.01, 0.1  # what the client may be off by: docs/adr/0021
UNCERTAIN = ("chunk_gap", "itl")


def with_certain_percentiles(
    comparisons: Sequence[Comparison], baseline: CellArrays, speculative: CellArrays
) -> tuple[Comparison, ...]:
    """The comparisons, those of chunk gaps and ITL without a value where merged reads leave it open by more than 1 %.

    Lower percentiles of the same quantity usually stay: a few gaps in a thousand move only what lies far out.
    """
    spreads = {name: (value_bounds(name, baseline), value_bounds(name, speculative)) for name in UNCERTAIN}
    return tuple(_certain(each, *spreads.get(_quantity(each.metric), (None, None))) for each in comparisons)


def bins_with_certain_percentiles(bins: Sequence[BinResult], columns: PerArm[CellArrays]) -> tuple[BinResult, ...]:
    """The bins, with such percentiles in their comparisons left without a value too."""
    if not (columns.baseline.events.censored.any() or columns.speculative.events.censored.any()):
        return tuple(bins)
    return tuple(replace(each, metrics=with_certain_percentiles(each.metrics, *_of_bin(each, columns))) for each in bins)


def _of_bin(result: BinResult, columns: PerArm[CellArrays]) -> tuple[CellArrays, CellArrays]:
    of_turns = result.bin in TURNS
    baseline, speculative = (
        select_turns(columns.of(arm), result.bin) if of_turns else select_bin(columns.of(arm), result.bin, result.sampling)
        for arm in ARMS
    )
    return baseline, speculative


def open_bounds(columns: CellArrays, metric: str) -> tuple[float, float] | None:
    """The smallest and largest value, in ms, of a percentile that merged reads leave open; None where it is known well enough."""
    spread = value_bounds(_quantity(metric), columns)
    return None if spread is None else _open(*spread.of(METRICS[metric].quantile or 0.0))


def _quantity(metric: str) -> str:
    return metric.rpartition("_p")[0]


def _certain(comparison: Comparison, baseline: ValueBounds | None, speculative: ValueBounds | None) -> Comparison:
    if baseline is None and speculative is None:
        return comparison
    quantile = METRICS[comparison.metric].quantile or 0.0
    found = PerArm(*(None if spread is None else _open(*spread.of(quantile)) for spread in (baseline, speculative)))
    if found.baseline is None and found.speculative is None:
        return _less_certain(comparison, PerArm(_openness(baseline, quantile), _openness(speculative, quantile)))
    return replace(
        comparison,
        value=_kept(comparison.value, found),
        bound=_kept(comparison.bound, found),
        ratio=None,
        ci_low=None,
        ci_high=None,
        se_log=None,
        df=None,
        p_sign_flip=None,
        start=None,
        alone=ArmEstimate() if found.speculative is not None else comparison.alone,
        reason=absences.merged_reads(found),
    )


def _kept(values: PerArm[float | None], found: PerArm[tuple[float, float] | None]) -> PerArm[float | None]:
    baseline, speculative = (None if found.of(arm) is not None else values.of(arm) for arm in ARMS)
    return PerArm(baseline, speculative)


def _open(low: Floats, high: Floats) -> tuple[float, float] | None:
    """The geometric means over the units, (n_units,) each, where they lie farther apart than the client may be off."""
    least, most = _typical(low), _typical(high)
    return (least, most) if most - least > max(TOLERANCE * least, TOLERANCE_MS) else None


def _typical(by_unit: Floats) -> float:
    some = by_unit[~np.isnan(by_unit)]
    if not len(some) or not some.all():
        return 0.0
    return float(np.exp(np.log(some).mean())) if np.ptp(some) else float(some[0])


def _openness(spread: ValueBounds | None, quantile: float) -> dict[int, float]:
    """By pair, how far the log of its block's percentile may be off, where that is more than the client may be."""
    if spread is None:
        return {}
    low, high = spread.of(quantile)
    wide = (high - low > np.maximum(TOLERANCE * low, TOLERANCE_MS)) & (low > 0)
    return {pair: float(np.log(high[unit] / low[unit])) for unit, pair in enumerate(spread.pairs) if wide[unit]}


def _less_certain(comparison: Comparison, openness: PerArm[dict[int, float]]) -> Comparison:
    """The comparison with the openness of single blocks as an error beside the spread of the pairs.

    Log ratios that are each off by at most d_i change their standard deviation by at most that of the d_i, hence the standard
    error by at most sqrt(sum d_i^2 ÷ (n (n - 1))). Of the mean they change what `_open` allows.
    """
    alone = comparison.alone
    bound = _wider(alone.bound, openness.speculative, alone.blocks, comparison.ci_level)
    comparison = replace(comparison, alone=replace(alone, bound=bound))
    pairs = openness.baseline.keys() | openness.speculative.keys()
    n, df, ratio = comparison.n_blocks, comparison.df, comparison.ratio
    if not pairs or df is None or n < 2 or ratio is None or comparison.se_log is None or comparison.ci_low is None:
        return comparison
    together = [openness.baseline.get(pair, 0.0) + openness.speculative.get(pair, 0.0) for pair in pairs]
    se = comparison.se_log + _error(together, n)
    ends = [finite_exp(end) for end in Estimate(log(ratio), se, df).bounds(comparison.ci_level) or (inf, inf)]
    bounds = (_wider(comparison.bound.of(arm), openness.of(arm), n, comparison.ci_level) for arm in ARMS)
    return replace(
        comparison,
        se_log=se,
        ci_low=None if None in ends else ends[0],
        ci_high=None if None in ends else ends[1],
        bound=PerArm(*bounds),
        method=f"{comparison.method}, wider by what merged reads leave open in {len(pairs)} of them",
    )


def _wider(bound: float | None, openness: dict[int, float], n: int, confidence: float) -> float | None:
    """An upper bound from n blocks, higher by what is open in some of them."""
    if bound is None or not openness or n < 2 or bound <= 0:
        return bound
    return finite_exp(log(bound) + t_quantile(confidence, n - 1) * _error(openness.values(), n))


def _error(off: Iterable[float], n: int) -> float:
    return sqrt(sum(each**2 for each in off) / (n * (n - 1)))
