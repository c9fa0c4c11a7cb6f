"""The two endpoints, ready for load: engines of launch blocks and embedded ones are started here, URLs are taken as given.

Whatever is started ends with its context. How a command is run and stopped is `arms/launch.py`'s.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx

from specbench.arms.arm_secrets import secret_variables, secrets_of
from specbench.arms.launch import EngineProcess, launched
from specbench.credentials import LONGEST_WORD, NO_SECRETS, Secrets, key_header, one_line, secret
from specbench.errors import UnreachableError
from specbench.model.scenario import ARMS, Arm, ArmName, Launch, Route, Scenario
from specbench.net.urls import asked_path, base_url, share_server
from specbench.prompts.request_body import ROUTES
from specbench.telemetry.http import client_to

SWAP_S = 120.0
EMBEDDED_START_S = 120.0  # the first start on a machine trains its models, which takes seconds
SLEEP, WAKE_UP = "/sleep?level=1", "/wake_up"  # level 1: the weights go to the machine's memory, the KV cache is given up


@dataclass(frozen=True, slots=True)
class RunningArm:
    """An arm with a URL that can be asked: what the scenario says, the base URL without `/v1`, and its secret headers.

    `engine` is what a launch block started, None for an embedded engine and for one that was given by its URL. `moved`: the path
    from the host on to which the endpoint sends requests, None where it answers where it is asked. `secrets` are those of both
    arms: nothing that the arm says is kept or shown with one of them in it. `ended` says how an engine that specbench started in
    either way ended by itself, looked at for so many seconds; None where it started none.
    """

    arm: Arm
    url: str
    headers: dict[str, str]
    engine: EngineProcess | None = None
    secrets: Secrets = NO_SECRETS
    ended: Callable[[float], str | None] | None = None
    moved: str | None = None


OpenArm = Callable[[ArmName], AbstractContextManager[RunningArm]]
"""An arm, ready for as long as the context lasts. Whether its engine lives longer than that is the schedule's."""


@contextmanager
def open_arms(scenario: Scenario, log_of: Callable[[ArmName], Path]) -> Iterator[OpenArm]:
    """How to reach the arms: both are up all the time, though one may sleep, or (`restart`) each only while it is visited.

    Args:
        log_of: Where the output of an arm's engine goes.

    Raises:
        ScenarioError: a key's environment variable is not set, or an engine cannot be started as the scenario asks.
        UnreachableError: an engine did not come up.
    """
    both = (scenario.baseline, scenario.speculative)
    if scenario.matrix.schedule == "restart":
        yield lambda name: running_arm(scenario.arm(name), name, log_of(name), both)
        return
    with ExitStack() as stack:
        up: dict[ArmName, RunningArm] = {}
        for name in ARMS:
            up[name] = stack.enter_context(running_arm(scenario.arm(name), name, log_of(name), both))
            if _sleeps(up[name]):
                _tell(up[name], name, SLEEP)  # before the other engine asks for the accelerator's memory
        yield lambda name: _awake(up[name], name) if _sleeps(up[name]) else nullcontext(up[name])


@contextmanager
def running_arm(arm: Arm, name: ArmName, log: Path, arms: tuple[Arm, ...] = ()) -> Iterator[RunningArm]:
    """The arm with its URL; an engine started for it ends with the context.

    Args:
        arms: All arms of the run: an engine that is started here has the keys of the other in its environment too.

    Raises:
        ScenarioError: a key's environment variable is not set, or the engine cannot be started as the scenario asks.
        UnreachableError: the engine did not come up.
    """
    every = arms or (arm,)
    secrets = secrets_of(every)
    if arm.launch is not None:
        with launched(arm.launch, name, log, secret_variables(every)) as engine:
            yield RunningArm(arm, engine.url, secret_headers(arm, name), engine, secrets, engine.ended)
    elif arm.url is not None:
        yield RunningArm(arm, base_url(arm.url), secret_headers(arm, name), None, secrets)
    else:
        with launched(embedded_launch(arm), name, log, secret_variables(every)) as engine:
            yield RunningArm(arm, engine.url, secret_headers(arm, name), None, secrets, engine.ended)


def asked_at(ready: RunningArm, route: Route) -> tuple[str, str]:
    """The address and the path, put together, at which the arm is asked."""
    if ready.moved is not None:
        return str(httpx.URL(ready.url).join("/")), ready.moved
    return ready.url, asked_path(ready.arm.url or ready.url, ready.arm.path, ROUTES[route])


@contextmanager
def _awake(ready: RunningArm, name: ArmName) -> Iterator[RunningArm]:
    """The arm, which sleeps before and after; after a failure it is stopped anyway."""
    _tell(ready, name, WAKE_UP)
    yield ready
    _tell(ready, name, SLEEP)


def _sleeps(ready: RunningArm) -> bool:
    return ready.arm.launch is not None and ready.arm.launch.sleep


def _tell(ready: RunningArm, name: ArmName, path: str) -> None:
    try:
        with client_to(ready.url) as client:
            answer = client.post(ready.url + path, headers=ready.headers, timeout=SWAP_S)
    except httpx.TransportError as error:
        why = one_line(ready.secrets.out_of(str(error)), LONGEST_WORD)
        raise UnreachableError(f"arms.{name}: {ready.url}{path} did not answer ({why}); see launch.sleep in the docs") from None
    if answer.status_code != httpx.codes.OK:
        raise UnreachableError(f"arms.{name}: {ready.url}{path} answered {answer.status_code}; can this vLLM sleep?")


def bare_arm(engine: str, url: str, model: str, headers: dict[str, str]) -> Arm:
    """An arm of which no more is known than where it is, what serves there and what its requests carry."""
    return Arm(
        engine=engine,
        url=url,
        model=model,
        api_key_env=None,
        headers=headers,
        extra_body={},
        metrics_url=None,
        speculative=None,
        slow_by=0.0,
        options={},
        declare={},
    )


def shares_server(scenario: Scenario) -> bool:
    """Whether both arms ask one endpoint, and so one cache."""
    return share_server((scenario.baseline.url, scenario.speculative.url))


def secret_headers(arm: Arm, name: ArmName) -> dict[str, str]:
    """The headers that an arm's requests carry, its keys among them; an empty key sends no header.

    Raises:
        ScenarioError: a variable that `api_key_env` or `header_env` names is not set.
    """
    keys = {header: secret(variable, f"arms.{name}.header_env") for header, variable in arm.header_env.items()}
    bearer = key_header(arm.api_key_env, f"arms.{name}.api_key_env")
    return {**arm.headers, **{header: key for header, key in keys.items() if key}, **bearer}


def embedded_launch(arm: Arm) -> Launch:
    """How the embedded engine of an arm is started: like any other, by a command."""
    options = json.dumps({**arm.options, "speculative": arm.speculative, "slow_by": arm.slow_by})
    command = ("{python}", "-m", "specbench.engine", f'{{"port": {{port}}, {options[1:]}')
    port = arm.options.get("port") or None
    return Launch(
        command=command,
        env={},
        secrets=(),
        gpu=None,
        port=port if isinstance(port, int) else None,  # what is no number the engine itself refuses
        ready="/health",
        timeout_s=EMBEDDED_START_S,
        log=None,
    )
