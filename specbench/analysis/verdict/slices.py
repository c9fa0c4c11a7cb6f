"""Rules 3 to 6 of the verdict, for one slice of the traffic: promote, cap at the range that passed, roll back, or hold.

What stops a whole run (safety, integrity) and how slices combine is `verdict.py`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specbench.explain import verdict
from specbench.model.answers.answer_rules import ANSWERS
from specbench.model.cell_assessment import Axis, CellAssessment, RunConditions, failed_findings
from specbench.model.result import Finding, LoadRange, Reason, VerdictWord

AXES: tuple[Axis, Axis] = ("concurrency", "rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceVerdict:
    """The verdict of one slice: its word, the ranges (closed loop, open loop) for which speculation may be on, and why."""

    slice: tuple[str | None, str | None]
    word: VerdictWord
    enable_range: LoadRange | None
    rate_range: LoadRange | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """The unbroken run of passing cells around the primary one of an axis, and what lies outside it."""

    axis: Axis
    cells: tuple[CellAssessment, ...]
    below: tuple[CellAssessment, ...]
    above: tuple[CellAssessment, ...]


def slice_verdict(cells: Sequence[CellAssessment], safety: Sequence[Finding], conditions: RunConditions) -> SliceVerdict:
    """The first of rules 3 to 6 that holds for these cells, which all belong to one slice.

    Args:
        cells: The slice's cells; the run has passed rules 1 and 2.
        safety: The run-wide required safety findings, none of them FAIL.
        conditions: What holds for the whole run.
    """
    required = [cell for cell in cells if cell.required]
    spans = [span for axis in AXES if (span := _span(required, axis)) is not None]
    benefit = next((cell.benefit for cell in cells if cell.benefit is not None), None)
    fading = next((cell.fading for cell in cells if cell.fading is not None), None)
    shown = benefit is not None and benefit.state == "PASS" and fading is None
    safe = all(finding.state == "PASS" for finding in safety if finding.metric not in ANSWERS)
    in_range = bool(spans) and all(span.cells and not span.below for span in spans)
    if in_range and shown and safe and benefit is not None:
        unshown = [finding for finding in safety if finding.state != "PASS"]
        return _on(required, spans, benefit, conditions, unshown)
    unsafe = [finding for cell in required for finding in failed_findings(cell) if finding.role == "safety"]
    if unsafe:  # no range to cap at: what fails waits for nothing
        return _off("ROLLBACK", required, verdict.unsafe(unsafe, ()))
    if any(cell.state == "FAIL" for cell in required):
        word: VerdictWord = "ROLLBACK" if conditions.place_controlled else "HOLD"
        place = () if conditions.place_controlled else verdict.place_not_controlled("ROLLBACK", conditions.place_sentences)
        return _off(word, required, (*place, *verdict.harm(required, benefit)))
    reasons = verdict.hold(required, benefit, [finding for finding in safety if finding.state != "PASS"], fading)
    return _off("HOLD", required, reasons)


def above_a_range(cell: CellAssessment, cells: Sequence[CellAssessment]) -> bool:
    """Whether the cell lies above a range of its slice that passes, so that what is found in it may cap that range."""
    required = [one for one in cells if one.required and one.slice == cell.slice]
    span = _span(required, cell.axis)
    return span is not None and bool(span.cells) and not span.below and cell in span.above


def _on(
    required: Sequence[CellAssessment],
    spans: Sequence[_Span],
    benefit: Finding,
    conditions: RunConditions,
    unshown: Sequence[Finding],
) -> SliceVerdict:
    """PROMOTE, or CAPPED where something above a range did not pass; HOLD where the run as a whole cannot carry it.

    `unshown`: the required findings on answers that are open.
    """
    word: Literal["PROMOTE", "CAPPED"] = "CAPPED" if any(span.above for span in spans) else "PROMOTE"
    if conditions.partial:
        return _off("HOLD", required, (verdict.partial(word), *verdict.unmeasured(required)))
    if not conditions.enough_launches:
        return _off("HOLD", required, (verdict.too_few_launches(word),))
    if conditions.synthetic:
        return _off("HOLD", required, (verdict.synthetic_acceptance(word), verdict.benefit_shown(benefit)))
    if unshown:
        return _off("HOLD", required, (*verdict.answers_not_shown(unshown), verdict.benefit_shown(benefit)))
    if conditions.doubts:
        return _off("HOLD", required, (*conditions.doubts, verdict.benefit_shown(benefit)))
    if conditions.made_up is not None:
        return _off("HOLD", required, (verdict.made_up_text(word, *conditions.made_up), verdict.benefit_shown(benefit)))
    if not conditions.place_controlled:
        return _off(
            "HOLD", required, (*verdict.place_not_controlled(word, conditions.place_sentences), verdict.benefit_shown(benefit))
        )
    ranges = {span.axis: _enable_range(span) for span in spans}
    beyond = [reason for span in spans for reason in verdict.beyond(span.above, ranges[span.axis])]
    found = verdict.capped(ranges.values()) if word == "CAPPED" else verdict.promoted(required, ranges.values())
    headline = verdict.with_answers(found, conditions.answers)
    return SliceVerdict(
        slice=required[0].slice,
        word=word,
        enable_range=ranges.get("concurrency"),
        rate_range=ranges.get("rate"),
        reasons=(headline, verdict.benefit_shown(benefit), *beyond),
    )


def _off(word: VerdictWord, cells: Sequence[CellAssessment], reasons: tuple[Reason, ...]) -> SliceVerdict:
    slice_name = cells[0].slice if cells else (None, None)
    return SliceVerdict(slice=slice_name, word=word, enable_range=None, rate_range=None, reasons=reasons)


def _span(required: Sequence[CellAssessment], axis: Axis) -> _Span | None:
    """The range on this axis, empty where its primary cell did not pass; None where the slice has no cell on the axis."""
    cells = sorted((cell for cell in required if cell.axis == axis), key=lambda cell: cell.level)
    if not cells:
        return None
    start = next((index for index, cell in enumerate(cells) if cell.primary), None)
    if start is None or cells[start].state != "PASS":
        return _Span(axis=axis, cells=(), below=(), above=())
    low = high = start
    while low > 0 and cells[low - 1].state == "PASS":
        low -= 1
    while high + 1 < len(cells) and cells[high + 1].state == "PASS":
        high += 1
    return _Span(axis=axis, cells=tuple(cells[low : high + 1]), below=tuple(cells[:low]), above=tuple(cells[high + 1 :]))


def _enable_range(span: _Span) -> LoadRange:
    harmed = any(cell.state == "FAIL" for cell in span.above)
    return LoadRange(
        low=span.cells[0].level,
        high=span.cells[-1].level,
        running_at_cap=span.cells[-1].running_mean,
        by=span.axis,
        beyond=None if not span.above else "harm_beyond" if harmed else "not_shown_beyond",
        method=verdict.RANGE_METHOD,
    )
