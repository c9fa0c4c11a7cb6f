"""Which candidate is picked at each load, and how sure that is: from one figure a start, nothing else.

Per load, log figure = candidate + series + error; the error has one variance over all loads, known with the degrees of freedom
that are left. A pick is no proof: two candidates that hardly differ need not be told apart, as nobody gains by it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats

LEAST_SERIES = 2  # one start of each says nothing of how far starts differ
HOPELESS = 0.01  # a candidate that is so surely not the best is started no more
SCREENED_FROM = 7  # candidates: so many are screened before they are told apart
SCREEN_KEEPS, SCREEN_WITHIN = 3, 0.12


@dataclass(frozen=True, slots=True)
class StartFigure:
    """The figure that one start of a candidate showed at one load, as a log; lower is better."""

    load: float
    series: int
    candidate: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRules:
    """`depths`: the candidates, the baseline among them with 0, with their depths. `within` and `sure` are fractions.

    `out`: candidates that may not be picked at a load, by (candidate, load).
    """

    depths: Mapping[str, int]
    within: float
    sure: float
    out: frozenset[tuple[str, float]] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSelection:
    """The pick at one load, how sure it is that none is better by more than `within`, and the candidate that leads.

    `means`: log figures less the mean of the baseline, of all candidates with a figure. `sure` is None where it cannot be known.
    `chances`: how probable it is of each that it is better than the leader.
    """

    load: float
    pick: str
    leader: str
    sure: float | None
    next_best: str | None
    means: Mapping[str, float]
    chances: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The picks by rising load; `start_sd` is the pooled scatter of starts on the log scale with its degrees of freedom."""

    loads: tuple[LoadSelection, ...]
    start_sd: float | None
    df: int

    def settled(self, sure: float) -> bool:
        """Whether every load is so sure that all of them together are: each at 1 − (1 − sure) ÷ loads."""
        return bool(self.loads) and len(self.settled_loads(sure)) == len(self.loads)

    def settled_loads(self, sure: float) -> tuple[float, ...]:
        """The loads that are that sure each, so that measuring there again would change no pick."""
        least = level_of(sure, len(self.loads))
        return tuple(one.load for one in self.loads if one.sure is not None and one.sure >= least)


def level_of(sure: float, loads: int) -> float:
    """How sure a single load must be, so that all are as sure as asked."""
    return 1.0 - (1.0 - sure) / max(loads, 1)


def select(figures: Sequence[StartFigure], rules: SelectionRules) -> Selection:
    """The pick at each load.

    It is the smallest depth of which it is sure enough that none is better by more than `within`, else the leader.
    """
    fits = [_fitted(load, [one for one in figures if one.load == load]) for load in sorted({one.load for one in figures})]
    df = sum(fit.df for fit in fits)
    variance = sum(fit.squares for fit in fits) / df if df > 0 else None
    level = level_of(rules.sure, len(fits))
    loads = tuple(found for fit in fits if (found := _picked(fit, rules, level, variance, df)) is not None)
    return Selection(loads=loads, start_sd=None if variance is None else sqrt(variance), df=df)


def hopeless(selection: Selection, candidates: Sequence[str], baseline: str, settled: Collection[float] = ()) -> tuple[str, ...]:
    """The candidates that are so surely not the best that they need not be started again; never the baseline.

    Args:
        settled: Loads that are measured no more, where nothing need be told apart.
    """
    loads = [load for load in selection.loads if load.load not in settled]
    if selection.start_sd is None or not loads:
        return ()
    return tuple(one for one in candidates if one != baseline and all(load.chances.get(one, 0.0) < HOPELESS for load in loads))


def screened(figures: Sequence[Mapping[str, float]], candidates: Sequence[str], baseline: str) -> tuple[str, ...]:
    """The candidates that are left of many: per load the first three, where they are within 12 % of the best.

    One without a figure at any load is left too, as nothing is known of it.

    Args:
        figures: By load, the log figures that are known.
    """
    kept = {one for one in candidates if not any(one in of for of in figures)}
    for of in figures:
        order = sorted((one for one in of if one != baseline), key=lambda one: of[one])
        kept |= {one for one in order[:SCREEN_KEEPS] if of[one] <= of[order[0]] + log1p(SCREEN_WITHIN)}
    return tuple(one for one in candidates if one in kept)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Effects of candidates at one load by least squares, and `spread`, by which the variance of a difference is had."""

    load: float
    names: tuple[str, ...]
    effects: Floats
    spread: Floats
    squares: float
    df: int

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """How much higher the one is than the other, and the factor of its standard error."""
        here, there = self.names.index(one), self.names.index(other)
        factor = self.spread[here, here] + self.spread[there, there] - 2 * self.spread[here, there]
        return float(self.effects[here] - self.effects[there]), sqrt(max(float(factor), 0.0))


def _fitted(load: float, figures: Sequence[StartFigure]) -> _Fit:
    names = tuple(dict.fromkeys(one.candidate for one in figures))
    series = sorted({one.series for one in figures})
    design = np.zeros((len(figures), len(names) + len(series)))
    for row, one in enumerate(figures):
        design[row, names.index(one.candidate)] = 1.0
        design[row, len(names) + series.index(one.series)] = 1.0
    values = np.array([one.value for one in figures])
    inverse = np.linalg.pinv(design.T @ design).astype(np.float64)
    effects: Floats = inverse @ design.T @ values
    residuals = values - design @ effects
    df = len(figures) - int(np.linalg.matrix_rank(design))
    count = len(names)
    return _Fit(load, names, effects[:count], inverse[:count, :count], float(residuals @ residuals), df)


def _picked(fit: _Fit, rules: SelectionRules, level: float, variance: float | None, df: int) -> LoadSelection | None:
    """The pick at one load; None where no candidate may be picked."""
    allowed = [name for name in fit.names if name in rules.depths and (name, fit.load) not in rules.out]
    if not allowed:
        return None
    order = sorted(allowed, key=lambda name: float(fit.effects[fit.names.index(name)]))
    leader, sure = order[0], {one: _sure(fit, one, allowed, rules.within, variance, df) for one in allowed}
    good = [one for one in allowed if (known := sure[one]) is not None and known >= level]
    pick = min(good, key=lambda one: (rules.depths[one], order.index(one)), default=leader)
    base = next((name for name in fit.names if rules.depths.get(name) == 0), fit.names[0])
    return LoadSelection(
        load=fit.load,
        pick=pick,
        leader=leader,
        sure=sure[pick],
        next_best=next((one for one in order if one != pick), None),
        means={name: fit.difference(name, base)[0] for name in fit.names},
        chances={one: _better(fit, one, leader, 0.0, variance, df) or 0.0 for one in allowed if one != leader} | {leader: 1.0},
    )


def _sure(fit: _Fit, one: str, allowed: Sequence[str], within: float, variance: float | None, df: int) -> float | None:
    """1 − the sum over all others of how probable it is that they are better by more than `within`."""
    if variance is None:
        return None
    chances = [_better(fit, other, one, within, variance, df) for other in allowed if other != one]
    return max(0.0, 1.0 - sum(chance or 0.0 for chance in chances))


def _better(fit: _Fit, other: str, than: str, by: float, variance: float | None, df: int) -> float | None:
    """How probable it is that the other is better by more than so much; None where the scatter is not known."""
    from scipy.special import stdtr

    if variance is None:
        return None
    higher, factor = fit.difference(other, than)
    error = factor * sqrt(variance)
    past = -log1p(by) - higher
    if error == 0.0:
        return 1.0 if past > 0 else 0.0
    return float(stdtr(df, past / error))
