"""Measured values grouped by unit (the blocks of one pair), in the two forms that a metric can have.

Which values belong to which metric is decided in `metrics/`, inference is in `comparison/` and `stats/`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

import numpy as np

from specbench.analysis.arrays.events import Bools, Floats, Ints

_FEW = 500  # values


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Many values per unit: unit u holds values[offsets[u] : offsets[u + 1]]; +inf stands for a failed request.

    `values` (n,) in the metric's unit, `offsets` (n_units + 1,).
    """

    values: Floats
    offsets: Ints

    def counts(self) -> Ints:
        """How many values each unit holds, (n_units,)."""
        return np.diff(self.offsets)

    def how_many(self, are: Bools) -> Floats:
        """How many values of each unit are so, (n_units,), by `are` (n,)."""
        return np.array([np.count_nonzero(are[first:last]) for first, last in pairwise(self.offsets)], dtype=np.float64)

    def of_unit(self, unit: int) -> Floats:
        """The values of one unit, (n_of_unit,)."""
        return self.values[self.offsets[unit] : self.offsets[unit + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """One ratio of sums per unit: numerator ÷ denominator, both (n_units,); a unit with denominator 0 has no value."""

    numerator: Floats
    denominator: Floats
    reason: str | None = None

    def by_unit(self) -> Floats:
        """The value of each unit, (n_units,), NaN where there is none."""
        some = self.denominator > 0
        values: Floats = np.divide(self.numerator, self.denominator, out=np.full(len(self.numerator), np.nan), where=some)
        return values


def grouped(values: Floats, units: Ints, n_units: int) -> Samples:
    """Values (n,) whose units (n,) never fall, as `Samples`."""
    return Samples(values, np.searchsorted(units, np.arange(n_units + 1)).astype(np.int64))


def summed(values: Floats | Ints, units: Ints, n_units: int) -> Floats:
    """The sum of values (n,) over each unit, (n_units,)."""
    return np.bincount(units, weights=values, minlength=n_units).astype(np.float64)


def quantiles(values: Floats, probabilities: Sequence[float]) -> Floats:
    """Quantiles with linear interpolation between order statistics, where +inf may be among the values.

    x[h] with h = (n - 1) p, interpolated between x[floor h] and x[ceil h] (Hyndman and Fan 1996, type 7, numpy's default);
    numpy's own answers NaN between a finite value and +inf, where this is +inf.

    Returns:
        (n_probabilities,), NaN where there is no value at all.
    """
    n = len(values)
    if n == 0:
        return np.full(len(probabilities), np.nan)
    places = [(n - 1) * p for p in probabilities]
    if n <= _FEW:
        parted = np.sort(values)  # sooner done than parting
    else:
        parted = np.partition(values, sorted({floor(h) for h in places} | {ceil(h) for h in places}))
    return np.array([_between(float(parted[floor(h)]), float(parted[ceil(h)]), h - floor(h)) for h in places])


def unit_quantiles(samples: Samples, probabilities: Sequence[float]) -> Floats:
    """The quantiles of each unit, (n_units, n_probabilities); NaN where a unit holds nothing."""
    rows = [quantiles(samples.of_unit(unit), probabilities) for unit in range(len(samples.offsets) - 1)]
    return np.array(rows).reshape(len(rows), len(probabilities))


def _between(low: float, high: float, share: float) -> float:
    if share == 0.0 or low == high:
        return low
    return low + share * (high - low)
