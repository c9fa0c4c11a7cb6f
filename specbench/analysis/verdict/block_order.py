"""Whether what one block leaves to the next moves the ratio: carry-over, and effects of order that cancel out.

Two questions of the success metric's log by block, by which arm led the pair. The *sum* of a pair's two logs tells whether one
arm's block changes the other's after it more than the other way round: half of that is in the mean ratio. Their *difference*
tells that a second block is slower or faster, in both arms alike: a balanced order takes that out, which the sum must be known
well enough to show.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import expm1, log, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.stats.paired import Estimate, t_tail
from specbench.explain.phrases import place_of
from specbench.explain.rules import course_of_blocks as say
from specbench.model.records import Manifest
from specbench.model.result import IntegrityCheck, Reason
from specbench.model.scenario import ARMS

ORDER_ALPHA = 0.01  # of a whole run: a sound one is void by chance, or held, as seldom as by unsteady blocks
HARMLESS = 0.025  # in the mean ratio: half the smallest margin that anybody sets
LEAST_DF = 6  # below it a carry-over of 15 % is found in one run of four


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffects:
    """What the order of blocks does: checks that void the run, reasons to hold a win, and notes."""

    checks: tuple[IntegrityCheck, ...] = ()
    doubts: tuple[Reason, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Series:
    """One cell: the pair, both logs and the lead (+½ speculative, −½ baseline) of each pair that has figures, all (n,)."""

    cell: CellMetrics
    pair: Floats
    baseline: Floats
    speculative: Floats
    lead: Floats

    @property
    def usable(self) -> bool:
        """Whether both arms led."""
        return len(self.lead) > 2 and bool((self.lead > 0).any() and (self.lead < 0).any())

    @property
    def df(self) -> int:
        return len(self.lead) - 2


def order_effects(cells: Sequence[CellMetrics], manifest: Manifest, alpha: float) -> OrderEffects:
    """The effects of the order of blocks over all required cells together, and carry-over in each that has pairs enough alone.

    Whether second blocks differ is asked of all cells at once: single cells know too little of what is left of it in their ratio.
    """
    if manifest.scenario.matrix.schedule == "simultaneous":
        return OrderEffects()
    measured = [_series(cell) for cell in cells if cell.evidence.required and cell.pairs_used]
    series = [one for one in measured if one.usable]
    if not measured:
        return OrderEffects()
    if sum(one.df for one in series) < LEAST_DF:
        return OrderEffects(notes=(say.order_not_tested(_why_not(measured)),))
    alone = [one for one in series if one.df >= LEAST_DF] if len(series) > 1 else []
    groups: list[tuple[CellMetrics | None, list[_Series]]] = [(None, series), *((one.cell, [one]) for one in alone)]
    metric = manifest.scenario.success.metric
    checks: list[IntegrityCheck] = []
    doubts: list[Reason] = []
    notes: list[str] = []
    for cell, group in groups:
        level = ORDER_ALPHA if cell is None else ORDER_ALPHA / len(alone)
        place = None if cell is None else place_of(cell.evidence.cell)
        total, apart = _by_lead(group, lambda b, s: b + s), _by_lead(group, lambda b, s: s - b)
        if total is None or apart is None:
            continue
        most = _most(total, alpha)
        broken = _p(total) < level and most >= HARMLESS
        if broken or cell is None:
            name, bias = None if cell is None else cell.evidence.cell.id, expm1(total.mean / 2)
            message = say.carry_over(place, metric, bias, not broken)
            checks.append(IntegrityCheck(id="carry_over", cell=name, ok=not broken, value=bias, limit=HARMLESS, message=message))
        if cell is None and not broken and _p(apart) < level:
            if most >= HARMLESS:
                doubts.append(say.order_not_excluded(expm1(apart.mean), expm1(most), alpha))
            else:
                notes.append(say.order_matters(expm1(apart.mean), expm1(most), alpha))
    return OrderEffects(checks=tuple(checks), doubts=tuple(doubts), notes=tuple(notes))


def _why_not(measured: Sequence[_Series]) -> str:
    if not any(len(one.lead) for one in measured):
        return say.NO_FIGURES
    return say.FEW_PAIRS if any(one.usable for one in measured) or max(len(one.lead) for one in measured) < 3 else say.ONE_LEADS


def _series(cell: CellMetrics) -> _Series:
    orders = [{block.pair: block.order for block in cell.evidence.blocks.of(arm)} for arm in ARMS]
    rows = [
        (pair, log(before), log(after), 0.5 if orders[1][pair] < orders[0][pair] else -0.5)
        for pair, (before, after) in sorted(cell.success_by_pair.items())
    ]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 4)
    return _Series(cell, *table.T)


def _by_lead(group: Sequence[_Series], of: Callable[[Floats, Floats], Floats]) -> Estimate | None:
    """How much higher it is in pairs that the speculative arm led: least squares, each cell at its own level, one trend for all.

    None where the pairs are too few, or do not tell trend and lead apart.
    """
    value = np.concatenate([of(one.baseline, one.speculative) for one in group])
    cells = np.repeat(np.arange(len(group)), [len(one.lead) for one in group])
    levels = (cells[:, None] == np.arange(len(group))).astype(np.float64)
    pair = np.concatenate([one.pair for one in group])
    design = np.column_stack([levels, pair - pair.mean(), np.concatenate([one.lead for one in group])])
    df = len(value) - design.shape[1]
    if df < 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ design.T @ value
    left = value - design @ fitted
    return Estimate(float(fitted[-1]), sqrt(float(left @ left) / df * float(inverse[-1, -1])), df)


def _p(effect: Estimate) -> float:
    """The two-sided probability of an effect at least this clear if there were none."""
    if effect.se is None or effect.df is None:
        return 1.0
    if effect.se == 0.0:
        return 0.0 if effect.mean else 1.0
    return min(1.0, 2 * t_tail(abs(effect.mean) / effect.se, effect.df))


def _most(total: Estimate, alpha: float) -> float:
    """The most that may be in the mean log ratio, to either side, each bound one-sided at alpha."""
    ends = total.bounds(1 - 2 * alpha)
    return float("inf") if ends is None else max(abs(end) for end in ends) / 2
