"""Looking at the data while they come in: how strict each look must be, and whether there is anything left to learn.

Plans nothing and measures nothing; the spending of error over looks is computed in `alpha_spending.py`.
"""

from collections.abc import Sequence
from dataclasses import replace

from specbench.analysis.attempts import by_attempt, is_complete
from specbench.analysis.stats.alpha_spending import look_levels
from specbench.analysis.verdict.fading import GAIN_FALLS
from specbench.model.guardrails import SHARES
from specbench.model.records import RunData
from specbench.model.result import CellResult, Result


def alpha_now(evidence: RunData) -> float:
    """The one-sided error that this look at the data may make, so that all looks together make no more than the scenario's alpha.

    One look, at the end, has all of it. Harm and pass each spend their own alpha by the same O'Brien-Fleming schedule: each is an
    error of its own, and either bound is the other's mirror.
    """
    alpha = evidence.manifest.scenario.alpha
    if not evidence.looks:
        return alpha
    budget = evidence.manifest.scenario.matrix.pairs
    return look_levels([min(pairs / budget, 1.0) for pairs in evidence.looks], alpha)[-1]


def with_this_look(evidence: RunData) -> RunData:
    """The evidence of a run that was cut off after looks at its data: its analysis is one more look, at what is complete now."""
    if evidence.finished is not None or not evidence.looks:
        return evidence
    whole: dict[str, int] = {cell.id: 0 for cell in evidence.manifest.cells}
    for (cell, _), attempts in by_attempt(evidence.blocks).items():
        whole[cell] = whole.get(cell, 0) + any(map(is_complete, attempts.values()))
    pairs = min(whole.values(), default=0)
    return replace(evidence, looks=(*evidence.looks, pairs)) if pairs > evidence.looks[-1] else evidence


def is_settled(result: Result, pairs: int) -> bool:
    """Whether a run that looks at its data may stop after so many pairs: more of them would not change what is to be done.

    Harm stops at once where no cap could come of the run any more. A win (PROMOTE, or CAPPED) stops only from half the budget on,
    as an early one rests on few pairs, only while the gain does not fall from pair to pair, and only when nothing is open that
    could raise its cap. Neither a broken measurement nor
    a gain that fails to show stops a run: what spoiled a block may pass, and the budget was given to look for the gain.
    """
    if result.verdict == "ROLLBACK":
        unsafe = result.reasons[0].code == "unsafe" and not _above_alone(result)
        slices = {(cell.axes.bin, cell.axes.sampling) for cell in result.cells if cell.required}
        return unsafe or all(_is_lost([c for c in result.cells if (c.axes.bin, c.axes.sampling) == name]) for name in slices)
    if result.verdict not in ("PROMOTE", "CAPPED") or 2 * pairs < result.config.pairs:
        return False
    if any(GAIN_FALLS in f.notes for cell in result.cells for f in cell.findings):
        return False
    findings = [f for cell in result.cells for f in cell.findings if f.required] + [f for f in result.run_findings if f.required]
    return not any(finding.is_open for finding in findings)


def _above_alone(result: Result) -> bool:
    """Whether only failures and stalls of single cells made the run unsafe: a gain that shows later may cap below them."""
    run_wide = any(f.required and f.state == "FAIL" for f in result.run_findings)
    codes = {reason.code for reason in result.reasons}
    safety = {reason.metric for reason in result.reasons if reason.code == "safety"}
    return not run_wide and "dead_arm" not in codes and safety <= set(SHARES)


def _is_lost(cells: Sequence[CellResult]) -> bool:
    """Whether a slice can no longer be capped: harm where its range would begin, or anywhere with the gain excluded."""
    harmed = [cell for cell in cells if cell.state == "FAIL"]
    excluded = any(f.role == "success" and f.state == "FAIL" for cell in cells for f in cell.findings)
    return any(_load(cell) <= _load(primary) for cell in harmed for primary in cells if _opens(primary, cell)) or bool(
        harmed and excluded
    )


def _opens(primary: CellResult, cell: CellResult) -> bool:
    return primary.primary and (primary.axes.rate is None) == (cell.axes.rate is None)


def _load(cell: CellResult) -> float:
    return cell.axes.rate if cell.axes.rate is not None else float(cell.axes.concurrency or 0)
