"""What the runs of a tune predict of other depths of the same method: shown beside the measurement, and a screen; never a pick.

The deepest run says most: its answers are walked again at the other depth, and its steps say what that depth costs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from specbench.analysis.selection import SCREENED_FROM
from specbench.model.result import CellResult, Result
from specbench.model.tuning.tune_values import BASELINE, DEPTH, Candidate

PREDICTED = "tpot_p50"  # the metric of which other depths are predicted


@dataclass(frozen=True, slots=True)
class PredictedDepths:
    """One method's TPOT ÷ the baseline's at one load, by depth; `source`: the depth that ran, whose own ratio is measured."""

    source: int
    ratios: Mapping[int, float]


def method_of(candidate: Candidate) -> str:
    """What candidates that differ in depth alone share."""
    return repr(sorted((key, str(value)) for key, value in candidate.speculative.items() if key != DEPTH))


def screen_of(candidates: Sequence[Candidate], metric: str) -> frozenset[str] | None:
    """The deepest of each method, which the screen starts; None where there are few candidates, or nothing can be predicted.

    Args:
        metric: By which the tune picks.
    """
    deepest = {method_of(one): one.name for one in sorted(candidates, key=lambda one: one.depth)}
    many = len(candidates) >= SCREENED_FROM or len(deepest) > 1
    return frozenset(deepest.values()) if metric == PREDICTED and many and len(deepest) < len(candidates) else None


def predicted_depths(
    candidates: Sequence[Candidate], results: Mapping[str, Result], method: str, streams: float
) -> tuple[PredictedDepths, ...]:
    """What each run of this method predicts at that load, the deepest first; runs that predict nothing are left out."""
    runs = sorted((one for one in candidates if method_of(one) == method and one.name in results), key=lambda one: -one.depth)
    found = []
    for one in runs:
        cell = next((cell for cell in results[one.name].cells if cell.axes.concurrency == streams), None)
        if cell is not None and cell.factors.tpot_ratio is not None and (others := _others(cell)):
            found.append(PredictedDepths(one.depth, {one.depth: cell.factors.tpot_ratio, **others}))
    return tuple(found)


def predicted_ratio(candidate: Candidate, sources: Sequence[PredictedDepths]) -> float | None:
    """The ratio that the deepest other run of its method predicts for this candidate; None where none does."""
    return next(
        (one.ratios[candidate.depth] for one in sources if one.source != candidate.depth and candidate.depth in one.ratios), None
    )


def better_untried(
    pick: Candidate | None, sources: Sequence[PredictedDepths], tried: Sequence[int], within: float
) -> tuple[int, ...]:
    """Depths that were not tried, of which the deepest run predicts that they beat the pick by more than `within`.

    A prediction is corrected by how far the measurements of the depths beside it lie from theirs: where batches are large they
    lie a fifth above.

    Args:
        pick: None for no speculation.
    """
    if not sources:
        return ()
    deepest = sources[0].ratios
    measured = {one.source: one.ratios[one.source] for one in sources if one.source in deepest}
    depths = sorted(measured)
    errors = [log(measured[depth] / deepest[depth]) for depth in depths]
    known = {depth: ratio * exp(float(np.interp(depth, depths, errors))) for depth, ratio in deepest.items()}
    here = 1.0 if pick is None else known.get(pick.depth)
    if here is None:
        return ()
    return tuple(sorted(depth for depth, ratio in known.items() if depth not in tried and ratio < here * (1 - within)))


def screening_logs(
    candidates: Sequence[Candidate], results: Mapping[str, Result], loads: Sequence[float]
) -> dict[float, dict[str, float]]:
    """By load, the log ratio of each candidate: measured where it ran, else predicted; missing where neither is known."""
    found: dict[float, dict[str, float]] = {}
    for load in loads:
        of = found.setdefault(load, {BASELINE: 0.0})
        for one in candidates:
            sources = predicted_depths(candidates, results, method_of(one), load)
            own = next((source.ratios[one.depth] for source in sources if source.source == one.depth), None)
            ratio = own if own is not None else predicted_ratio(one, sources)
            if ratio is not None:
                of[one.name] = log(ratio)
    return found


def _others(cell: CellResult) -> dict[int, float]:
    return {one.depth: one.tpot_ratio for one in cell.other_depths if one.tpot_ratio is not None}
