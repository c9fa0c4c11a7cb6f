"""Both arms on one metric: their values, the ratio, and an interval that correlated tokens and requests do not shrink.

The unit of inference is the pair of blocks. What a ratio means for a guardrail is decided in `findings.py`.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import exp, inf

import numpy as np

from specbench.analysis.arrays.cell_arrays import TURNS, CellArrays, select_bin, select_turns
from specbench.analysis.arrays.samples import Samples, unit_quantiles
from specbench.analysis.comparison.arm_statistics import ArmSamples
from specbench.analysis.comparison.methods import ArmContrast, alone, by_pairs, by_value, p_of_failures, pooled, shares_test
from specbench.analysis.comparison.prompt_pairs import by_prompt
from specbench.analysis.metrics.acceptance import acceptance_of
from specbench.analysis.metrics.registry import values_of
from specbench.analysis.stats.paired import Estimate, finite_exp, sign_flip_p
from specbench.analysis.stats.percentile_ratio import SharesTest
from specbench.analysis.stats.quantile import design_effect
from specbench.analysis.stats.start_effect import widened
from specbench.explain.absences import NO_SAMPLE, NO_SPREAD, NO_SUCCESS, ONE_PAIR, OPEN_END, of_arms
from specbench.model.metrics import METRICS, Metric
from specbench.model.result import ArmEstimate, BinResult, Comparison, PerArm
from specbench.model.scenario import StartSd

ALPHA = 0.05


def compare(
    metric: Metric, baseline: CellArrays, speculative: CellArrays, alpha: float = ALPHA, start: StartSd | None = None
) -> Comparison:
    """Both arms of one cell on one metric; pairs in which an arm has no value drop out, failed requests stand at +inf.

    Args:
        alpha: One-sided error of the findings; the interval shown is two-sided at 1 - alpha.
        start: How far one start of an engine differs from the next, None where the pairs themselves show it, or nothing does.
    """
    return _compared([metric], baseline, speculative, alpha, start)[0]


def figures_by_pair(name: str, baseline: CellArrays, speculative: CellArrays) -> dict[int, tuple[float, float]]:
    """Both arms' figure of this metric in each pair that has a positive finite one in both; none of an unknown metric."""
    metric = METRICS.get(name)
    if metric is None:
        return {}
    arms = [_arms([metric], columns)[0] for columns in (baseline, speculative)]
    before, after = (dict(zip(arm.pairs, arm.by_unit.tolist(), strict=True)) for arm in arms)
    both = {pair: (before[pair], after[pair]) for pair in sorted(before.keys() & after.keys())}
    return {pair: found for pair, found in both.items() if all(0 < value < inf for value in found)}


def cell_comparisons(
    baseline: CellArrays, speculative: CellArrays, alpha: float = ALPHA, start: StartSd | None = None
) -> tuple[Comparison, ...]:
    """Both arms of one cell on every metric, in the order of METRICS."""
    return _by_table(METRICS.values(), baseline, speculative, alpha, start)


def bin_results(
    baseline: CellArrays,
    speculative: CellArrays,
    alpha: float = ALPHA,
    start: StartSd | None = None,
    cell: Sequence[Comparison] = (),
) -> tuple[BinResult, ...]:
    """Both arms of one cell, split by bin and sampling, on every metric that the stream itself tells.

    Args:
        cell: The comparisons of the whole cell, as far as they were made: in a single bin, those of requests and tokens are its.
    """
    found = sorted(_bins_of(baseline) | _bins_of(speculative))
    same = [one for one in cell if METRICS[one.metric].kind in ("request", "token")] if len(found) == 1 else []
    return tuple(_bin_result(select_bin(baseline, *key), select_bin(speculative, *key), key, alpha, start, same) for key in found)


def turn_results(baseline: CellArrays, speculative: CellArrays, alpha: float, start: StartSd | None) -> tuple[BinResult, ...]:
    """Both arms of one cell, the first turns of sessions and the later ones apart; none where prompts stand alone."""
    if not (baseline.turn >= 0).any() and not (speculative.turn >= 0).any():
        return ()
    halves = ((name, select_turns(baseline, name), select_turns(speculative, name)) for name in TURNS)
    return tuple(_bin_result(before, after, (name, "all"), alpha, start) for name, before, after in halves)


def shares_tests(baseline: CellArrays, speculative: CellArrays, start: StartSd | None = None) -> dict[str, SharesTest]:
    """The test of each pooled percentile, by metric; none where too few pairs have requests of both arms."""
    found = {}
    for family in _families(metric for metric in METRICS.values() if metric.method == "pooled"):
        for metric, before, after in zip(family, _arms(family, baseline), _arms(family, speculative), strict=True):
            if (test := shares_test(metric, before, after, start)) is not None:
                found[metric.id] = test
    return found


def _bins_of(columns: CellArrays) -> set[tuple[str, str]]:
    codes = np.unique(np.stack([columns.bin, columns.sampling]), axis=1).T
    return {(columns.bins[b], columns.samplings[s]) for b, s in codes}


def _bin_result(
    baseline: CellArrays,
    speculative: CellArrays,
    key: tuple[str, str],
    alpha: float,
    start: StartSd | None,
    known: Sequence[Comparison] = (),
) -> BinResult:
    made = {one.metric: one for one in known}
    of_stream = [metric for metric in METRICS.values() if not metric.engine]
    rest = [metric for metric in of_stream if metric.id not in made]
    made.update((one.metric, one) for one in _by_table(rest, baseline, speculative, alpha, start))
    return BinResult(
        bin=key[0],
        sampling=key[1],
        requests=PerArm(int(baseline.started_inside().sum()), int(speculative.started_inside().sum())),
        metrics=tuple(made[metric.id] for metric in of_stream),
        acceptance=acceptance_of(speculative),
    )


def _by_table(
    metrics: Iterable[Metric], baseline: CellArrays, speculative: CellArrays, alpha: float, start: StartSd | None
) -> tuple[Comparison, ...]:
    found = (_compared(family, baseline, speculative, alpha, start) for family in _families(metrics))
    return tuple(comparison for comparisons in found for comparison in comparisons)


def _families(metrics: Iterable[Metric]) -> list[list[Metric]]:
    """The metrics of each quantity, whose values are computed once, and parted once for all their percentiles."""
    return [list(family) for _, family in groupby(metrics, key=lambda metric: metric.quantity)]


def _compared(
    family: list[Metric], baseline: CellArrays, speculative: CellArrays, alpha: float, start: StartSd | None
) -> list[Comparison]:
    """Metrics of one source."""
    if family[0].method == "prompts":
        return [_comparison(family[0], *by_prompt(baseline, speculative), alpha, start)]
    arms = zip(family, _arms(family, baseline), _arms(family, speculative), strict=True)
    return [_comparison(metric, before, after, alpha, start) for metric, before, after in arms]


def _arms(family: list[Metric], columns: CellArrays) -> list[ArmSamples]:
    data = values_of(family[0].quantity, columns)
    if isinstance(data, Samples):
        table = unit_quantiles(data, [metric.quantile or 0.0 for metric in family])
        return [ArmSamples(data, column, columns.pairs) for column in table.T]
    return [ArmSamples(data, data.by_unit(), columns.pairs) for _ in family]


def _comparison(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, alpha: float, start: StartSd | None) -> Comparison:
    contrast = _contrast(metric, baseline, speculative, 1 - alpha)
    absent = PerArm(_absence(baseline), _absence(speculative))
    log = contrast.log if absent == PerArm(None, None) else None
    constant = log is not None and log.se == 0.0 and not log.se_above and metric.is_measured
    start = start if metric.is_measured and not constant else None
    log = None if log is None else widened(log, start)
    ends = None if constant else _ends(log, 1 - alpha)
    beyond = _beyond(contrast.value.speculative, absent.speculative)
    pairs = sorted(baseline.measured_pairs & speculative.measured_pairs)
    return Comparison(
        metric=metric.id,
        unit=metric.unit,
        definition=metric.definition,
        direction=metric.direction,
        value=PerArm(_finite(contrast.value.baseline, absent.baseline), _finite(contrast.value.speculative, absent.speculative)),
        n=PerArm(_n(metric, baseline), _n(metric, speculative)),
        ratio=None if log is None else exp(log.mean),
        ci_low=None if ends is None else ends[0],
        ci_high=None if ends is None else ends[1],
        ci_level=1 - alpha,
        method=contrast.method,
        n_blocks=contrast.n_blocks,
        design_effect=_design_effect(metric, baseline, speculative, contrast),
        se_log=None if log is None else log.se,
        se_log_above=None if log is None else log.se_above,
        df=None if log is None else log.df,
        unbounded=PerArm(_beyond(contrast.value.baseline, absent.baseline), beyond),
        constant=constant,
        low_n=_low_n(metric, baseline, speculative),
        reason=_reason(absent, contrast, constant) or (OPEN_END if log and log.se is not None and ends is None else None),
        bound=PerArm(_finite(contrast.bound.baseline, absent.baseline), _finite(contrast.bound.speculative, absent.speculative)),
        p_sign_flip=None if log is None else _flipped(metric, contrast),
        p_unbounded=p_of_failures(metric, baseline, speculative, pairs) if beyond else None,
        alone=alone(metric, baseline, speculative, 1 - alpha) if absent.speculative is None else ArmEstimate(),
        start=start,
    )


def _ends(log: Estimate | None, confidence: float) -> tuple[float, float] | None:
    """Both ends of the interval as ratios; None where there is none, or an end lies beyond every number."""
    bounds = None if log is None else log.bounds(confidence)
    if bounds is None or finite_exp(-bounds[0]) is None or finite_exp(bounds[1]) is None:
        return None
    return exp(bounds[0]), exp(bounds[1])


def _contrast(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, confidence: float) -> ArmContrast:
    if metric.method in ("pairs", "prompts"):
        return by_pairs(metric, baseline, speculative, confidence)
    if metric.method == "pooled":
        return pooled(metric, baseline, speculative, confidence)
    return by_value(metric, baseline, speculative, confidence)


def _absence(arm: ArmSamples) -> str | None:
    """Why this arm has no value at all; None where it has one."""
    if not isinstance(arm.data, Samples) and arm.data.reason is not None:
        return arm.data.reason
    if not arm.measured_pairs:
        return NO_SAMPLE
    if isinstance(arm.data, Samples) and not np.isfinite(arm.data.values).any():
        return NO_SUCCESS
    return None


def _reason(absent: PerArm[str | None], contrast: ArmContrast, constant: bool) -> str | None:
    if (lacking := of_arms(absent)) is not None:
        return lacking
    if constant:
        return NO_SPREAD
    if contrast.reason is None and contrast.n_blocks == 1 and contrast.log is not None and contrast.log.se is None:
        return ONE_PAIR
    return contrast.reason


def _finite(value: float | None, absent: str | None) -> float | None:
    return None if absent is not None or value is None or value == inf else value


def _beyond(value: float | None, absent: str | None) -> bool:
    return absent is None and value == inf


def _n(metric: Metric, arm: ArmSamples) -> int:
    """How many samples stand behind a value: times, requests or steps; for a rate, whose denominator is a time, its blocks."""
    if metric.kind == "rate":
        return len(arm.measured_pairs)
    sizes = arm.data.counts() if isinstance(arm.data, Samples) else arm.data.denominator
    return int(sizes.sum())


def _low_n(metric: Metric, baseline: ArmSamples, speculative: ArmSamples) -> bool:
    """Whether a percentile rests on fewer samples than 1 ÷ (1 - p): then it is hardly more than the largest of them."""
    if metric.quantile is None:
        return False
    needed = round(1 / (1 - metric.quantile))
    for arm in (baseline, speculative):
        assert isinstance(arm.data, Samples)
        sizes = arm.data.counts()
        held = int(sizes.sum()) if metric.method == "pooled" else int(sizes[sizes > 0].min(initial=needed))
        if 0 < held < needed:
            return True
    return False


def _design_effect(metric: Metric, baseline: ArmSamples, speculative: ArmSamples, contrast: ArmContrast) -> float | None:
    """How far clustering in blocks inflates the variance of the percentile: the larger of the two arms' figures."""
    if metric.quantile is None:
        return None
    found = [_arm_effect(baseline, contrast.value.baseline), _arm_effect(speculative, contrast.value.speculative)]
    return max((effect for effect in found if effect is not None), default=None)


def _arm_effect(arm: ArmSamples, at: float | None) -> float | None:
    if not isinstance(arm.data, Samples) or at is None or at == inf:
        return None
    return design_effect(arm.data.how_many(arm.data.values <= at), arm.data.counts().astype(np.float64))


def _flipped(metric: Metric, contrast: ArmContrast) -> float | None:
    """Exact p-value of harm by sign flips, None where the direction of harm or the pairs are missing."""
    if metric.direction == "equal" or not contrast.differences:
        return None
    differences = np.array(contrast.differences)
    return sign_flip_p(differences if metric.direction == "lower" else -differences)
