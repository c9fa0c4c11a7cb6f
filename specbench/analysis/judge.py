"""From the facts of a run to its result, in one straight line: measure, find, check, judge.

Composition only: no statistic, no rule and no sentence is made here. The same evidence gives the same result, always.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from specbench.analysis.answers.answer_texts import answer_texts
from specbench.analysis.answers.declared_loss import is_made_up
from specbench.analysis.answers.judged_answers import judged_answers
from specbench.analysis.attempts import counted
from specbench.analysis.cell_metrics import CellMetrics, measure
from specbench.analysis.cells import CellEvidence, cells_of
from specbench.analysis.failures.deaths import Death, outside_kills, sentence_of, without
from specbench.analysis.failures.hanging import never_answered
from specbench.analysis.hosts.equivalence import enough_launches, place_of_run, start_effect
from specbench.analysis.hosts.previous_run_checks import deciding
from specbench.analysis.integrity.checks import cell_checks, run_checks, steadiness
from specbench.analysis.integrity.repeated_prompts import cached_alike
from specbench.analysis.integrity.speculating import speculating
from specbench.analysis.notes import resumed, run_notes
from specbench.analysis.other_depths import with_other_depths
from specbench.analysis.ramps import ramp_courses, without_ramp
from specbench.analysis.run_description import config_of, endpoint_of, run_info
from specbench.analysis.shown import course_of, timelines_of
from specbench.analysis.theory import theory_of
from specbench.analysis.verdict.bin_harm import harm_in_bins, judged_bins
from specbench.analysis.verdict.block_order import OrderEffects, of_the_lead, order_effects
from specbench.analysis.verdict.fading import with_trend
from specbench.analysis.verdict.guardrail_cases import benefit_of, run_findings
from specbench.analysis.verdict.interim import alpha_now, with_this_look
from specbench.analysis.verdict.safety import count_finding, reported_counts, with_never_answered
from specbench.analysis.verdict.safety_by_load import CellShares, share_findings
from specbench.analysis.verdict.verdict import held_for_kills, verdict_of
from specbench.errors import ExitCode
from specbench.explain.answers.answers_in_verdict import answers_notes, beside
from specbench.explain.phrases import place_of
from specbench.model.cell_assessment import CellAssessment, RunConditions, state_of
from specbench.model.guardrails import RUN_WIDE, SHARES, SLOWS, applies_to, with_later_defaults
from specbench.model.records import RunData
from specbench.model.result import CellCoordinates, CellResult, Finding, IntegrityCheck, PerArm, Reason, Result
from specbench.model.scenario import ArmName, Scenario

SCHEMA_VERSION = 1


def judge(evidence: RunData, tool_version: str) -> Result:
    """The whole result of a run: the verdict, why, and every number behind it.

    A run that was refused before load (no block, but problems) is INVALID with those problems as its reasons and no cells. A run
    that ended early is judged by what is there, and can be anything but PROMOTE or CAPPED. So is one in which an engine was
    killed from outside, without the pair of blocks that it hit, unless that pair was measured anew.
    """
    ramp, evidence = ramp_courses(counted(evidence)), without_ramp(evidence)
    killed = outside_kills(evidence)
    whole = counted(with_this_look(evidence), {death.block.id for death in killed})
    names = {block.id for block in whole.blocks}
    open_kills = tuple(death for death in killed if death.block.id in names)
    measured_again = tuple(death for death in killed if death.block.id not in names)
    result = _judged(without(whole, open_kills) if open_kills else whole, whole, open_kills, tool_version)
    said = (*resumed(evidence), *(sentence_of(death, evidence) for death in measured_again))
    return replace(result, notes=(*result.notes, *said), ramp=ramp)


def _judged(evidence: RunData, whole: RunData, killed: tuple[Death, ...], tool_version: str) -> Result:
    """The result of what counts of a run; `whole` is all of it, `killed` why the rest does not count."""
    refusals = whole.problems if not whole.blocks else ()
    alpha = alpha_now(evidence)
    cells = () if refusals else _measured(evidence, alpha)
    safety, by_cell = _safety(evidence, cells, alpha)
    manifest = evidence.manifest
    answers = judged_answers(evidence, [cell.evidence for cell in cells])
    safety = (*safety, *answers.findings)
    order = OrderEffects() if refusals else order_effects(cells, whole.blocks, manifest, manifest.scenario.alpha)
    results, assessments = _judged_cells(evidence, cells, by_cell, order.gains, alpha)
    speculated = {cell.evidence.cell.id: cell.evidence.records.speculative for cell in cells}
    results = with_other_depths(results, speculated, manifest.scenario.speculative.speculative)
    before_load = cached_alike(evidence.manifest.scenario, evidence.manifest.repeated)
    measured = () if refusals else (*speculating(evidence, cells), *run_checks(evidence), *order.checks)
    integrity = (*measured, *answers.checks, *before_load)
    place = place_of_run(evidence.manifest, deciding(results, safety))
    doubts, order_notes = of_the_lead(order.led, results, manifest.scenario.alpha)
    conditions = RunConditions(
        refusals=refusals,
        partial=whole.partial,
        place_controlled=place.controlled,
        place_sentences=place.sentences,
        enough_launches=enough_launches(evidence.manifest, evidence.blocks),
        doubts=doubts,
        made_up=_made_up(evidence),
        answers=beside(answers.findings),
        synthetic=is_made_up(manifest),
        own_history=manifest.scenario.workload.own_history,
    )
    verdict = verdict_of(assessments, safety, integrity, conditions)
    if killed:
        verdict = held_for_kills(verdict, [sentence_of(death, whole) for death in killed])
    given = {reason.message for reason in verdict.reasons}  # what is a reason needs no note
    said = (*(sentence_of(death, whole) for death in killed), *place.sentences)
    return Result(
        schema_version=SCHEMA_VERSION,
        tool_name="specbench",
        tool_version=tool_version,
        run=run_info(whole),
        config=config_of(evidence, [assessment.id for assessment in assessments if assessment.required]),
        endpoints=PerArm(endpoint_of(evidence.manifest, "baseline"), endpoint_of(evidence.manifest, "speculative")),
        verdict=verdict.word,
        promote=verdict.word == "PROMOTE",
        rollback=verdict.word == "ROLLBACK",
        exit_code=int(ExitCode[verdict.word]),
        reasons=verdict.reasons,
        enable_range=verdict.enable_range,
        rate_range=verdict.rate_range,
        cells=results,
        slices=verdict.slices,
        run_findings=safety,
        integrity=integrity,
        notes=(
            *run_notes(whole, cells),
            *order.notes,
            *order_notes,
            *answers_notes(answers.shown, answers.findings),
            *(sentence for sentence in said if sentence not in given),
        ),
        answers=answers.shown,
    )


def _made_up(evidence: RunData) -> tuple[int, int] | None:
    census = evidence.manifest.census
    return (census.made_up, sum(census.sampled.values())) if census is not None and census.made_up else None


def _measured(evidence: RunData, alpha: float) -> tuple[CellMetrics, ...]:
    speculates = PerArm(_speculates(evidence, "baseline"), _speculates(evidence, "speculative"))
    start, success = start_effect(evidence.manifest.scenario), evidence.manifest.scenario.success.metric
    return tuple(measure(cell, alpha, speculates=speculates, start=start, success=success) for cell in cells_of(evidence))


def _speculates(evidence: RunData, arm: ArmName) -> bool | None:
    """Whether the endpoint or the scenario says that this arm speculates; where both speak, the endpoint knows."""
    facts = (endpoint.facts for endpoint in evidence.manifest.endpoints if endpoint.arm == arm)
    reported = next((each["speculation"] for each in facts if "speculation" in each), None)
    declared = evidence.manifest.scenario.arm(arm).speculative is not None
    return reported == "on" if reported in ("on", "off") else declared or None


def _judged_cells(
    evidence: RunData,
    cells: Sequence[CellMetrics],
    safety: Mapping[str, tuple[Finding, ...]],
    by_order: Mapping[str, Reason],
    alpha: float,
) -> tuple[tuple[CellResult, ...], tuple[CellAssessment, ...]]:
    scenario = evidence.manifest.scenario
    findings = run_findings(cells, evidence.manifest, alpha)
    bins = judged_bins(cells, evidence.manifest, alpha)
    required = [cell for cell in cells if cell.evidence.required]
    steady = steadiness([d for cell in required for d in cell.drifts], _smallest_margin(evidence))
    results, assessments = [], []
    for cell in cells:
        name = cell.evidence.cell.id
        shown = benefit_of(cell, scenario.success, alpha) if _shows_benefit(cell.evidence, evidence) else None
        shown, fading = (None, None) if shown is None else with_trend(shown, cell)
        checks = (*cell_checks(evidence, cell.evidence), *steady.get(name, ()))
        found = (*findings[name], *harm_in_bins(bins[name]), *safety.get(name, ()), *((shown,) if shown else ()))
        results.append(replace(_result(cell, found, checks, scenario), bins=bins[name]))
        doubted = fading or (by_order.get(name) if shown is not None and shown.state == "PASS" else None)
        assessments.append(replace(_assessment(results[-1], cell, shown), fading=doubted))
    return tuple(results), tuple(assessments)


def _result(
    cell: CellMetrics, findings: tuple[Finding, ...], checks: tuple[IntegrityCheck, ...], scenario: Scenario
) -> CellResult:
    where = cell.evidence.cell
    return CellResult(
        id=where.id,
        axes=CellCoordinates(
            concurrency=where.concurrency,
            rate=where.rate,
            bin=where.bin,
            sampling=where.sampling,
            running_mean=cell.running_mean,
        ),
        required=cell.evidence.required,
        primary=cell.evidence.primary,
        state=state_of(findings, checks, cell.evidence.required, cell.pairs_used, _doubts(checks)),
        pairs_planned=scenario.matrix.pairs,
        pairs_used=cell.pairs_used,
        counts=cell.counts,
        metrics=tuple(cell.comparisons.values()),
        bins=cell.bins,
        acceptance=cell.acceptance,
        factors=cell.factors,
        findings=findings,
        integrity=checks,
        distributions=cell.distributions,
        timelines=timelines_of(cell.evidence.blocks, cell.evidence.records),
        block_series=course_of(cell.evidence.blocks, cell.acceptance_by_pair),
        answers=answer_texts(cell.evidence, scenario),
        theory=theory_of(cell.acceptance, cell.factors, _gamma(scenario)),
        engine_truth=cell.engine_truth,
        turns=cell.turns,
    )


def _doubts(checks: Sequence[IntegrityCheck]) -> tuple[Reason, ...]:
    """Why the cell does not pass though nothing voids it: an arm alone slows within its blocks."""
    return tuple(Reason(code=SLOWS, cell=one.cell, metric=None, message=one.message) for one in checks if one.id == SLOWS)


def _assessment(result: CellResult, cell: CellMetrics, benefit: Finding | None) -> CellAssessment:
    where = cell.evidence.cell
    return CellAssessment(
        id=result.id,
        place=place_of(where),
        slice=(where.bin, where.sampling),
        axis="concurrency" if where.rate is None else "rate",
        level=where.level,
        required=result.required,
        primary=result.primary,
        state=result.state,
        dead=cell.dead,
        benefit=benefit,
        findings=result.findings,
        integrity=result.integrity,
        running_mean=cell.running_mean.speculative,
        doubts=_doubts(result.integrity),
    )


def _safety(
    evidence: RunData, cells: Sequence[CellMetrics], alpha: float
) -> tuple[tuple[Finding, ...], dict[str, tuple[Finding, ...]]]:
    """The run-wide findings, over the required cells that each guardrail applies to; those of single cells by their ids."""
    found: list[Finding] = []
    by_cell: dict[str, tuple[Finding, ...]] = {}
    for guardrail in with_later_defaults(evidence.manifest.scenario.guardrails):
        judged = [cell for cell in cells if cell.evidence.required and applies_to(guardrail, cell.evidence.cell)]
        if guardrail.metric in SHARES:
            whole, apart = share_findings(guardrail, [_shares(cell, cells, guardrail.metric) for cell in judged], alpha)
            if guardrail.metric == "error_rate":
                together = [cell.evidence for cell in judged if cell.evidence.cell.id not in apart]
                hanging = PerArm(never_answered(together, "baseline"), never_answered(together, "speculative"))
                whole = with_never_answered(whole, hanging, alpha)
            found.append(whole)
            by_cell |= {name: (*by_cell.get(name, ()), finding) for name, finding in apart.items()}
        elif guardrail.metric in RUN_WIDE:
            found.append(count_finding(guardrail, reported_counts([cell.evidence.blocks for cell in judged], guardrail.metric)))
    return tuple(found), by_cell


def _shares(cell: CellMetrics, cells: Sequence[CellMetrics], metric: str) -> CellShares:
    """The cell among the required ones of its axis."""
    where = cell.evidence.cell
    required = [one for one in cells if one.evidence.required]
    axis = [one.evidence for one in required if (one.evidence.cell.rate is None) == (where.rate is None)]
    slice_name = (where.bin, where.sampling)
    primary = [one.cell.level for one in axis if one.primary and (one.cell.bin, one.cell.sampling) == slice_name]
    return CellShares(
        id=where.id,
        place=place_of(where),
        from_top=len({one.cell.level for one in axis if one.cell.level > where.level}),
        above=bool(primary) and where.level > primary[0],
        totals=cell.shares[metric],
    )


def _shows_benefit(cell: CellEvidence, evidence: RunData) -> bool:
    """Whether the benefit must show here: in the primary cell of its slice, in the closed loop unless only a rate is named."""
    return cell.primary and (cell.cell.rate is not None) == evidence.manifest.scenario.matrix.gain_by_rate


def _smallest_margin(evidence: RunData) -> float:
    """The smallest relative margin that decides; the gain asked for where no guardrail has one."""
    scenario = evidence.manifest.scenario
    margins = [g.margin for g in scenario.guardrails if g.role == "guardrail" and g.required and g.margin and g.slo is None]
    return min(margins, default=scenario.success.improve_by)


def _gamma(scenario: Scenario) -> int | None:
    """How many tokens the speculative arm drafts a round, where the scenario says."""
    depth = (scenario.speculative.speculative or {}).get("num_speculative_tokens")
    return depth if isinstance(depth, int) else None
