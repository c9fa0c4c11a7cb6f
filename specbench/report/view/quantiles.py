"""Quantiles of both arms as a table: a distribution's chart in words. Nothing is drawn and nothing interpolated here."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain import labels, numbers
from specbench.model.shown import Distribution
from specbench.report.view.rows import Pair

SHOWN = (0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True, slots=True)
class QuantileTable:
    """The same quantiles of one metric for both arms."""

    label: str
    unit: str
    rows: tuple[Pair, ...]


def quantile_tables(found: Sequence[Distribution]) -> tuple[QuantileTable, ...]:
    """One table per metric, with those of the shown quantiles that either arm has."""
    return tuple(_table([one for one in found if one.metric == metric]) for metric in dict.fromkeys(one.metric for one in found))


def _table(found: Sequence[Distribution]) -> QuantileTable:
    arms = {one.arm: by_probability(one) for one in found}
    base, spec = arms.get("baseline", {}), arms.get("speculative", {})
    at = [share for share in SHOWN if share in base or share in spec]
    lines = tuple(Pair(f"p{share * 100:g}", numbers.number(base.get(share)), numbers.number(spec.get(share))) for share in at)
    return QuantileTable(labels.metric(found[0].metric), found[0].unit, lines)


def by_probability(found: Distribution) -> dict[float, float]:
    """Values by probability, rounded so that a computed 0.95 meets a written one."""
    return {round(share, 6): value for share, value in zip(found.probabilities, found.values, strict=True)}
