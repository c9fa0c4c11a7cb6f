"""Whether the gain falls in the course of the run, and so far that at its end it is no longer what was asked for."""

from dataclasses import replace
from math import exp, log

import numpy as np

from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.stats.paired import trend
from specbench.explain.phrases import place_of
from specbench.explain.rules import course_of_blocks as say
from specbench.model.metrics import METRICS
from specbench.model.result import Finding, Reason

GAIN_FALLS = "gain_falls"  # a note of the benefit's finding: no win stops a run early while it does
FADING_ALPHA = 0.05  # one-sided
LEAST_PAIRS = 4


def with_trend(benefit: Finding, cell: CellMetrics) -> tuple[Finding, Reason | None]:
    """The finding, with a note where the gain falls from pair to pair beyond chance, and the reason to hold where it fades.

    It fades where the line through the pairs' log ratios begins at the gain asked for, or beyond, and ends short of it.
    """
    pairs = sorted(cell.success_by_pair.items())
    metric = METRICS.get(benefit.metric)
    if metric is None or len(pairs) < LEAST_PAIRS or benefit.bound is None:
        return benefit, None
    sign = -1.0 if metric.direction == "higher" else 1.0
    harm = np.array([sign * log(after / before) for _, (before, after) in pairs])
    line = trend(harm)
    p = None if line is None else line.p_above(0.0)
    if line is None or p is None or p >= FADING_ALPHA:
        return benefit, None
    noted = replace(benefit, notes=(*benefit.notes, GAIN_FALLS))
    first, last = float(harm.mean()) - line.mean / 2, float(harm.mean()) + line.mean / 2
    asked = sign * log(benefit.bound)
    if last <= asked or first > asked:
        return noted, None
    where = cell.evidence.cell
    return noted, say.fading(place_of(where), where.id, benefit.metric, (exp(sign * first), exp(sign * last)), benefit.bound)
