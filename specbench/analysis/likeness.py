"""Whether an earlier run was asked what a later one is: the same treatment, the same gain, guardrails as close.

Each answer is None where it was, else what was not, as the end of a sentence about the earlier run.
"""

from specbench.explain import hosts
from specbench.model.asked import ARMS, DEVICE_VARIABLES, ArmName, Guardrail, Launch, Scenario
from specbench.model.guardrails import DEFAULT_EXCESS, advises, asked_of
from specbench.model.seen import Manifest


def difference(what: str, then: str | None, now: str | None) -> str | None:
    """How a fact of both runs differs; None where it does not, or one of them does not know it."""
    return None if then == now or None in (then, now) else hosts.another(what, then, now)


def unlike_treatment(there: Manifest, here: Manifest) -> str | None:
    """Whether another speculation was measured: as the scenarios write and start it, and as both runs' endpoints tell it."""
    for arm in ARMS:
        then, now = there.scenario.arm(arm), here.scenario.arm(arm)
        if (then.speculative, then.extra_body) != (now.speculative, now.extra_body):
            return hosts.ANOTHER_SPECULATION
        if then.launch is not None and now.launch is not None and _started(then.launch) != _started(now.launch):
            return hosts.started_otherwise(arm)
        told = (_told(there, arm, "speculation_config"), _told(here, arm, "speculation_config"))
        if (problem := difference(f"speculation of the {arm} arm", *told)) is not None:
            return problem
    return None


def _started(launch: Launch) -> tuple[tuple[str, ...], dict[str, str]]:
    """What is started, without the devices it sees, which belong to its place."""
    return launch.command, {name: value for name, value in launch.env.items() if name not in DEVICE_VARIABLES}


def asked_otherwise(then: Scenario, now: Scenario) -> str | None:
    """Why the findings of a swap cannot be read together with this run's: another gain, or other margins."""
    if then.success != now.success:
        return hosts.ANOTHER_GAIN
    return None if set(_relative(then)) == set(_relative(now)) else hosts.OTHER_MARGINS


def asked_less(there: Manifest, here: Manifest) -> str | None:
    """Why an A/A that passed does not show what this run needs: it must have been asked as much, in the same cells."""
    then, now = there.scenario, here.scenario
    if then.success.metric != now.success.metric:
        return hosts.another_success_metric(then.success.metric, now.success.metric)
    if then.success.improve_by > now.success.improve_by:
        return hosts.larger_gain(then.success.improve_by, now.success.improve_by)
    if (then.matrix.primary, then.matrix.gain_by_rate) != (now.matrix.primary, now.matrix.gain_by_rate):
        return hosts.another_primary(then.matrix.primary)
    for rule in _relative(now):
        if not _cells(here, rule) <= _guarded(there, rule):
            return hosts.less_guarded(rule.metric)
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
    return {cell for earlier in near for cell in _cells(there, earlier)}


def _margin(rule: Guardrail) -> float:
    default = DEFAULT_EXCESS if rule.metric == "error_rate" else 0.0
    return default if rule.margin is None else rule.margin


def _cells(manifest: Manifest, rule: Guardrail) -> set[str]:
    """The required cells in which the guardrail decides."""
    cells = manifest.cells
    return {cell.id for cell in cells if cell.required and asked_of(rule, cell) and not advises(rule, cell, cells)}


def _told(manifest: Manifest, arm: ArmName, fact: str) -> str | None:
    return next((endpoint.facts.get(fact) for endpoint in manifest.endpoints if endpoint.arm == arm), None)
