"""The secrets that the arms carry, by the variables that hold them, and the scenario as it may be stored without them."""

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar, cast

from specbench.credentials import Secrets, secrets_in
from specbench.model.scenario import Arm, Scenario

T = TypeVar("T")


def secret_variables(arms: Iterable[Arm]) -> tuple[str, ...]:
    """The environment variables that hold what the arms' requests, their metrics' pages and their engines carry."""
    named = [
        variable
        for arm in arms
        for variable in (
            arm.api_key_env,
            *arm.header_env.values(),
            arm.options.get("metrics_api_key_env"),
            *(arm.launch.secrets if arm.launch is not None else ()),
        )
    ]
    return tuple(dict.fromkeys(variable for variable in named if isinstance(variable, str)))


def secrets_of(arms: Iterable[Arm]) -> Secrets:
    """What the variables of all these arms hold, as an endpoint may know the other's, and the passwords of proxies."""
    return secrets_in(os.environ.get(variable, "") for variable in secret_variables(arms))


def scenario_without(scenario: Scenario, secrets: Secrets) -> Scenario:
    """The scenario as it may be stored: a secret that a text of the user's own repeats is taken out."""

    def clean(value: T) -> T:
        return cast("T", secrets.out_of_all(value))

    def stored(arm: Arm) -> Arm:
        launch = arm.launch
        return replace(
            arm,
            headers=clean(arm.headers),
            extra_body=clean(arm.extra_body),
            speculative=clean(arm.speculative),
            options=clean(arm.options),
            declare=clean(arm.declare),
            launch=launch and replace(launch, command=tuple(clean(list(launch.command))), env=clean(launch.env)),
        )

    return replace(
        scenario,
        baseline=stored(scenario.baseline),
        speculative=stored(scenario.speculative),
        workload=replace(scenario.workload, extra_body=clean(scenario.workload.extra_body)),
        labels=clean(scenario.labels),
        flags=tuple(clean(list(scenario.flags))),
    )
