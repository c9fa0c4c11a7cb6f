"""The verdict of a run: rules 1 and 2, which stop the whole run, and how the slices' verdicts become one word.

Rules 3 to 6 are `slices.py`'s, findings `findings.py`'s; this module reads states and never a number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.analysis.verdict.slices import SliceVerdict, above_a_range, slice_verdict
from specbench.explain import verdict
from specbench.model.cell_assessment import CellAssessment, RunConditions, failed_findings
from specbench.model.guardrails import SHARES
from specbench.model.result import Finding, IntegrityCheck, LoadRange, Reason, SliceResult, VerdictWord

_WORST_FIRST: tuple[VerdictWord, ...] = ("INVALID", "ROLLBACK", "HOLD", "CAPPED", "PROMOTE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The word, why, for which load speculation may be on, and each slice's own verdict where the scenario separates them."""

    word: VerdictWord
    reasons: tuple[Reason, ...]
    enable_range: LoadRange | None = None
    rate_range: LoadRange | None = None
    slices: tuple[SliceResult, ...] = ()


def verdict_of(
    cells: Sequence[CellAssessment], safety: Sequence[Finding], integrity: Sequence[IntegrityCheck], conditions: RunConditions
) -> Verdict:
    """The first rule that holds.

    1. safety failed, but for failures and stalls above a range that passes without them, or the speculative arm alone is dead:
    ROLLBACK. 2. integrity failed, or the baseline is dead: INVALID.
    3 to 6 per slice. Missing data never promotes, and harm needs proof. A run whose prompts are not the same in both arms is
    never more than HOLD.

    Args:
        cells: Every cell of the run, in the order of the plan.
        safety: The run-wide findings; those that are not required decide nothing.
        integrity: The run-wide checks.
        conditions: What holds for the whole run.
    """
    required = [cell for cell in cells if cell.required]
    if conditions.refusals:
        return Verdict(word="INVALID", reasons=verdict.refused(conditions.refusals, integrity))
    run_wide = [finding for finding in safety if finding.required]
    failed = [check for check in integrity if check.ok is False]
    failed += [check for cell in required for check in cell.integrity if check.ok is False]
    lost = [cell for cell in required if "baseline" in cell.dead]
    unsafe = [f for f in run_wide if f.state == "FAIL"]
    unsafe += _unsafe_cells(required, sound=not failed and not lost)
    dead = [cell for cell in required if cell.dead == ("speculative",)]
    if (unsafe or dead) and not conditions.own_history:
        return Verdict(word="ROLLBACK", reasons=verdict.unsafe(unsafe, dead))
    if failed or lost or not required:
        return Verdict(word="INVALID", reasons=verdict.invalid(failed, lost))
    if conditions.own_history:
        return Verdict(word="HOLD", reasons=verdict.own_history(unsafe, dead))
    by_slice: dict[tuple[str | None, str | None], list[CellAssessment]] = {}
    for cell in cells:
        by_slice.setdefault(cell.slice, []).append(cell)
    whole = set(by_slice) == {(None, None)}
    ours = conditions if whole else replace(conditions, answers="")  # said once, of all slices together
    parts = [slice_verdict(group, run_wide, ours) for group in by_slice.values() if any(one.required for one in group)]
    if whole:
        part = parts[0]
        return Verdict(word=part.word, reasons=part.reasons, enable_range=part.enable_range, rate_range=part.rate_range)
    return _combined(parts, conditions.answers)


def _unsafe_cells(required: Sequence[CellAssessment], *, sound: bool) -> list[Finding]:
    """The safety findings of single cells that failed, but for failures and stalls above a range that passes without them.

    `sound`: whether the run may be judged at all; where it may not, no range passes.
    """
    return [
        finding
        for cell in required
        for finding in failed_findings(cell)
        if finding.role == "safety" and not (sound and finding.metric in SHARES and above_a_range(cell, required))
    ]


def held_for_kills(rest: Verdict, killed: Sequence[str]) -> Verdict:
    """HOLD where an engine was killed from outside, unless what is left of the run proves harm or cannot be trusted.

    Args:
        rest: The verdict of the run without the pairs of blocks that the kills hit.
        killed: A sentence about each kill.
    """
    if rest.word in ("ROLLBACK", "INVALID"):
        return rest
    return Verdict(word="HOLD", reasons=verdict.killed_from_outside(killed, rest.word, rest.reasons))


def _combined(parts: Sequence[SliceVerdict], answers: str) -> Verdict:
    """All PROMOTE: PROMOTE. Some PROMOTE or CAPPED: CAPPED, with the eligible slices. Else the worst."""
    words = {part.word for part in parts}
    if words & {"PROMOTE", "CAPPED"}:
        word: VerdictWord = "PROMOTE" if words == {"PROMOTE"} else "CAPPED"
    else:
        word = next(candidate for candidate in _WORST_FIRST if candidate in words)
    return Verdict(
        word=word,
        reasons=verdict.over_slices(word, [(part.slice, part.word, part.reasons) for part in parts], answers),
        slices=tuple(
            SliceResult(
                bin=part.slice[0] or "",
                sampling=part.slice[1],
                verdict=part.word,
                enable_range=part.enable_range,
                rate_range=part.rate_range,
                reasons=part.reasons,
            )
            for part in parts
        ),
    )
