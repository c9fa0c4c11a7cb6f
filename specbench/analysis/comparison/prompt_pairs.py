"""TTFT prompt by prompt: both arms of a pair of blocks got the same prompts, so what differs between prompts cancels out.

Pure functions of records by their identity in a pair; what a ratio means for a guardrail is decided elsewhere.
"""

from collections.abc import Mapping
from math import exp, log

import numpy as np

from specbench.analysis.comparison.compare import ALPHA
from specbench.analysis.stats.paired import finite_exp, mean_with_t
from specbench.explain.absences import NO_PAIR
from specbench.model.result import Comparison, PerArm

METRIC = "ttft_paired"
Asked = tuple[int, int]  # the pair, and the prompt's number in it


def ttft_paired(baseline: Mapping[Asked, float], speculative: Mapping[Asked, float], alpha: float = ALPHA) -> Comparison:
    """The geometric mean of the TTFT ratio over the prompts that both arms of a pair answered; the pair is the unit.

    Args:
        baseline: TTFT in ms by pair and prompt, of the requests that count.
        speculative: The same of the other arm.
    """
    common = sorted(baseline.keys() & speculative.keys())
    logs: dict[int, list[float]] = {}
    for key in common:
        if baseline[key] > 0 and speculative[key] > 0:
            logs.setdefault(key[0], []).append(log(speculative[key] / baseline[key]))
    told = [log(baseline[key]) for key in common if baseline[key] > 0 and speculative[key] > 0]
    estimate = mean_with_t(np.array([np.mean(values) for values in logs.values()])) if logs else None
    ends = None if estimate is None else estimate.bounds(1 - alpha)
    before = exp(sum(told) / len(told)) if told else None
    ratio = None if estimate is None else exp(estimate.mean)
    return Comparison(
        metric=METRIC,
        unit="ms",
        definition="geometric mean of the TTFT ratio over prompts answered in both arms of a pair",
        direction="lower",
        value=PerArm(before, None if before is None or ratio is None else before * ratio),
        n=PerArm(len(told), len(told)),
        ratio=ratio,
        ci_low=None if ends is None else finite_exp(ends[0]),
        ci_high=None if ends is None else finite_exp(ends[1]),
        ci_level=1 - alpha,
        method=f"mean of log ratios of {len(logs)} pairs, t",
        n_blocks=len(logs),
        design_effect=None,
        se_log=None if estimate is None else estimate.se,
        df=None if estimate is None else estimate.df,
        unbounded=PerArm(False, False),
        constant=estimate is not None and estimate.se == 0.0,
        low_n=False,
        reason=None if logs else NO_PAIR,
    )
