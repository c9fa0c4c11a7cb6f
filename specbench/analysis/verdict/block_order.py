"""Whether what one block leaves to the next moves the ratio: carry-over, and effects of order that cancel out.

Two questions of the success metric's log by block, by which arm's block ran just before, in whatever cell. The *sum* of a pair's
two logs tells whether one arm's block changes the other's after it more than the other way round: as far as blocks follow the
other arm, that is in the mean ratio. Their *difference* tells that a second block is slower or faster, in both arms alike: a
balanced order takes that out, which the sum must be known well enough to show.

A pair in which only the baseline's block follows the other arm has `side` 1, one in which only the speculative arm's does −1.
Where both do, as where two pairs of one order follow each other, the sum holds both effects, and the pair tells nothing: side 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, expm1, log, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.stats.paired import Estimate, mean_with_t, t_tail, with_starts
from specbench.explain.phrases import place_of
from specbench.explain.rules import course_of_blocks as say
from specbench.model.records import Block, Manifest
from specbench.model.result import CellResult, Finding, IntegrityCheck, Reason
from specbench.model.scenario import ARMS, ArmName, Schedule

ORDER_ALPHA = 0.01  # of a whole run: a sound one is void by chance, or held, as seldom as by unsteady blocks
_APART = 2  # tests of it: of all cells at once, and of single ones
HARMLESS = 0.025  # in the mean ratio: half the smallest margin that anybody sets
LEAST_DF = 6  # below it a carry-over of 15 % is found in one run of four


@dataclass(frozen=True, slots=True)
class LeadEffect:
    """Ratios depend on the arm that led: how far, and the most that a balanced order may leave of it in their mean; fractions."""

    change: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffects:
    """What the order of blocks does: checks that void the run, what is seen of the arm that led, and notes.

    `gains`: by the primary cells' ids, why a gain there does not count, as it is not shown apart from what order may do.
    """

    checks: tuple[IntegrityCheck, ...] = ()
    led: LeadEffect | None = None
    notes: tuple[str, ...] = ()
    gains: Mapping[str, Reason] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Series:
    """One cell: the pair, both logs, the side, and the lead (1 speculative, −1 baseline) of each pair with figures, all (n,)."""

    cell: CellMetrics
    pair: Floats
    baseline: Floats
    speculative: Floats
    side: Floats
    lead: Floats

    @property
    def usable(self) -> bool:
        """Whether there are pairs of both sides."""
        return len(self.side) > 2 and bool((self.side > 0).any() and (self.side < 0).any())

    @property
    def df(self) -> int:
        return len(self.side) - 2


def order_effects(cells: Sequence[CellMetrics], blocks: Sequence[Block], manifest: Manifest, alpha: float) -> OrderEffects:
    """The effects of the order of `blocks`, all of the run, over the required cells, and carry-over in each with pairs enough.

    Whether second blocks differ is asked of all cells at once: single cells know too little of what is left of it in their ratio.
    """
    if manifest.scenario.matrix.schedule == "simultaneous":
        return OrderEffects()
    before = _arms_before(blocks, manifest.scenario.matrix.schedule)
    measured = [_series(cell, before) for cell in cells if cell.evidence.required and cell.pairs_used]
    series = [one for one in measured if one.usable]
    if not measured:
        return OrderEffects()
    if sum(one.df for one in series) < LEAST_DF:
        return OrderEffects(notes=(say.order_not_tested(_why_not(measured)),))
    alone = [one for one in series if one.df >= LEAST_DF] if len(series) > 1 else []
    groups: list[tuple[CellMetrics | None, list[_Series]]] = [(None, series), *((one.cell, [one]) for one in alone)]
    metric = manifest.scenario.success.metric
    checks: list[IntegrityCheck] = []
    led: LeadEffect | None = None
    gains: dict[str, Reason] = {}
    for cell, group in groups:
        level = ORDER_ALPHA / _APART / max(len(alone), 1) if cell is not None else ORDER_ALPHA / (_APART if alone else 1)
        place = None if cell is None else place_of(cell.evidence.cell)
        total, apart = _by_side(group, lambda b, s: b + s), _by_side(group, lambda b, s: s - b)
        if total is None or apart is None:
            continue
        share = _in_the_ratio(group)
        most = share * _most(total, alpha)
        broken = _p(total) < level and most >= HARMLESS
        if broken or cell is None:
            name, bias = None if cell is None else cell.evidence.cell.id, expm1(share * total.mean)
            message = say.carry_over(place, metric, bias, not broken)
            checks.append(IntegrityCheck(id="carry_over", cell=name, ok=not broken, value=bias, limit=HARMLESS, message=message))
        if cell is None:
            primary = [one for one in measured if one.cell.evidence.primary and len(one.side)]
            found = {one.cell.evidence.cell.id: _gain_in_doubt(one, metric, total, share, alpha) for one in primary}
            gains = {name: reason for name, reason in found.items() if reason is not None}
        if cell is None and not broken and _p(apart) < level:
            led = LeadEffect(expm1(2 * apart.mean), expm1(most))
    return OrderEffects(checks=tuple(checks), led=led, gains=gains)


def of_the_lead(led: LeadEffect | None, cells: Sequence[CellResult], alpha: float) -> tuple[tuple[Reason, ...], tuple[str, ...]]:
    """Why no win counts, as a limit that holds in a cell that passes may not hold without what the order leaves; else a note."""
    if led is None:
        return (), ()
    held = [found for cell in cells if cell.state == "PASS" for found in cell.findings if found.decides and found.state == "PASS"]
    short = next((found for found in held if not _has_room(found, led.most)), None)
    if short is None or led.most < expm1(HARMLESS):
        return (), (say.order_matters(led.change, led.most, alpha),)
    return (say.order_not_excluded(led.change, led.most, alpha, short.metric),), ()


def _has_room(found: Finding, most: float) -> bool:
    """Whether the limit would hold with every ratio that much worse; a limit on one arm's own values is no matter of ratios."""
    if found.role != "guardrail" or found.slo is not None:
        return True
    if found.upper is None or found.bound is None:
        return False
    return found.upper >= found.bound * (1 + most) if found.direction == "higher" else found.upper * (1 + most) <= found.bound


def _why_not(measured: Sequence[_Series]) -> str:
    if not any(len(one.side) for one in measured):
        return say.NO_FIGURES
    return say.FEW_PAIRS if any(one.usable for one in measured) or max(len(one.side) for one in measured) < 3 else say.ONE_LEADS


def _arms_before(blocks: Sequence[Block], schedule: Schedule) -> dict[str, ArmName | None]:
    """The arm that ran just before each block, by its id; where engines are started anew, before this start of its engine."""
    found: dict[str, ArmName | None] = {}
    before: ArmName | None = None
    last: Block | None = None
    for block in sorted(blocks, key=lambda one: one.order):
        same_start = last is not None and schedule == "restart" and (last.arm, last.launch) == (block.arm, block.launch)
        if last is not None and not same_start:
            before = last.arm
        found[block.id] = before
        last = block
    return found


def _series(cell: CellMetrics, before: Mapping[str, ArmName | None]) -> _Series:
    follows = [
        {block.pair: float(before.get(block.id) == other) for block in cell.evidence.blocks.of(arm)}
        for arm, other in zip(ARMS, reversed(ARMS), strict=True)
    ]
    orders = [{block.pair: block.order for block in cell.evidence.blocks.of(arm)} for arm in ARMS]
    rows = [
        (
            pair,
            log(baseline),
            log(speculative),
            follows[0][pair] - follows[1][pair],
            1 if orders[1][pair] < orders[0][pair] else -1,
        )
        for pair, (baseline, speculative) in sorted(cell.success_by_pair.items())
    ]
    pair, baseline, speculative, side, lead = np.array(rows, dtype=np.float64).reshape(len(rows), 5).T
    return _Series(cell=cell, pair=pair, baseline=baseline, speculative=speculative, side=side, lead=lead)


def _by_side(group: Sequence[_Series], of: Callable[[Floats, Floats], Floats]) -> Estimate | None:
    """How much higher it is in pairs of side 1 than in the mean of both sides: least squares, each cell at its own level.

    One trend for all; pairs of side 0 have a level of their own, for either lead. None where pairs do not tell all that apart.
    """
    value = np.concatenate([of(one.baseline, one.speculative) for one in group])
    cells = np.repeat(np.arange(len(group)), [len(one.side) for one in group])
    levels = (cells[:, None] == np.arange(len(group))).astype(np.float64)
    pair, side = np.concatenate([one.pair for one in group]), np.concatenate([one.side for one in group])
    lead = np.concatenate([one.lead for one in group])
    none = [chosen.astype(np.float64) for way in (1.0, -1.0) if (chosen := (side == 0.0) & (lead == way)).any()]
    design = np.column_stack([levels, pair - pair.mean(), *none, side])
    df = len(value) - design.shape[1]
    if df < 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ design.T @ value
    left = value - design @ fitted
    return Estimate(float(fitted[-1]), sqrt(float(left @ left) / df * float(inverse[-1, -1])), df)


def _in_the_ratio(group: Sequence[_Series]) -> float:
    """How much of the effect of a side is in the mean ratio: once where one block of a pair follows the other arm, else twice."""
    return 2.0 - float(np.concatenate([np.abs(one.side) for one in group]).mean())


def _gain_in_doubt(one: _Series, metric: str, total: Estimate, share: float, alpha: float) -> Reason | None:
    """Why a gain does not count that is no longer significant once the effect of order is taken out, with what is open of it.

    The pairs' sums, which tell that effect, vary apart from their differences, of which the gain is the mean.
    """
    seen = mean_with_t(one.speculative - one.baseline)
    if seen.se is None or seen.df is None or total.se is None or total.df is None:
        return None
    parts = [(seen.se**2, seen.df), ((share * total.se) ** 2, total.df)]
    variance = sum(part for part, _ in parts)
    spent = sum(part**2 / df for part, df in parts)
    compared = one.cell.comparisons.get(metric)
    start = None if compared is None else compared.start
    se, df = with_starts(variance, variance**2 / spent if spent else seen.df, start)
    sign = -1.0 if compared is not None and compared.direction == "higher" else 1.0
    without = Estimate(sign * (seen.mean + share * total.mean), se, df)
    most = (without.bounds(1 - 2 * alpha) or (0.0, 0.0))[1]
    where = one.cell.evidence.cell
    return None if most < 0 else say.gain_by_order(place_of(where), where.id, metric, (exp(seen.mean), exp(sign * most)), alpha)


def _p(effect: Estimate) -> float:
    """The two-sided probability of an effect at least this clear if there were none."""
    if effect.se is None or effect.df is None:
        return 1.0
    if effect.se == 0.0:
        return 0.0 if effect.mean else 1.0
    return min(1.0, 2 * t_tail(abs(effect.mean) / effect.se, effect.df))


def _most(total: Estimate, alpha: float) -> float:
    """The most that the effect may be, to either side, each bound one-sided at alpha."""
    ends = total.bounds(1 - 2 * alpha)
    return float("inf") if ends is None else max(abs(end) for end in ends)
