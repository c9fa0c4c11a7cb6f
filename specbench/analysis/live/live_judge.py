"""The state of the watch over all periods so far: pure, so that recorded periods are judged anew as they were judged live."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specbench.analysis.live import live_changes as changes
from specbench.analysis.live import live_figures as figures
from specbench.analysis.live import live_limits
from specbench.analysis.live.live_break_even import below_break_even, break_even
from specbench.analysis.live.live_comparison import LiveComparison, compared
from specbench.analysis.live.live_drift import AcceptanceDrift, drifts
from specbench.analysis.stats.anytime import LEAST_WINDOWS
from specbench.explain.live import live_reasons
from specbench.model.guardrails import DEFAULTS
from specbench.model.live.cited_run import CitedRun
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WATCH_CODES, LiveFigures, WatchResult, WatchRules, WatchState
from specbench.model.result import PerArm, Reason

LEAST_IN_AN_HOUR = 20  # finished requests, without which nothing is said


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvidence:
    """All that is known: periods of both arms in order, the cited run, and the endpoint's facts now (None: not asked)."""

    speculative: tuple[LivePeriod, ...]
    baseline: tuple[LivePeriod, ...] = ()
    run: CitedRun | None = None
    facts: Mapping[str, str] | None = None


@dataclass(slots=True, kw_only=True)
class _Found:
    harm: list[Reason] = field(default_factory=list)
    rerun: list[Reason] = field(default_factory=list)
    alarms: list[Reason] = field(default_factory=list)
    holds: list[Reason] = field(default_factory=list)
    warnings: list[Reason] = field(default_factory=list)


def judged(evidence: LiveEvidence, rules: WatchRules) -> WatchResult:
    """The state, its reasons and figures; the first that holds of INVALID, ROLLBACK, RERUN, ALARM, HOLD, KEEP.

    Nothing passes for want of data, and live traffic never promotes by itself: that takes a run that says PROMOTE or CAPPED.
    """
    run, newest = evidence.run, evidence.speculative[-1]
    spec, base = (figures.windows(periods) for periods in (evidence.speculative, evidence.baseline))
    invalid = None if figures.usable(evidence.speculative) else _unusable(newest)
    comparison = compared(_pairs(evidence), DEFAULTS if run is None else run.guardrails, rules, run)
    found = _Found()
    findings = [*comparison.findings]
    for limit in rules.limits:
        check = live_limits.checked_limit(limit, spec, base)
        findings.append(check.finding)
        found.warnings += [check.warning] if check.warning else []
        if check.alarm:
            alone = rules.assignment == "random" and bool(base) and not check.shared
            (found.harm if alone else found.alarms).append(check.alarm)
    if silent := live_limits.not_drafting(spec):
        found.alarms.append(silent)
    drifting = () if run is None else drifts(evidence.speculative, rules.tolerance)
    if run is None:
        found.warnings.append(live_reasons.no_run())
    else:
        _against_run(found, evidence, run, spec, drifting, measured=comparison.tpot_ratio is not None)
    found.harm += [live_reasons.live_harm(one) for one in comparison.harmful]
    _holds(found, evidence, comparison, rules)
    state, reasons = _state(found, invalid)
    memory = live_limits.memory_short(spec)
    found.warnings += [memory] if memory else []
    found.warnings += [live_reasons.replicas_left_out(*one) for one in newest.left_out.items()]
    found.warnings += [
        live_reasons.buckets_too_wide(one.metric, one.remedy) for one in comparison.findings if one.code == "buckets_too_wide"
    ]
    equality = changes.breaks_equality(found.rerun)
    empty = reasons[0] if state == "ROLLBACK" else equality or memory
    return WatchResult(
        state=state,
        exit_code=WATCH_CODES[state],
        promote=state == "KEEP" and may_promote(run, comparison, rules),
        rollback=state == "ROLLBACK",
        at_s=newest.end_s,
        run=None if run is None else run.id,
        assignment=rules.assignment,
        periods=PerArm(len(evidence.baseline), len(evidence.speculative)),
        reasons=reasons,
        warnings=tuple(found.warnings),
        findings=tuple(findings),
        figures=_figures(spec, run, comparison, drifting),
        policy_empty=None if empty is None else empty.code,
        not_watched=() if run is None or evidence.facts is None else changes.not_watched(run.facts, evidence.facts),
    )


def may_promote(run: CitedRun | None, comparison: LiveComparison, rules: WatchRules) -> bool:
    """Whether live traffic confirms a run that says PROMOTE or CAPPED: at random, all means and the errors pass."""
    cited = run is not None and run.verdict in ("PROMOTE", "CAPPED") and not run.demonstration
    passed = {found.metric.partition("_")[0] for found in comparison.findings if found.basis == "mean" and found.state == "PASS"}
    settled = not comparison.open_means and not comparison.harmful and not comparison.refusals
    return cited and rules.assignment == "random" and {"tpot", "ttft", "e2e"} <= passed and settled


def _against_run(
    found: _Found,
    evidence: LiveEvidence,
    run: CitedRun,
    spec: Sequence[LivePeriod],
    drifting: Sequence[AcceptanceDrift],
    *,
    measured: bool,
) -> None:
    """What the run lets one say: changes, drift, and whether speculation pays at today's load."""
    if evidence.facts is not None:
        found.rerun += changes.changed_facts(run.facts, evidence.facts)
    else:
        found.warnings.append(live_reasons.facts_not_watched())
    if spec:
        found.rerun += changes.not_as_tested(spec, run)
        apart = changes.acceptance_not_as_tested(evidence.speculative, run)
        found.rerun += [apart] if apart else []
        if not measured and (losing := below_break_even(spec, run)):
            found.alarms.append(losing)
    found.rerun += [one.alarm for one in drifting if one.alarm]
    if run.demonstration:
        found.warnings.append(live_reasons.run_is_demonstration())
    if old := changes.run_age(run, evidence.speculative[-1].end_s):
        found.warnings.append(old)


def _holds(found: _Found, evidence: LiveEvidence, comparison: LiveComparison, rules: WatchRules) -> None:
    """Why nothing can be said yet."""
    hour = [one for one in evidence.speculative if one.end_s > evidence.speculative[-1].end_s - 3600]
    finished = sum(one.finished or 0 for one in hour)
    if finished < LEAST_IN_AN_HOUR:
        found.holds.append(live_reasons.no_traffic(finished))
    if rules.assignment != "random":
        return
    found.holds += [*comparison.refusals, *comparison.doubts]
    if comparison.windows < LEAST_WINDOWS and not comparison.refusals:
        found.holds.append(live_reasons.too_few_windows(comparison.windows, LEAST_WINDOWS))
    elif not comparison.refusals and not comparison.doubts:
        times = [one.metric for one in comparison.open_means if one.basis == "mean"]
        if times:
            found.holds.append(live_reasons.undecided(times))
        if any(one.code == "errors_not_told" for one in comparison.findings):
            found.holds.append(live_reasons.errors_not_told())


def _state(found: _Found, invalid: Reason | None) -> tuple[WatchState, tuple[Reason, ...]]:
    """The first state that holds; its own reasons come first, those of the states behind it after them."""
    if invalid is not None:
        return "INVALID", (invalid,)
    groups: list[tuple[WatchState, list[Reason]]] = [
        ("ROLLBACK", found.harm),
        ("RERUN", found.rerun),
        ("ALARM", found.alarms),
        ("HOLD", found.holds),
    ]
    held = [(state, reasons) for state, reasons in groups if reasons]
    if not held:
        return "KEEP", ()
    return held[0][0], tuple(reason for _, reasons in held for reason in reasons)


def _pairs(evidence: LiveEvidence) -> list[tuple[LivePeriod, LivePeriod]]:
    by_start = {period.start_s: period for period in evidence.baseline}
    return [(by_start[one.start_s], one) for one in evidence.speculative if one.start_s in by_start]


def _unusable(newest: LivePeriod) -> Reason:
    return live_reasons.unusable(newest.problem or "no_replica_throughout", newest.absent.get("pages"), newest.models)


def _figures(
    spec: Sequence[LivePeriod], run: CitedRun | None, comparison: LiveComparison, drifting: Sequence[AcceptanceDrift]
) -> LiveFigures:
    if not spec:
        return LiveFigures()
    newest = spec[-1]
    model = None if run is None else break_even(newest, run)
    measured = None if comparison.tpot_ratio is None else 1 / comparison.tpot_ratio
    modelled = None if model is None else model.speed_up
    return LiveFigures(
        alpha=figures.alpha(newest),
        acceptance_length=figures.acceptance_length(newest),
        tokens_per_step=figures.tokens_per_step(newest),
        batch_size=figures.batch_size(newest),
        break_even=None if model is None else model.needed,
        speed_up=measured if measured is not None else modelled,
        speed_up_source="measured" if measured is not None else None if modelled is None else "modelled",
        drift={one.quantity: one.evidence for one in drifting if one.evidence is not None},
    )
