"""The two endpoints, ready for load: embedded engines are started here and always stopped, URLs are taken as given."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import IO

import msgspec

from specbench.errors import ScenarioError, UnreachableError
from specbench.model.asked import ARMS, Arm, ArmName, Scenario
from specbench.model.judged import PerArm

STOP_S = 5.0


@dataclass(frozen=True, slots=True)
class Ready:
    """An arm with a URL that can be asked: what the scenario says, the base URL without `/v1`, and its secret headers."""

    arm: Arm
    url: str
    headers: dict[str, str]


@contextmanager
def ready_arms(scenario: Scenario) -> Iterator[PerArm[Ready]]:
    """Both arms with their URLs; the engines started for them end with the context, however it ends.

    Raises:
        ScenarioError: a key's environment variable is not set, or the embedded engine refuses its options.
        UnreachableError: an embedded engine did not come up.
    """
    with ExitStack() as started:
        yield PerArm(*(_ready(scenario.arm(name), name, started) for name in ARMS))


def base_url(url: str) -> str:
    """The URL without a trailing slash or `/v1`, as both forms are in use."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def key_header(variable: str | None, where: str) -> dict[str, str]:
    """The header that carries the key of the environment variable; none where no variable is named or it is empty.

    Raises:
        ScenarioError: the variable is not set; `where` says who names it.
    """
    if variable is None:
        return {}
    key = os.environ.get(variable)
    if key is None:
        raise ScenarioError(f"{where}: the environment variable {variable} is not set; export it first")
    return {"Authorization": f"Bearer {key.strip()}"} if key.strip() else {}


def _ready(arm: Arm, name: ArmName, started: ExitStack) -> Ready:
    if arm.url is not None:
        return Ready(arm, base_url(arm.url), {**arm.headers, **key_header(arm.api_key_env, f"arms.{name}.api_key_env")})
    url, model = started.enter_context(_embedded(arm, name))
    return Ready(replace(arm, model=arm.model or model), url, dict(arm.headers))


@contextmanager
def _embedded(arm: Arm, name: ArmName) -> Iterator[tuple[str, str]]:
    options = {**arm.options, "speculative": arm.speculative, "slow_by": arm.slow_by, "exit_with_parent": True}
    command = [sys.executable, "-m", "specbench.engine", msgspec.json.encode(options).decode()]
    with tempfile.TemporaryFile() as log, _process(command, log) as engine:
        assert engine.stdout is not None
        line = engine.stdout.readline()
        if not line:
            log.seek(0)
            said = log.read().decode(errors="replace").strip().splitlines()
            raise UnreachableError(f"arms.{name}: the embedded engine did not start: {said[-1] if said else 'it said nothing'}")
        hello = msgspec.json.decode(line, type=dict[str, object])
        yield str(hello["url"]), str(hello["model"])


@contextmanager
def _process(command: list[str], log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    # A session of its own: Ctrl-C on the terminal ends the run first, which then ends the engine.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
