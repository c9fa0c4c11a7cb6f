"""Both arms at one load of another tool: each metric under our name with its ratio, and what it indicates.

Medians indicate; the tails of fewer than three runs an arm are shown and indicate nothing, as they move from run to run by more
than their prompts tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean, geometric_mean
from typing import Any

from specbench.analysis.imported.comparable_runs import same_prompts
from specbench.analysis.imported.import_statistics import (
    MEASURABLE_RUNS,
    RatioInterval,
    RunFigure,
    interleaved,
    interval_of_single_runs,
    interval_over_runs,
    percentile,
    prompt_variance,
)
from specbench.model.data.imported import ImportedRun, TheirMetric
from specbench.model.data.imported_result import ImportedCell, ImportedMetric, Indication
from specbench.model.guardrails import DEFAULTS
from specbench.model.result import Direction, PerArm

FEWEST_RUNS = 4  # an arm, for harm over runs
ALIKE = 0.05  # either way
_POINTS = (50, 95)
# What the indication of a whole load rests on; time per token comes first, and without it the whole answer.
_DECIDING = ("tpot_classic_p50", "decode_server_p50", "e2e_p50")
_GUARDING = ("tpot_classic_p50", "decode_server_p50", "ttft_p50", "e2e_p50")
# The defaults of a run of ours, by what imports have in their place.
_IN_PLACE_OF = {
    "tpot_p95": "tpot_classic_p95",
    "ttft_paired": "ttft_p50",
    "ttft_p95": "ttft_p95",
    "e2e_p95": "e2e_p95",
    "output_tps": "output_tps_whole_run",
}
_LIMITS = {_IN_PLACE_OF[rule.metric]: (rule.margin or 0.0, rule.floor) for rule in DEFAULTS if rule.metric in _IN_PLACE_OF}
# Of the whole run: unit, direction, and whether it is judged at all.
_WHOLE: dict[str, tuple[str, Direction]] = {
    "output_tps_whole_run": ("tokens/s", "higher"),
    "acceptance_length": ("tokens", "higher"),
    "acceptance_rate": ("share", "higher"),
}
Runs = Sequence[ImportedRun]


def cell_of(load: str, a: Runs, b: Runs, between: float) -> ImportedCell:
    """All metrics of the runs of both arms at that load."""
    theirs = dict.fromkeys(one for run in (*a, *b) for one in run.metrics)
    metrics = [_metric(one, point, a, b, between) for one in theirs if one.quantity not in _WHOLE for point in _POINTS]
    metrics += [_whole(one, a, b, between) for one in theirs if one.quantity in _WHOLE]
    kept = tuple(one for one in metrics if one.baseline is not None or one.speculative is not None or one.indication is not None)
    counted = [[_sum(run.attempted for run in runs), _sum(run.failed for run in runs)] for runs in (a, b)]
    return ImportedCell(
        load=load,
        runs=PerArm(len(a), len(b)),
        attempted=PerArm(counted[0][0], counted[1][0]),
        failed=PerArm(counted[0][1], counted[1][1]),
        indication=_indication_of_load(kept),
        metrics=kept,
    )


def _sum(values: Any) -> int | None:
    found = list(values)
    return None if not found or None in found else sum(found)


def _metric(theirs: TheirMetric, point: int, a: Runs, b: Runs, between: float) -> ImportedMetric:
    quantity = theirs.quantity
    figures = [[percentile(run, quantity, point) for run in runs] for runs in (a, b)]
    empty = ImportedMetric(
        ours=f"{quantity}_p{point}",
        theirs=theirs.theirs,
        difference=theirs.difference,
        unit="ms",
        direction="lower",
        baseline=None,
        speculative=None,
        ratio=None,
        low=None,
        high=None,
        n=PerArm(_samples_of(figures[0]), _samples_of(figures[1])),
        same_prompts=bool(a[0].requests and b[0].requests) and all(same_prompts(a[0], run) for run in (*a[1:], *b)),
        indication=None,
    )
    values = [[one.value for one in arm if one.value is not None] for arm in figures]
    beyond = [any(value == inf for value in arm) for arm in values]
    if any(beyond):
        means = [None if far or not arm else _mean(arm) for far, arm in zip(beyond, values, strict=True)]
        worse = beyond[1] and not beyond[0] and bool(values[0])
        said: Indication | None = "slower" if worse else None
        return replace(empty, baseline=means[0], speculative=means[1], reason="failures_reach_it", indication=said)

    def prompts() -> float | None:
        pairs = [prompt_variance(x, y, quantity, point) for x, y in zip(a, b, strict=False)]
        known = [one for one in pairs if one is not None]
        return None if len(known) < len(pairs) else fmean(known) / len(known)

    return _compared(empty, values, (a, b), between, prompts, tail=point > 50)


def _samples_of(figures: Sequence[RunFigure]) -> int | None:
    return _sum(one.n for one in figures)


def _whole(theirs: TheirMetric, a: Runs, b: Runs, between: float) -> ImportedMetric:
    name = theirs.quantity
    unit, direction = _WHOLE[name]
    values = [[run.values[name] for run in runs if name in run.values] for runs in (a, b)]
    empty = ImportedMetric(
        ours=name,
        theirs=theirs.theirs,
        difference=theirs.difference,
        unit=unit,
        direction=direction,
        baseline=None,
        speculative=None,
        ratio=None,
        low=None,
        high=None,
        n=PerArm(None, None),
        same_prompts=False,
        indication=None,
    )
    if name != "output_tps_whole_run":  # shown, and never judged
        means = [_mean(arm) if arm else None for arm in values]
        return replace(empty, baseline=means[0], speculative=means[1])
    return _compared(empty, values, (a, b), between, lambda: 0.0, tail=False)


def _mean(values: Sequence[float]) -> float:
    return geometric_mean(values) if all(value > 0 for value in values) else fmean(values)


def _compared(
    empty: ImportedMetric,
    values: Sequence[Sequence[float]],
    arms: tuple[Runs, Runs],
    between: float,
    prompts: Callable[[], float | None],
    *,
    tail: bool,
) -> ImportedMetric:
    before, after = values
    means = [_mean(arm) if arm else None for arm in values]
    found = replace(empty, baseline=means[0], speculative=means[1])
    if not before or not after:
        return replace(found, reason="not_in_both")
    if not means[0] or not means[1] or min(*before, *after) <= 0:
        return replace(found, reason="is_zero")
    over_runs = min(len(before), len(after)) >= MEASURABLE_RUNS
    ratio = means[1] / means[0]
    if not 0 < ratio < inf:
        return replace(found, reason="is_zero")
    if over_runs:
        took_turns = interleaved(*arms) and len(before) == len(after)
        made = interval_over_runs(before, after, took_turns)
    else:
        spread = prompts()
        if spread is None:
            return replace(found, ratio=ratio, reason="too_few_requests", indication=None if tail else "unclear")
        made = interval_of_single_runs(ratio, spread, between, (len(before), len(after)))
    if made is None or not 0 < made.ratio < inf:
        return replace(found, reason="is_zero")
    high = made.high if made.high < inf else None
    found = replace(found, ratio=made.ratio, low=made.low, high=high)
    if tail and not over_runs:
        return replace(found, reason="tail_of_few_runs")
    p_harm = _p_harm(found, made) if min(len(before), len(after)) >= FEWEST_RUNS else None
    return replace(found, indication=_indication(made, found.direction), p_harm=p_harm)


def _indication(made: RatioInterval, direction: Direction) -> Indication:
    if made.low >= 1 - ALIKE and made.high <= 1 + ALIKE:
        return "alike"
    low, high = (made.low, made.high) if direction == "lower" else (1 / made.high, 1 / made.low)
    return "faster" if high < 1 else "slower" if low > 1 else "unclear"


def _p_harm(metric: ImportedMetric, made: RatioInterval) -> float | None:
    """How probable this is without harm past the default limit; None for what no default guards."""
    if metric.ours not in _LIMITS or not metric.baseline:
        return None
    margin, floor = _LIMITS[metric.ours]
    allowed = max(margin, floor / metric.baseline)
    return made.p_above(1 + allowed) if metric.direction == "lower" else made.p_below(1 - allowed)


def deciding(cell: ImportedCell) -> str | None:
    """The metric that the indication of the load rests on; None where it has none."""
    have = {one.ours for one in cell.metrics if one.ratio is not None}
    return next((name for name in _DECIDING if name in have), None)


def _indication_of_load(metrics: Sequence[ImportedMetric]) -> Indication:
    """`faster` only where time per token is; `slower` where anything guarded is, and nothing faster."""
    said = {one.ours: one.indication for one in metrics if one.indication is not None}
    first: Indication = next((said[name] for name in _DECIDING if name in said), "unclear")
    slower = any(said.get(name) == "slower" for name in _GUARDING)
    if first == "faster":
        return "mixed" if slower else "faster"
    if slower:
        return "mixed" if any(said.get(name) == "faster" for name in _GUARDING) else "slower"
    return first
