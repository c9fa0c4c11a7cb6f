"""The same scenario as an A/A of its two places, or with the arms in each other's place: what `--aa` and `--swap` ask for. Pure.

A place is where an arm runs and how it is reached: its URL, or the GPU and port of an engine that is started, where its metrics
are, and what is declared of the machine. What runs there (engine, speculation, command, body of requests) is the treatment.
"""

from dataclasses import replace
from typing import Any

from specbench.errors import ScenarioError
from specbench.model.request_fields import differing_fields
from specbench.model.scenario import ARMS, DEVICE_VARIABLES, Arm, Design, Launch, Scenario
from specbench.net.urls import server_of, share_server
from specbench.scenario.arms import METRICS_OPTIONS

_TREATMENT_FACTS = ("speculation", "speculation_config")  # declared of what an arm runs, not of where


def apply_design(scenario: Scenario, design: Design) -> Scenario:
    """The scenario as it is to be run by this design.

    Raises:
        ScenarioError: its arms do not allow it.
    """
    if design == "plain":
        return scenario
    _refuse_devices(scenario, f"--{design}")
    return make_aa(scenario) if design == "aa" else swapped(scenario)


def check_two_arms(scenario: Scenario) -> None:
    """Nothing, where there are two arms to compare.

    Raises:
        ScenarioError: one endpoint is asked twice for the same and no A/A was asked for, or one arm is a URL and the other one
            the embedded engine, whose times are virtual.
    """
    arms = (scenario.baseline, scenario.speculative)
    embedded = [name for name, arm in zip(ARMS, arms, strict=True) if arm.engine == "embedded" and is_started(arm)]
    if len(embedded) == 1 and any(arm.url is not None for arm in arms):
        raise ScenarioError(
            f"{scenario.path}: arms.{embedded[0]}: --{embedded[0]} URL is missing; the scenario's arm is the demo engine,"
            " which cannot be compared with a URL"
        )
    if scenario.design != "aa" and share_server([arm.url for arm in arms]) and not _told_apart(scenario):
        raise ScenarioError(
            f"{scenario.path}: arms: both arms are the same endpoint with the same requests; give --speculative another URL,"
            " let the requests differ (extra_body), or run an A/A (--aa)"
        )


def is_started(arm: Arm) -> bool:
    """Whether specbench starts this arm's engine without a launch block."""
    return arm.url is None and arm.launch is None


def _told_apart(scenario: Scenario) -> bool:
    """Whether the endpoint can tell the requests of one arm from those of the other, as gateways do."""
    ours, theirs = (
        (arm.path, arm.model, arm.headers, arm.header_env, arm.api_key_env) for arm in (scenario.baseline, scenario.speculative)
    )
    return ours != theirs or bool(differing_fields(scenario))


def make_aa(scenario: Scenario) -> Scenario:
    """Both arms run what the baseline runs, each in its own place. Runs cited for the places stay named, and are not read.

    Raises:
        ScenarioError: the baseline is given by a URL and the speculative arm is to be started, so nobody knows with what.
    """
    baseline, speculative = scenario.baseline, scenario.speculative
    if baseline.url is not None and speculative.url is None:
        raise ScenarioError(
            f"{scenario.path}: --aa: the baseline is a URL, but the speculative arm is started here; give both arms a URL,"
            " or start both"
        )
    return replace(scenario, speculative=_moved(baseline, speculative), design="aa")


def swapped(scenario: Scenario) -> Scenario:
    """Each arm in the other's place.

    Raises:
        ScenarioError: the arms do not have two places that could be exchanged.
    """
    baseline, speculative = scenario.baseline, scenario.speculative
    if (baseline.url is None) != (speculative.url is None) or _place(baseline) == _place(speculative):
        raise ScenarioError(
            f"{scenario.path}: --swap: the arms cannot be swapped, as they run at the same place; use two URLs, or two launched"
            " engines with a gpu or port each"
        )
    return replace(scenario, baseline=_moved(baseline, speculative), speculative=_moved(speculative, baseline), design="swap")


def _moved(what: Arm, where: Arm) -> Arm:
    """What one arm runs, in another arm's place."""
    facts = {name: value for name, value in where.declare.items() if name not in _TREATMENT_FACTS}
    declare = facts | {name: value for name, value in what.declare.items() if name in _TREATMENT_FACTS}
    if where.url is None:
        launch, options = _moved_launch(what.launch, where.launch), _moved_options(what, where)
        return replace(what, launch=launch, options=options, metrics_url=where.metrics_url, declare=declare)
    return replace(
        where,
        engine=what.engine if what.url is not None else where.engine,
        recognise=what.recognise if what.url is not None else where.recognise,
        model=what.model if what.url is not None else where.model,
        extra_body=what.extra_body,
        speculative=what.speculative,
        declare=declare,
    )


def _moved_options(what: Arm, where: Arm) -> dict[str, Any]:
    """The embedded engine's own options go with it; where metrics are belongs to the place."""
    own = {name: value for name, value in what.options.items() if name not in METRICS_OPTIONS}
    return own | {name: value for name, value in where.options.items() if name in METRICS_OPTIONS}


def _moved_launch(what: Launch | None, where: Launch | None) -> Launch | None:
    if what is None or where is None:
        return what
    return replace(what, gpu=where.gpu, port=where.port, log=where.log)


def _refuse_devices(scenario: Scenario, flag: str) -> None:
    baseline, speculative = scenario.baseline.launch, scenario.speculative.launch
    if baseline is None or speculative is None:
        return
    for variable in sorted(DEVICE_VARIABLES):
        if baseline.env.get(variable) != speculative.env.get(variable):
            raise ScenarioError(
                f"{scenario.path}: {flag}: {variable} in arms.*.launch.env names a device, but env moves with the engine;"
                " name the device by launch.gpu"
            )


def _place(arm: Arm) -> tuple[object, ...]:
    if arm.url is not None:
        return server_of(arm.url)
    return (arm.launch.gpu, arm.launch.port) if arm.launch is not None else ()
