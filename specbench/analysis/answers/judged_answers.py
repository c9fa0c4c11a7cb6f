"""All that a run concludes of its answers: three findings, a check of the baseline, and the numbers that a report shows.

Composition only: which answers count, and what is said where none were compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from specbench.analysis.answers.answers_form import answers_form, failed_form, mark_counts, possible_marks
from specbench.analysis.answers.answers_greedy import (
    answers_greedy,
    by_load,
    contradicts_itself,
    counts_of,
    greedy_evidence,
    widest_near_tie,
)
from specbench.analysis.answers.answers_sampled import answers_sampled, shifts_of
from specbench.analysis.answers.declared_loss import is_lossy
from specbench.analysis.cells import CellEvidence
from specbench.explain.answers import answer_sentences as said
from specbench.model.answers import answer_rules as rules
from specbench.model.answers.compared_answers import AnswerComparison
from specbench.model.answers.shown_answers import ShownAnswers, ShownExample
from specbench.model.records import RequestRecord, RunData
from specbench.model.result import Finding, IntegrityCheck, PerArm
from specbench.model.scenario import ARMS, ArmName

FOREIGN, HALF_CHARACTERS = "foreign", "U+FFFD"  # the second stands among the scripts of a record
_NO_MARKS = frozenset[str]()
_NEITHER = PerArm(_NO_MARKS, _NO_MARKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswers:
    """The findings over the run, the check of the baseline where it was asked, and the numbers; None where none were compared."""

    findings: tuple[Finding, ...]
    checks: tuple[IntegrityCheck, ...]
    shown: ShownAnswers | None


def judged_answers(evidence: RunData, cells: Sequence[CellEvidence]) -> JudgedAnswers:
    """What is found of the answers of the required cells, and of the prompts that were sent after the last pair.

    Where no answers were compared (an older version, a run that ended before, `answers: {check: off}`), the findings have no data
    and are not required; marks in excess prove a change all the same.
    """
    scenario = evidence.manifest.scenario
    lossy = is_lossy(evidence.manifest)
    required = [cell for cell in cells if cell.required]
    marks, possible = paired_marks(required), possible_marks(scenario)
    temperatures = [one.temperature for one in scenario.workload.sampling]
    found = None if not scenario.answers.check else evidence.answers
    if found is None:
        found = AnswerComparison(compared=(), unanswerable=tuple((name, _why(evidence)) for name in ("greedy", "sampled")))
        form = failed_form(marks if scenario.answers.check else (), possible, _why(evidence))
    else:
        found = _counted(found, evidence, required)
        marks, form = _form([*marks, *_sent_last(found)], _sent_last(found), possible, fleet=_has_fleet(required))
    findings = []
    if any(temperature == 0 for temperature in temperatures):
        findings.append(answers_greedy(found, differ_by_at_most=scenario.answers.differ_by_at_most, lossy=lossy))
    if any(temperature > 0 for temperature in temperatures):
        findings.append(answers_sampled(found, lossy=lossy))
    check = contradicts_itself(found)
    return JudgedAnswers(
        findings=(*findings, form),
        checks=() if check is None else (check,),
        shown=None if evidence.answers is None or not scenario.answers.check else _shown(found, marks, possible),
    )


def _form(
    every: list[PerArm[frozenset[str]]], sent_last: list[PerArm[frozenset[str]]], possible: frozenset[str], *, fleet: bool
) -> tuple[list[PerArm[frozenset[str]]], Finding]:
    """The marks that count, and the finding on them.

    The workers of a fleet tell of an answer only whether it loops: an excess is proof, and nothing else rests on their answers.
    """
    lost = failed_form(every, possible, said.NOT_ASKED)
    if not fleet or lost.state == "FAIL":
        return every, answers_form(every, possible)
    return sent_last, answers_form(sent_last, possible)


def _has_fleet(cells: Sequence[CellEvidence]) -> bool:
    return any(block.workers is not None for cell in cells for arm in ARMS for block in cell.blocks.of(arm))


def paired_marks(cells: Sequence[CellEvidence]) -> list[PerArm[frozenset[str]]]:
    """The marks of both answers to each prompt that both arms answered to the end."""
    scripts: dict[str, set[str]] = {}
    for record in (record for cell in cells for record in cell.records.baseline if record.scripts and record.outcome == "ok"):
        scripts.setdefault(record.bin, set()).update(record.scripts)
    pairs = []
    for cell in cells:
        before, after = (_answered(cell, arm) for arm in ARMS)
        for key, record in before.items():
            other = after.get(key)
            if other is None:
                continue
            usual = scripts.get(record.bin, set())
            marks = _marks(record, usual), _marks(other, usual)
            pairs.append(PerArm(*marks) if any(marks) else _NEITHER)
    return pairs


def _marks(record: RequestRecord, usual: set[str]) -> frozenset[str]:
    """The marks of an answer; a script is foreign that neither its prompt nor any answer of the baseline to its bin has."""
    if not (record.marks or record.looping or record.foreign_scripts):
        return _NO_MARKS
    marks = {mark for mark in record.marks if mark != FOREIGN}
    marks |= {rules.LOOPING} if record.looping else set()
    return frozenset(marks | ({FOREIGN} if set(record.foreign_scripts) - (usual - {HALF_CHARACTERS}) else set()))


def _answered(cell: CellEvidence, arm: ArmName) -> dict[tuple[int, int], RequestRecord]:
    pair_of = {block.id: block.pair for block in cell.blocks.of(arm)}
    return {(pair_of[record.block], record.index): record for record in cell.records.of(arm) if record.outcome == "ok"}


def _sent_last(found: AnswerComparison) -> list[PerArm[frozenset[str]]]:
    """The marks of the prompts without records; of which script a letter is they do not tell, so that none is foreign to a bin in
    which the baseline has such a mark too."""
    lines = [(one.bin, one.marks) for one in found.compared if one.cell is None and one.marks is not None]
    usual = {name for name, both in lines if FOREIGN in both.baseline}
    return [
        PerArm(*(frozenset(marks) - ({FOREIGN} if name in usual else set()) for marks in (both.baseline, both.speculative)))
        for name, both in lines
    ]


def _counted(found: AnswerComparison, evidence: RunData, required: Sequence[CellEvidence]) -> AnswerComparison:
    """The comparison without the answers of optional cells, and of pairs that do not count."""
    cells = {cell.cell.id for cell in required}
    pairs = {(block.cell, block.pair) for block in evidence.blocks if block.cell in cells}
    return replace(found, compared=tuple(one for one in found.compared if one.cell is None or (one.cell, one.pair) in pairs))


def _why(evidence: RunData) -> str:
    """Why no answers were compared."""
    if not evidence.manifest.scenario.answers.check:
        return said.SWITCHED_OFF
    if not evidence.blocks:
        return said.NOTHING
    return said.ENDED_EARLY if evidence.finished is None else said.OLDER


def _shown(found: AnswerComparison, marks: Sequence[PerArm[frozenset[str]]], possible: frozenset[str]) -> ShownAnswers:
    evidence = greedy_evidence(found)
    parted = [one.first_difference for one in evidence.compared if not one.equal and one.first_difference is not None]
    return ShownAnswers(
        greedy=counts_of(evidence.compared, evidence.clear_nats) if evidence.compared else None,
        clear_nats=evidence.clear_nats if evidence.compared else None,
        widest_near_tie_nats=widest_near_tie(evidence),
        median_first_difference=float(median(parted)) if parted else None,
        by_load=by_load(evidence),
        sampled=shifts_of(found),
        marks=mark_counts(marks, possible) if marks else (),
        examples=tuple(
            ShownExample(
                cell=one.cell,
                index=one.index,
                baseline=one.texts.baseline,
                speculative=one.texts.speculative,
                baseline_probability=None if one.probabilities is None else one.probabilities.baseline,
                speculative_probability=None if one.probabilities is None else one.probabilities.speculative,
            )
            for one in found.examples
        ),
    )
