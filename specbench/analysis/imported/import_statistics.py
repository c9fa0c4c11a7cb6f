"""Percentiles of one run of another tool, their errors over prompts, and the ratio of two arms with its interval.

A failed request is +∞. The error over prompts is all that one run can tell; how far runs differ is stated, or measured from three
runs an arm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import TypeVar

import numpy as np
from scipy import stats

from specbench.analysis.arrays.events import Floats
from specbench.analysis.arrays.samples import quantiles
from specbench.analysis.imported.comparable_runs import same_prompts
from specbench.analysis.stats.quantile import log_quantile_influence
from specbench.model.data.imported import ImportedRun

LEVEL = 0.95
MEASURABLE_RUNS = 3  # an arm, from which on the spread between runs is measured
_Z = 1.959963984540054
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class RunFigure:
    """A value of one run, with how many samples it has; None where it has none, +∞ where failures reach it."""

    value: float | None
    n: int | None


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """Speculative ÷ baseline with its interval; `p_above` and `p_below` test it against a true one."""

    ratio: float
    low: float
    high: float
    se_log: float
    df: float

    def p_above(self, limit: float) -> float:
        """How probable a ratio this large is where the true one is `limit`, one-sided."""
        if self.se_log == 0:
            return 0.0 if self.ratio > limit else 1.0
        return float(stats.t.sf((log(self.ratio) - log(limit)) / self.se_log, self.df))

    def p_below(self, limit: float) -> float:
        """How probable a ratio this small is where the true one is `limit`, one-sided."""
        if self.se_log == 0:
            return 0.0 if self.ratio < limit else 1.0
        return float(stats.t.cdf((log(self.ratio) - log(limit)) / self.se_log, self.df))


def percentile(run: ImportedRun, quantity: str, point: int) -> RunFigure:
    """The percentile of that quantity in the run: of its requests where they are there, else as its file has it."""
    if not run.requests:
        return RunFigure(run.summary.get(f"{quantity}_p{point}"), None)
    values, _ = _samples(run, quantity)
    if not np.isfinite(values).any():
        none_succeeded = len(values) > 0 and not any(one.ok for one in run.requests)
        return RunFigure(inf, len(values)) if none_succeeded else RunFigure(None, 0)
    return RunFigure(float(quantiles(values, [point / 100])[0]), len(values))


def prompt_variance(baseline: ImportedRun, speculative: ImportedRun, quantity: str, point: int) -> float | None:
    """The variance of the log ratio that comes from the prompts; those of both arms are taken together where they are the same.

    0 where a file has no values of single requests: then it is part of what is not known. None where they leave it open.
    """
    pulls = [_pulls(run, quantity, point / 100) for run in (baseline, speculative)]
    if any(run.requests and not one for run, one in zip((baseline, speculative), pulls, strict=True)):
        return None
    if same_prompts(baseline, speculative) and all(pulls):
        both = pulls[0].keys() & pulls[1].keys()
        together = np.array([pulls[1][one] - pulls[0][one] for one in both])
        alone = np.array([pull for one in pulls for name, pull in one.items() if name not in both])
        return _sum_of_squares(together) + _sum_of_squares(alone)
    return sum(_sum_of_squares(np.array(list(one.values()))) for one in pulls)


def interval_of_single_runs(ratio: float, prompts: float, between: float, runs: tuple[int, int]) -> RatioInterval:
    """The interval where the spread between runs is a stated one."""
    se = sqrt(prompts + between**2 * (1 / runs[0] + 1 / runs[1]))
    return RatioInterval(ratio, _exp(log(ratio) - _Z * se), _exp(log(ratio) + _Z * se), se, inf)


def interval_over_runs(baseline: Sequence[float], speculative: Sequence[float], interleaved: bool) -> RatioInterval | None:
    """The interval by t over runs: of pairs where the arms took turns, else Welch's; None where a value is not positive."""
    if not all(0 < value < inf for value in (*baseline, *speculative)):
        return None
    a, b = np.log(baseline), np.log(speculative)
    if interleaved and len(a) == len(b):
        d = b - a
        mean, se, df = float(d.mean()), float(d.std(ddof=1)) / sqrt(len(d)), float(len(d) - 1)
    else:
        mean = float(b.mean() - a.mean())
        parts = (float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b))
        se = sqrt(sum(parts))
        df = _welch(parts, (len(a), len(b)))
    reach = float(stats.t.ppf((1 + LEVEL) / 2, df)) * se
    return RatioInterval(_exp(mean), _exp(mean - reach), _exp(mean + reach), se, df)


def welch_difference(before: tuple[float, float, float], after: tuple[float, float, float]) -> tuple[float, float, float]:
    """The difference of two estimates, each with its standard error and degrees of freedom, as such a triple."""
    se = sqrt(before[1] ** 2 + after[1] ** 2)
    parts = [(one[1] ** 2, one[2]) for one in (before, after) if one[1] > 0]
    df = se**4 / sum(variance**2 / freedom for variance, freedom in parts) if parts else inf
    return after[0] - before[0], se, df


def interleaved(baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun]) -> bool:
    """Whether the arms took turns: of each two runs that follow each other in time, one is of either arm."""
    if len(baseline) != len(speculative) or len(baseline) < 2:
        return False
    started = [(run.started_s, arm) for arm, runs in enumerate((baseline, speculative)) for run in runs]
    if any(start is None for start, _ in started):
        return False
    order = [arm for _, arm in sorted(started, key=lambda one: one[0] or 0.0)]
    return all(order[at] != order[at + 1] for at in range(0, len(order), 2))


def excess_failures(failed: tuple[int, int], judged: tuple[int, int]) -> float:
    """How probable so many failures of the second arm are if it fails no more often than the first: Fisher, one-sided."""
    table = np.array([[failed[1], judged[1] - failed[1]], [failed[0], judged[0] - failed[0]]])
    return float(stats.fisher_exact(table, alternative="greater").pvalue)


def _samples(run: ImportedRun, quantity: str) -> tuple[Floats, list[str]]:
    """All values of the quantity, and the request that each belongs to. A failed request is one value, +∞."""
    values: list[float] = []
    owners: list[str] = []
    for index, request in enumerate(run.requests):
        name = f"{index}" if request.prompt is None else request.prompt
        if not request.ok:
            mine: Sequence[float] = (inf,)
        elif quantity in request.times_ms:
            mine = (request.times_ms[quantity],)
        else:
            mine = request.gaps_ms.get(quantity, ())
        values.extend(mine)
        owners.extend([name] * len(mine))
    return np.array(values, dtype=np.float64), owners


def _pulls(run: ImportedRun, quantity: str, p: float) -> Mapping[str, float]:
    """How far each request pulls the log of the percentile; {} where too few, or failures, leave that open."""
    values, owners = _samples(run, quantity)
    names = list(dict.fromkeys(owners))
    if len(names) < 2 or not len(values):
        return {}
    place = {name: at for at, name in enumerate(names)}
    # No clock counts a gap of no time: an event that came with the one before it is a microsecond behind it.
    found = log_quantile_influence(np.maximum(values, 1e-3), np.array([place[name] for name in owners]), p)
    return dict(zip(names, found.tolist(), strict=True)) if np.isfinite(found).all() else {}


def _sum_of_squares(pulls: Floats) -> float:
    n = len(pulls)
    return 0.0 if n < 2 else float((pulls**2).sum()) * n / (n - 1)


def _welch(parts: tuple[float, float], counts: tuple[int, int]) -> float:
    total = sum(parts)
    if total == 0:
        return float(min(counts) - 1)
    return total**2 / sum(part**2 / (n - 1) for part, n in zip(parts, counts, strict=True))


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
