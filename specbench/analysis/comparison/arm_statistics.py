"""One arm's own figure on one metric, and its bound: of each block, of the samples of several, of sums.

How two arms are set against each other is `methods.py`'s. Where `pairs` is None, all pairs that tell something are meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np

from specbench.analysis.arrays.events import Floats, Ints
from specbench.analysis.arrays.samples import Samples, Totals, quantiles
from specbench.analysis.stats.paired import finite_exp, mean_with_t
from specbench.analysis.stats.percentile_ratio import Sorted
from specbench.analysis.stats.quantile import design_effect, upper_bound
from specbench.analysis.stats.rates import share_upper_bound
from specbench.model.metrics import Metric


@dataclass(frozen=True, eq=False)  # without slots: what is asked for again and again is kept
class ArmSamples:
    """One arm on one metric: what was measured, and the statistic of each unit (NaN where there is none).

    `by_unit` (n_units,), `pairs` (n_units,) the pair number of each unit.
    """

    data: Samples | Totals
    by_unit: Floats
    pairs: tuple[int, ...]

    @cached_property
    def measured_pairs(self) -> frozenset[int]:
        """The pairs in which this arm has a value."""
        return frozenset(pair for pair, absent in zip(self.pairs, np.isnan(self.by_unit).tolist(), strict=True) if not absent)

    def units(self, pairs: Sequence[int] | None = None) -> list[int]:
        """The units of these pairs, in their order."""
        return [self.pairs.index(pair) for pair in (sorted(self.measured_pairs) if pairs is None else pairs)]


def by_block(arm: ArmSamples, pairs: Sequence[int] | None = None) -> Floats:
    """The figure of each block of these pairs."""
    return arm.by_unit[arm.units(pairs)]


@dataclass(frozen=True, slots=True, eq=False)
class PooledSamples:
    """All samples of some pairs in one arm, ascending, and the place of each one's pair among them: both (n,)."""

    values: Floats
    pair: Ints

    def quantile(self, p: float, without: int | None = None) -> float | None:
        """The p-quantile, with one pair left out if asked; None where nothing is left."""
        kept = self.values if without is None else self.values[self.pair != without]
        return float(quantiles(kept, [p])[0]) if len(kept) else None

    def logs(self, level: Floats) -> Sorted:
        """The samples as logs less their pair's `level`, (n_pairs,); a time of 0 is below, a failed request beyond all others."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.values) - level[self.pair]
        order = np.argsort(logs, kind="stable")
        return Sorted(logs[order], self.pair[order])

    def medians(self, pairs: int) -> Floats:
        """The median of each pair as a log, (n_pairs,)."""
        with np.errstate(divide="ignore"):
            return np.log([float(quantiles(self.values[self.pair == pair], [0.5])[0]) for pair in range(pairs)])

    def bound(self, p: float, confidence: float) -> float | None:
        """Upper bound of the p-quantile by an order statistic, for as many samples as clustering leaves of them.

        None for samples of one pair: they may all have come in one moment of the engine.
        """
        if not len(self.values) or self.pair.min() == self.pair.max():
            return None
        at_or_below = self.values <= quantiles(self.values, [p])[0]
        below = np.bincount(self.pair, weights=at_or_below).astype(np.float64)
        effect = design_effect(below, np.bincount(self.pair).astype(np.float64))
        return upper_bound(self.values, p, confidence, effect or 1.0)


def pool_of(arm: ArmSamples, pairs: Sequence[int] | None = None) -> PooledSamples:
    """The samples of these pairs."""
    assert isinstance(arm.data, Samples)
    parts = [arm.data.of_unit(unit) for unit in arm.units(pairs)]
    values = np.concatenate([np.zeros(0), *parts])
    place = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    order = np.argsort(values, kind="stable")
    return PooledSamples(values[order], place[order])


def typical(values: Floats) -> float | None:
    """The geometric mean; the plain mean where a value is 0; None of nothing."""
    if not len(values):
        return None
    if (values > 0).all():
        return float(values[0]) if (values == values[0]).all() else exp(float(np.log(values).mean()))
    return float(values.mean())


def own_bound(metric: Metric, values: Floats, confidence: float) -> float | None:
    """One-sided bound of one arm's own value in the harmful direction; for a gauge of the engine, the worst block there was.

    None for fewer than two blocks, which show no spread.
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    if metric.engine:
        return float(values.max() if metric.direction == "lower" else values.min())
    positive = bool((values > 0).all())
    interval = mean_with_t(np.log(values) if positive else values).bounds(2 * confidence - 1)
    if interval is None:
        return None
    end = interval[0] if metric.direction == "higher" else interval[1]
    return finite_exp(end) if positive else end


def whole_value(metric: Metric, arm: ArmSamples, pairs: Sequence[int] | None = None) -> float | None:
    """The sum, or the share of sums, over these pairs."""
    assert isinstance(arm.data, Totals)
    units = arm.units(pairs)
    counted = float(arm.data.denominator[units].sum())
    if counted <= 0:
        return None
    total = float(arm.data.numerator[units].sum())
    return total / counted if metric.method == "share" else total


def whole_bound(metric: Metric, arm: ArmSamples, pairs: Sequence[int] | None, confidence: float) -> float | None:
    """Upper bound of a share, for as many requests as bursts of failures leave of them; a count is known as it is."""
    assert isinstance(arm.data, Totals)
    if metric.method == "count":
        return whole_value(metric, arm, pairs)
    units = arm.units(pairs)
    failed, judged = arm.data.numerator[units], arm.data.denominator[units]
    effect = max(1.0, design_effect(failed, judged) or 1.0)
    return share_upper_bound(float(failed.sum()) / effect, float(judged.sum()) / effect, 1 - confidence)
