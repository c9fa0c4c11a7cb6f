"""Three ways to set two arms against each other on one metric: pair by pair, pooled over blocks, by their values alone.

Which metric takes which way is a column of `model/metrics.py`; a `Comparison` is made of the outcome in `compare.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, log, nan, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.arrays.samples import Samples
from specbench.analysis.comparison.arm_statistics import (
    ArmSamples,
    PooledSamples,
    by_block,
    own_bound,
    pool_of,
    typical,
    whole_bound,
    whole_value,
)
from specbench.analysis.stats.paired import Estimate, around, jackknife, mean_with_t, t_quantile
from specbench.analysis.stats.percentile_ratio import Shares, SharesTest, log_ratio_ends
from specbench.analysis.stats.quantile import log_quantile_influence
from specbench.analysis.stats.rates import rate_difference
from specbench.analysis.stats.start_effect import widened
from specbench.explain.absences import AT_ZERO, BEYOND, BEYOND_IN_A_BLOCK, NO_PAIR, ON_THE_EDGE
from specbench.model.metrics import Metric
from specbench.model.result import ArmEstimate, PerArm
from specbench.model.scenario import StartSd


@dataclass(frozen=True, slots=True)
class ArmContrast:
    """The outcome: values (+inf where unbounded, None where there is none), the log ratio, and what it rests on.

    `log` is None where the values have no ratio; `reason` says why. `bound` is each arm's own one-sided bound in the
    harmful direction. `differences` are the log ratios pair by pair, empty where there are none.
    """

    value: PerArm[float | None]
    bound: PerArm[float | None]
    log: Estimate | None
    n_blocks: int
    differences: tuple[float, ...]
    method: str
    reason: str | None


def by_pairs(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, confidence: float) -> ArmContrast:
    """One statistic per block, or of the prompts that both arms answered in it: the mean of the log ratios of the pairs, with t.

    The value of an arm is the geometric mean of its blocks, so that the ratio of the values is the ratio that is judged.
    """
    pairs = sorted(baseline.measured_pairs & speculative.measured_pairs)
    sides = [by_block(arm, pairs or None) for arm in (baseline, speculative)]  # with no pair in common each shows its own
    value = PerArm(typical(sides[0]), typical(sides[1]))
    bound = PerArm(own_bound(metric, sides[0], confidence), own_bound(metric, sides[1], confidence))
    method = f"mean of log ratios of {len(pairs)} pairs, t"
    if not pairs:
        return ArmContrast(value, bound, None, 0, (), method, NO_PAIR)
    if any((side <= 0).any() for side in sides):
        return ArmContrast(value, bound, None, len(pairs), (), method, AT_ZERO)
    if not all(np.isfinite(side).all() for side in sides):
        return ArmContrast(value, bound, None, len(pairs), (), method, BEYOND_IN_A_BLOCK)
    differences = np.log(sides[1]) - np.log(sides[0])
    return ArmContrast(value, bound, mean_with_t(differences), len(pairs), tuple(differences.tolist()), method, None)


def pooled(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, confidence: float) -> ArmContrast:
    """One percentile over all blocks of an arm: its log ratio, and the ratios at which as many requests of both arms are slow.

    Where too few requests lie beyond the percentile for their number to tell, the error is the largest of three (`_widest`).
    """
    pairs = sorted(baseline.measured_pairs & speculative.measured_pairs)
    pools = [pool_of(arm, pairs or None) for arm in (baseline, speculative)]
    p = metric.quantile or 0.0
    value = PerArm(pools[0].quantile(p), pools[1].quantile(p))
    bound = PerArm(pools[0].bound(p, confidence), pools[1].bound(p, confidence))
    method = f"pooled percentile, {len(pairs)} pairs"
    if not pairs or value.baseline is None or value.speculative is None:
        return ArmContrast(value, bound, None, 0, (), method, NO_PAIR)
    if inf in (value.baseline, value.speculative):
        return ArmContrast(value, bound, None, len(pairs), (), method, BEYOND)
    whole = _log_ratio(value.baseline, value.speculative)
    if isnan(whole):
        return ArmContrast(value, bound, None, len(pairs), (), method, AT_ZERO)
    estimate = _shares_agree(whole, pools, p, len(pairs))
    if estimate is not None:
        method = f"{method}: ratios at which the shares beyond it agree, by pairs, t"
        return ArmContrast(value, bound, estimate, len(pairs), (), method, None)
    method = f"{method}: the largest of jackknife, linearised and between-pair error, t"
    estimate = _widest(whole, pools, p, _by_pair(baseline, speculative, pairs))
    edge = len(pairs) > 1 and estimate.se is None
    return ArmContrast(value, bound, estimate, len(pairs), (), method, ON_THE_EDGE if edge else None)


# The ends of the interval are sought at this two-sided level; other levels follow from them by t.
_SHARES_LEVEL = 0.95


def _shares_agree(whole: float, pools: Sequence[PooledSamples], p: float, pairs: int) -> Estimate | None:
    """The pooled log ratio with an error to each side, from the ratios at which the shares beyond the percentile agree."""
    if pairs < 2:
        return None
    reach = t_quantile((1 + _SHARES_LEVEL) / 2, pairs - 1)
    ends = log_ratio_ends(_shares(pools, pairs), p, whole, reach)
    return None if ends is None else Estimate(whole, (whole - ends[0]) / reach, pairs - 1, (ends[1] - whole) / reach)


def shares_test(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, start: StartSd | None) -> SharesTest | None:
    """The test of the pooled percentile at any ratio; None of fewer than two pairs, or where the values have no ratio."""
    pairs, p = sorted(baseline.measured_pairs & speculative.measured_pairs), metric.quantile or 0.0
    pools = [pool_of(arm, pairs) for arm in (baseline, speculative)]
    whole = _log_ratio(pools[0].quantile(p), pools[1].quantile(p))
    if len(pairs) < 2 or isnan(whole):
        return None
    shares = _shares(pools, len(pairs))
    return SharesTest(shares, p, start, widened(_widest(whole, pools, p, _by_pair(baseline, speculative, pairs)), start))


def _shares(pools: Sequence[PooledSamples], pairs: int) -> Shares:
    """Both arms' samples with the level of each pair taken out, the mean of both arms' medians, which is of both arms alike.

    A pair in which the machine was slow holds all samples beyond the percentile else, and one pair proves nothing.
    """
    levels = (pools[0].medians(pairs) + pools[1].medians(pairs)) / 2
    levels = np.where(np.isfinite(levels), levels, 0.0)
    return Shares(pools[0].logs(levels), pools[1].logs(levels), pairs)


def _by_pair(baseline: ArmSamples, speculative: ArmSamples, pairs: Sequence[int]) -> Floats:
    units = zip(baseline.units(pairs), speculative.units(pairs), strict=True)
    return np.array([_log_ratio(baseline.by_unit[b], speculative.by_unit[s]) for b, s in units])


def _widest(whole: float, pools: Sequence[PooledSamples], p: float, differences: Floats) -> Estimate:
    """The pooled log ratio with the largest of three standard errors: leaving out one pair at a time, linearised, between pairs.

    Each of the three alone errs too often somewhere. None where failed requests leave it open.
    """
    left_out = [_log_ratio(pools[0].quantile(p, pair), pools[1].quantile(p, pair)) for pair in range(len(differences))]
    estimate = jackknife(whole, np.array(left_out))
    if estimate.se is None:
        return estimate
    pulls = log_quantile_influence(pools[1].values, pools[1].pair, p) - log_quantile_influence(pools[0].values, pools[0].pair, p)
    if not np.isfinite(pulls).all():
        return Estimate(whole, None, None)
    linearised = sqrt(len(pulls) / (len(pulls) - 1) * float((pulls**2).sum()))
    return Estimate(whole, max(estimate.se, linearised, around(whole, differences) or 0.0), estimate.df)


def by_value(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, confidence: float) -> ArmContrast:
    """Counts over the pairs told in both arms, shares over all blocks of an arm: the ratio of the values, without an interval."""
    pairs = sorted(baseline.measured_pairs & speculative.measured_pairs)
    # A sum grows with its blocks, so both must be of the same pairs; a share does not.
    of = pairs or None if metric.method == "count" else None
    value = PerArm(whole_value(metric, baseline, of), whole_value(metric, speculative, of))
    bound = PerArm(whole_bound(metric, baseline, of, confidence), whole_bound(metric, speculative, of, confidence))
    ratio = _log_ratio(value.baseline, value.speculative)
    if not pairs:
        return ArmContrast(value, bound, None, 0, (), "values", NO_PAIR)
    if isnan(ratio):
        return ArmContrast(value, bound, None, len(pairs), (), "values", AT_ZERO)
    return ArmContrast(value, bound, Estimate(ratio, None, None), len(pairs), (), "values", None)


def alone(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, confidence: float) -> ArmEstimate:
    """The speculative arm's own figure and bound over all blocks that tell it; nothing of the baseline but its failures."""
    if not speculative.measured_pairs or metric.method == "prompts":  # which says nothing of an arm without the other
        return ArmEstimate()
    if metric.method == "pooled":
        pool, p = pool_of(speculative), metric.quantile or 0.0
        value, bound = pool.quantile(p), pool.bound(p, confidence)
    elif metric.method == "pairs":
        blocks = by_block(speculative)
        value, bound = typical(blocks), own_bound(metric, blocks, confidence)
    else:
        value, bound = whole_value(metric, speculative), whole_bound(metric, speculative, None, confidence)
    return ArmEstimate(
        value=None if value == inf else value,
        bound=None if bound == inf else bound,
        blocks=len(speculative.measured_pairs),
        unbounded=value == inf,
        p_unbounded=p_of_failures(metric, baseline, speculative) if value == inf else None,
    )


def p_of_failures(
    metric: Metric, baseline: ArmSamples, speculative: ArmSamples, pairs: Sequence[int] | None = None
) -> float | None:
    """How probable such a surplus of failed requests in the speculative arm is by chance, bursts counted as the events they are.

    1 where the baseline has no request to compare with. None where the figure is one of blocks, and at most half of them are
    unbounded: the typical block is not.
    """
    unbounded = np.isinf(by_block(speculative, pairs))
    if metric.method == "pairs" and 2 * np.count_nonzero(unbounded) <= len(unbounded):
        return None
    found = rate_difference(_failures(baseline), _failures(speculative))
    return 1.0 if found is None else found.p_excess


def _failures(arm: ArmSamples) -> tuple[Floats, Floats]:
    """Failed and all requests of each unit, both (n_units,)."""
    assert isinstance(arm.data, Samples)
    return arm.data.how_many(np.isinf(arm.data.values)), arm.data.counts().astype(np.float64)


def _log_ratio(baseline: float | None, speculative: float | None) -> float:
    """log(speculative ÷ baseline), NaN where either is no positive finite number."""
    if baseline is None or speculative is None or not (0 < baseline < inf and 0 < speculative < inf):
        return nan
    return log(speculative) - log(baseline)
