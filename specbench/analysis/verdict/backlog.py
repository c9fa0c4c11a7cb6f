"""The finding on arrivals at a rate: a load that outruns an arm is none that it may serve, and none to compare at.

What each arm left behind is measured in `arrivals.py`; the other findings of a cell are `findings.py`'s.
"""

from dataclasses import replace

from specbench.analysis.arrivals import LEFT_BEHIND, Backlog, outran_more
from specbench.analysis.verdict.findings import draft_of
from specbench.explain.rules import load_ranges
from specbench.explain.rules.load_ranges import ServedArrivals
from specbench.model.records import Cell
from specbench.model.result import Finding, FindingState, PerArm
from specbench.model.scenario import Guardrail

BACKLOG = Guardrail(
    metric="backlog", role="guardrail", margin=None, floor=0.0, slo=None, required=True, cells=None, bins=None
)  # asked of every rate, whatever a scenario lists: without it the other figures are of no load that lasts


def backlog_finding(cell: Cell, backlogs: PerArm[Backlog | None], *, required: bool) -> Finding:
    """Whether speculation keeps up with what arrives.

    PASS: no sign that it does not. FAIL: it surely does not, surely less than the baseline, and the baseline shows no sign.
    INCONCLUSIVE: signs in both arms, or in the speculative one without such proof, or proof in the baseline alone, which leaves
    nothing to compare with.
    """
    draft = replace(draft_of(replace(BACKLOG, required=required), cell.id), reason=load_ranges.backlog_unknown(cell))
    before, after = backlogs.baseline, backlogs.speculative
    if before is None or after is None:
        return draft
    state, code = _state(before, after)
    words = PerArm(_served(before), _served(after))
    return replace(draft, state=state, notes=(code,), reason=load_ranges.backlog(cell, code, words))


def nothing_to_compare(backlogs: PerArm[Backlog | None]) -> bool:
    """Whether arrivals surely outran the baseline, and show no sign of it in the speculative arm."""
    before, after = backlogs.baseline, backlogs.speculative
    return before is not None and after is not None and before.proof and not after.sign


def _state(before: Backlog, after: Backlog) -> tuple[FindingState, str]:
    if before.proof and not after.sign:
        return "INCONCLUSIVE", "outrun_baseline"
    if after.proof and not before.sign and outran_more(before, after):
        return "FAIL", "outrun"
    if after.sign:
        return "INCONCLUSIVE", "outrun_both" if before.sign else "outrun_open"
    return "PASS", "kept_up"


def _served(backlog: Backlog) -> ServedArrivals:
    return ServedArrivals(
        served=1 - backlog.unserved.mean,
        least_served=1 - LEFT_BEHIND,
        rise_s=backlog.rise_s.mean,
        most_rise_s=backlog.rise_s.allowed,
    )
