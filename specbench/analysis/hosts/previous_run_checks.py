"""What an earlier run says of the places of a later one, copied so that the later run can be judged from its own folder.

What it was asked, and what was measured, must be what the later one asks. Each such answer is None where it was, else what was
not, as the end of a sentence about the earlier run.
An A/A of the two places is weighed here, whole. A run with the arms exchanged is only checked to be that; what both runs show
together is `equivalence.py`'s, once the later one has been measured.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from specbench.explain import hosts
from specbench.explain.phrases import subject_of
from specbench.model.answers.answer_rules import ANSWERS
from specbench.model.guardrails import DEFAULT_EXCESS, SHARES, advises, applies_to
from specbench.model.previous_runs import PreviousFinding, PreviousRun, PreviousRunKind
from specbench.model.records import Endpoint, Manifest
from specbench.model.result import CellResult, Finding, Result
from specbench.model.scenario import ARMS, DEVICE_VARIABLES, Arm, ArmName, Guardrail, Launch, Scenario
from specbench.net.urls import PORTS

HERE = "this machine"

Places = tuple[str, str]


def places_of(manifest: Manifest) -> Places:
    """Where the baseline and the speculative arm run: host and port of a URL; this machine, and its accelerator where one is
    named, where specbench starts the engine.
    """
    return _place(manifest.scenario.baseline), _place(manifest.scenario.speculative)


def started_on(launch: Launch | None) -> str | None:
    """The accelerator that an engine is started on, None where the launch names none."""
    named = [] if launch is None else [launch.gpu, *(launch.env.get(name) for name in sorted(DEVICE_VARIABLES))]
    return next((name for name in named if name), None)


def citation(cited: str, there: Manifest, result: Result, here: Manifest) -> PreviousRun:
    """The earlier run as the later one carries it, with the first thing that keeps it from saying anything of these places.

    Args:
        cited: How the scenario names the earlier run.
        there: The earlier run's manifest.
        result: What was concluded of it.
        here: The later run's manifest.
    """
    kind = _kind(there, here)
    checked: list[str] = []
    problem: str | None = None
    for name, trouble in _checks(kind, there, result, here):
        if trouble is not None:
            problem = trouble
            break
        checked.append(name)
    return PreviousRun(
        cited=cited,
        run_id=there.run_id,
        kind=kind,
        verdict=result.verdict,
        checked=tuple(checked),
        findings=tuple(
            PreviousFinding(cell=found.cell, metric=found.metric, role=found.role, state=found.state, ratio=found.ratio)
            for found in deciding(result.cells, result.run_findings)
        ),
        problem=problem,
    )


def deciding(cells: Sequence[CellResult], run_findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that decided the run and compare its arms: required ones of required cells, the gain's, and safety's.

    Absolute limits (`slo`) hold for one arm alone, so they say nothing of the difference between two places; nor do answers.
    """
    found = [finding for cell in cells if cell.required for finding in cell.findings]
    found += run_findings
    compares = (f for f in found if f.slo is None and f.metric not in ANSWERS)
    return tuple(f for f in compares if f.role == "success" or f.decides)


def _kind(there: Manifest, here: Manifest) -> PreviousRunKind | None:
    then, now = places_of(there), places_of(here)
    if there.scenario.design == "aa":
        return "aa"
    return "swap" if then == now[::-1] and then != now else None


def _checks(kind: PreviousRunKind | None, there: Manifest, result: Result, here: Manifest) -> Sequence[tuple[str, str | None]]:
    """What is checked, in order, each with what is wrong, None where it is right."""
    then, now = places_of(there), places_of(here)
    elsewhere = hosts.elsewhere(then, now) if set(then) != set(now) else None
    measured = {cell.id for cell in there.cells if cell.required}
    left = [cell for cell in here.cells if cell.required and cell.id not in measured]
    checks = [
        ("complete", hosts.INCOMPLETE if result.run.partial else None),
        ("valid", hosts.WAS_INVALID if result.verdict == "INVALID" else None),
        ("places", elsewhere),
        ("design", hosts.NEITHER_AA_NOR_SWAP if kind is None else None),
        ("engine", _engines(kind, there, here)),
        ("model", difference("model", _model(there), _model(here))),
        ("hardware", _hardware(there, here)),
        ("workload", None if there.scenario.workload == here.scenario.workload else hosts.ANOTHER_WORKLOAD),
        ("cells", hosts.unmeasured(left) if left else None),
    ]
    if kind == "swap":
        unlike = other_gain_or_margins(there.scenario, here.scenario)
        return [*checks, ("treatment", unlike_treatment(there, here)), ("asked", unlike)]
    return [*checks, ("asked", less_required(there, here)), ("result", _unequal(there, result))]


def _engines(kind: PreviousRunKind | None, there: Manifest, here: Manifest) -> str | None:
    arms = ARMS if kind == "swap" else ARMS[:1]
    different = (difference("engine", _engine(there, arm), _engine(here, arm)) for arm in arms)
    return next((problem for problem in different if problem is not None), None)


def _engine(manifest: Manifest, arm: ArmName) -> str:
    """The engine of an arm as it was recognised, else as the scenario names it."""
    found = next((endpoint.engine for endpoint in manifest.endpoints if endpoint.arm == arm), None)
    return found or manifest.scenario.arm(arm).engine


def _hardware(there: Manifest, here: Manifest) -> str | None:
    """Whether a place has another machine than it had, as far as both runs know."""
    then, now = _facts(there, "hardware"), _facts(here, "hardware")
    moved = (difference(f"hardware at {place}", then[place], now[place]) for place in now if place in then)
    return next((problem for problem in moved if problem is not None), None)


def _unequal(there: Manifest, result: Result) -> str | None:
    """Why an A/A does not show its places to be alike, None where it does: no harm, and no gain of the size asked for."""
    if result.verdict != "HOLD":
        return hosts.UNEQUAL_VERDICT.format(verdict=result.verdict)
    for finding in deciding(result.cells, result.run_findings):
        wanted = "FAIL" if finding.role == "success" else "PASS"
        if finding.state == wanted:
            continue
        what = subject_of(finding.metric, finding.cell, there.cells)
        if finding.role == "success":
            return hosts.GAIN_NOT_EXCLUDED.format(what=what)
        return hosts.UNEQUAL_CHECK.format(what=what, state=finding.state)
    return None


def _model(manifest: Manifest) -> str | None:
    return next((endpoint.model for endpoint in manifest.endpoints), None)


def _facts(manifest: Manifest, name: str) -> dict[str, str]:
    """This fact of each place, where it is known."""
    told: dict[str, Endpoint] = {endpoint.arm: endpoint for endpoint in manifest.endpoints}
    by_place = zip(places_of(manifest), ARMS, strict=True)
    return {place: told[arm].facts[name] for place, arm in by_place if arm in told and name in told[arm].facts}


def _place(arm: Arm) -> str:
    if arm.url is None:
        accelerator = started_on(arm.launch)
        return HERE if accelerator is None else f"{HERE}, accelerator {accelerator}"
    parts = urlsplit(arm.url)
    return f"{(parts.hostname or '').lower()}:{parts.port or PORTS.get(parts.scheme, 80)}"


def difference(what: str, then: str | None, now: str | None) -> str | None:
    """How a fact of both runs differs; None where it does not, or one of them does not know it."""
    return None if then == now or None in (then, now) else hosts.ANOTHER.format(what=what, then=then, now=now)


def unlike_treatment(there: Manifest, here: Manifest) -> str | None:
    """Whether another speculation was measured: as the scenarios write and start it, and as both runs' endpoints tell it."""
    for arm in ARMS:
        then, now = there.scenario.arm(arm), here.scenario.arm(arm)
        if (then.speculative, then.extra_body) != (now.speculative, now.extra_body):
            return hosts.ANOTHER_SPECULATION
        if then.launch is not None and now.launch is not None and _started(then.launch) != _started(now.launch):
            return hosts.STARTED_OTHERWISE.format(arm=arm)
        told = (_told(there, arm, "speculation_config"), _told(here, arm, "speculation_config"))
        if (problem := difference(f"speculation of the {arm} arm", *told)) is not None:
            return problem
    return None


def _started(launch: Launch) -> tuple[tuple[str, ...], dict[str, str]]:
    """What is started, without the devices it sees, which belong to its place."""
    return launch.command, {name: value for name, value in launch.env.items() if name not in DEVICE_VARIABLES}


def other_gain_or_margins(then: Scenario, now: Scenario) -> str | None:
    """Why the findings of a swap cannot be read together with this run's: another gain, or other margins."""
    if then.success != now.success:
        return hosts.ANOTHER_GAIN
    return None if set(_relative(then)) == set(_relative(now)) else hosts.OTHER_MARGINS


def less_required(there: Manifest, here: Manifest) -> str | None:
    """Why an A/A that passed does not show what this run needs: it must have been asked as much, in the same cells."""
    then, now = there.scenario, here.scenario
    if then.success.metric != now.success.metric:
        return hosts.ANOTHER_SUCCESS_METRIC.format(then=then.success.metric, now=now.success.metric)
    if then.success.improve_by > now.success.improve_by:
        return hosts.larger_gain(then.success.improve_by, now.success.improve_by)
    if (then.matrix.primary, then.matrix.gain_by_rate) != (now.matrix.primary, now.matrix.gain_by_rate):
        return hosts.another_primary(then.matrix.primary)
    for rule in _relative(now):
        if not _decided_cells(here, rule) <= _guarded(there, rule):
            return hosts.LESS_GUARDED.format(metric=rule.metric)
    return None


def _relative(scenario: Scenario) -> list[Guardrail]:
    """The required guardrails that compare the arms; `slo` holds for one arm alone."""
    return [rule for rule in scenario.guardrails if rule.decides and rule.slo is None]


def _guarded(there: Manifest, rule: Guardrail) -> set[str]:
    """The cells that a guardrail of the earlier run decided in and was as close as this one."""
    near = [
        earlier
        for earlier in _relative(there.scenario)
        if earlier.metric == rule.metric and _margin(earlier) <= _margin(rule) and earlier.floor <= rule.floor
    ]
    return {cell for earlier in near for cell in _decided_cells(there, earlier)}


def _margin(rule: Guardrail) -> float:
    default = DEFAULT_EXCESS if rule.metric in SHARES else 0.0
    return default if rule.margin is None else rule.margin


def _decided_cells(manifest: Manifest, rule: Guardrail) -> set[str]:
    """The required cells in which the guardrail decides."""
    cells = manifest.cells
    return {cell.id for cell in cells if cell.required and applies_to(rule, cell) and not advises(rule, cell, cells)}


def _told(manifest: Manifest, arm: ArmName, fact: str) -> str | None:
    return next((endpoint.facts.get(fact) for endpoint in manifest.endpoints if endpoint.arm == arm), None)
