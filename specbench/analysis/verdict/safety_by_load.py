"""At which load requests fail or answers stall: a surplus above a range that passes without it caps that range.

The shares are judged by `safety.py`, over all required cells as far as they pass together; which cells are counted apart is
decided here, and what a finding of such a cell means for the run in `verdict.py` and `slices.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.analysis.arrays.samples import Totals
from specbench.analysis.stats.alpha_spending import holm
from specbench.analysis.verdict.safety import Excess, error_finding, excess_of
from specbench.explain import safety
from specbench.model.result import Finding, PerArm
from specbench.model.scenario import Guardrail

# Of all loads of a run: a look at each of them beside the one at all together must not add to what that one errs.
ONE_LOAD_ALPHA = 0.01
CONCENTRATED = 0.1  # alpha of the test whether failures lie above a range rather than everywhere
LEAST_PAIRS = 4  # for a load alone to be proof: with fewer, a burst cannot be told from what fails all the time


@dataclass(frozen=True, slots=True, kw_only=True)
class CellShares:
    """Failed (or stalled) and judged requests of one required cell, block by block, and where it lies.

    `from_top`: how many loads of its axis are higher. `above`: whether it lies above the primary cell of its slice and axis.
    """

    id: str
    place: str
    from_top: int
    above: bool
    totals: PerArm[Totals]


def share_findings(guardrail: Guardrail, cells: Sequence[CellShares], alpha: float) -> tuple[Finding, dict[str, Finding]]:
    """The finding over the cells that pass together, and one for each cell whose surplus is counted apart, by its id.

    Cells whose own surplus is beyond chance stand apart. If the others do not pass together, those above a primary cell that have
    a surplus are set apart too, from the highest load down, until the rest passes. All cells are judged together where it never
    does, and where the speculative arm is not shown to fail more often in those set apart: two failures above and none below are
    no evidence that they lie only above.
    """
    whole = _judged(guardrail, cells, alpha)
    alone = _beyond_chance(guardrail, cells, alpha)
    apart = [cell for cell in cells if cell.id in alone]
    rest = [cell for cell in cells if cell.id not in alone]
    shown = _judged(guardrail, rest, alpha, apart)
    for cell in sorted(rest, key=lambda one: one.from_top):
        if shown.state == "PASS":
            break
        if cell.above and _has_surplus(guardrail, cell):
            apart.append(cell)
            rest.remove(cell)
            shown = _judged(guardrail, rest, alpha, apart)
    singly = {cell.id: _of_cells(guardrail, [cell], cell, alpha) for cell in cells if cell.id in alone}
    others = [cell for cell in apart if cell.id not in alone]
    proven = whole.state == "FAIL"
    found = {cell.id: _of_cells(guardrail, others, cell, alpha, proven=proven) for cell in others}
    if (
        shown.state != "PASS"
        or not _lies_there(guardrail, others, rest)
        or any(finding.state == "PASS" for finding in found.values())
    ):
        return whole, singly
    return shown, singly | found


def _judged(guardrail: Guardrail, cells: Sequence[CellShares], alpha: float, without: Sequence[CellShares] = ()) -> Finding:
    scope = {"scope": safety.without([cell.place for cell in _upward(without)])} if without else {}
    return error_finding(guardrail, _excess(cells, alpha, **scope), alpha)


def _of_cells(
    guardrail: Guardrail, together: Sequence[CellShares], cell: CellShares, alpha: float, *, proven: bool = True
) -> Finding:
    """The finding of these cells together, as that of one of them.

    `proven`: False where the whole run does not prove a surplus. Cells were picked for having one, so that a test of them alone
    would prove too much.
    """
    scope = safety.together([one.place for one in _upward(together)])
    return replace(error_finding(guardrail, _excess(together, alpha, scope), alpha, may_fail=proven), cell=cell.id)


def _upward(cells: Sequence[CellShares]) -> list[CellShares]:
    return sorted(cells, key=lambda one: -one.from_top)


def _excess(cells: Sequence[CellShares], alpha: float, scope: str = "Over the run") -> Excess:
    return excess_of([cell.totals.baseline for cell in cells], [cell.totals.speculative for cell in cells], alpha, scope)


def _has_surplus(guardrail: Guardrail, cell: CellShares) -> bool:
    rates = _excess([cell], 0.5).rates
    if rates is None:
        return False
    if guardrail.slo is not None:
        return float(cell.totals.speculative.numerator.sum()) > guardrail.slo * float(cell.totals.speculative.denominator.sum())
    return rates.difference > 0


def _lies_there(guardrail: Guardrail, others: Sequence[CellShares], rest: Sequence[CellShares]) -> bool:
    """Whether the speculative arm fails more often in these cells than in the rest, beyond chance."""
    if not others or guardrail.slo is not None:
        return True
    rates = excess_of(
        [cell.totals.speculative for cell in rest], [cell.totals.speculative for cell in others], CONCENTRATED
    ).rates
    return rates is not None and rates.p_excess < CONCENTRATED


def _beyond_chance(guardrail: Guardrail, cells: Sequence[CellShares], alpha: float) -> set[str]:
    """The cells, of several, each of whose own surplus is significant and not surely within what is allowed."""
    if len(cells) < 2 or guardrail.slo is not None:
        return set()
    tested = [(cell, rates) for cell in cells if (rates := _excess([cell], alpha).rates) and _pairs(cell) >= LEAST_PAIRS]
    adjusted = holm([rates.p_excess for _, rates in tested])
    beyond = [cell for (cell, _), p in zip(tested, adjusted, strict=True) if p < min(ONE_LOAD_ALPHA, alpha)]
    return {cell.id for cell in beyond if _judged(guardrail, [cell], alpha).state == "FAIL"}


def _pairs(cell: CellShares) -> int:
    return int(min((arm.denominator > 0).sum() for arm in (cell.totals.baseline, cell.totals.speculative)))
