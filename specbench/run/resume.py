"""What is left of a run that was interrupted, and whether what is at hand now is what was measured then.

Nothing of the figures enters: a pair is measured again where a block of it is missing, whatever the others showed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from platform import python_version
from typing import Any

from specbench import __version__
from specbench.analysis.attempts import by_attempt, is_complete
from specbench.analysis.failures.deaths import outside_kills
from specbench.arms.arm_secrets import scenario_without, secrets_of
from specbench.credentials import HIDDEN, LEAST_KEY, LONGEST_WORD, one_line
from specbench.errors import DataError, RefusedError, ScenarioError
from specbench.facts.resumes import looks_of, resumes_of
from specbench.model.data.datasets import Census
from specbench.model.records import Block, Endpoint, Manifest
from specbench.model.scenario import Scenario
from specbench.plan.trials import Trial
from specbench.store import FORMAT_VERSION, ending_of, read_manifest, read_run, stream_run

# Where a scenario lies and by which words it was changed may differ: what it says is in the other fields.
NOT_COMPARED = frozenset({"path", "flags"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedRun:
    """A run that can be resumed: its manifest, which pairs are complete, how often each was tried, and the looks taken."""

    folder: Path
    manifest: Manifest
    complete: frozenset[tuple[str, int]]
    tries: Mapping[tuple[str, int], int]
    looks: tuple[int, ...]
    resumed: int

    def remaining(self, trials: Sequence[Trial]) -> tuple[Trial, ...]:
        """What is left of these, in their order: pairs without a complete attempt, both blocks, as another attempt where one was
        begun. An engine that specbench starts is started anew for them, which is another launch of it."""
        launches = 1 + max((trial.launch for trial in trials), default=0)
        left = (trial for trial in trials if (trial.cell.id, trial.pair) not in self.complete)
        return tuple(
            replace(
                trial,
                attempt=1 + self.tries.get((trial.cell.id, trial.pair), 0),
                launch=trial.launch + (launches * (self.resumed + 1) if self._starts(trial) else 0),
            )
            for trial in left
        )

    def _starts(self, trial: Trial) -> bool:
        return self.manifest.scenario.arm(trial.arm).url is None


def interrupted_run(folder: Path) -> InterruptedRun:
    """The run in this folder, to be resumed.

    Raises:
        DataError: it is no run, has ended, or was written by another version.
    """
    manifest = read_manifest(folder)
    if manifest.format_version != FORMAT_VERSION:
        raise DataError(
            f"{folder}: has format version {manifest.format_version}, and this specbench goes on in {FORMAT_VERSION} alone;"
            " run again"
        )
    if manifest.tool_version != __version__:
        raise DataError(
            f"{folder}: was measured by specbench {manifest.tool_version}, and this is {__version__}; resume it with that one"
        )
    if manifest.scenario.workload.corpus is not None and manifest.python != python_version():
        raise DataError(
            f"{folder}: its built-in prompts are of Python {manifest.python}, and this is {python_version()}; use that one"
        )
    blocks, records = stream_run(folder, lambda said: None)
    _refuse_ended(folder, blocks)
    tries: dict[tuple[str, int], int] = {}
    complete = set()
    for pair, attempts in by_attempt(blocks).items():
        if any(map(is_complete, attempts.values())):
            complete.add(pair)
        tries[pair] = max(attempts)
    for cell, number, attempt in _begun({record.block for record in records}):
        tries[cell, number] = max(tries.get((cell, number), 0), attempt)
    return InterruptedRun(
        folder=folder,
        manifest=manifest,
        complete=frozenset(complete),
        tries=tries,
        looks=looks_of(folder),
        resumed=len(resumes_of(folder)),
    )


def _refuse_ended(folder: Path, blocks: Sequence[Block]) -> None:
    died = [block for block in blocks if block.engine_exit is not None]
    killed = {death.block.id for death in outside_kills(read_run(folder))} if died else set()
    for block in died:
        if block.id not in killed:
            raise DataError(
                f"{folder}: its {block.arm} engine {block.engine_exit} in {block.id}, which is its result; read it with:"
                f" specbench report {folder}"
            )
    if (ending := ending_of(folder)) is not None and not died:
        raise DataError(f"{folder}: is a run that ended ({ending.finished}); read it with: specbench report {folder}")


def _begun(names: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Cell, pair and attempt of each block of which there are records; a killed run lists no block that it was at."""
    for name in names:
        cell, _, rest = name.rpartition("/p")
        pair, *more = rest.split("/")
        attempt = more[1].removeprefix("a") if len(more) > 1 else "1"
        if pair.isdecimal() and attempt.isdecimal():
            yield cell, int(pair), int(attempt)


def check_same_scenario(run: InterruptedRun, given: Scenario, until: str | None) -> None:
    """Nothing, where the scenario, as it was changed by the command line, is the run's.

    Raises:
        ScenarioError: the first difference.
    """
    then, now = run.manifest.scenario, scenario_without(given, secrets_of((given.baseline, given.speculative)))
    looked = "resolved" if run.manifest.until_resolved else "budget"
    if until is not None and until != looked:
        raise ScenarioError(f"--resume {run.folder}: --until is {until}, and was {looked}; resume it as it was begun")
    found = next(_differences("", then, now), None)
    if found is not None:
        raise ScenarioError(f"--resume {run.folder}: {found}; give what the run was begun with, or begin a new one with --out")


def stored_scenario(run: InterruptedRun) -> Scenario:
    """The scenario as the run keeps it.

    Raises:
        ScenarioError: a secret was taken out of it, so that it is not whole.
    """
    for part in (run.manifest.scenario.baseline, run.manifest.scenario.speculative, run.manifest.scenario.labels):
        if HIDDEN * LEAST_KEY in repr(part):
            raise ScenarioError(f"--resume {run.folder}: a secret that stood in its scenario was not kept; name the file too")
    return run.manifest.scenario


def check_same_endpoints(run: InterruptedRun, endpoints: Sequence[Endpoint], census: Census | None) -> None:
    """Nothing, where both endpoints say of themselves what they said before, and the dataset is what it was.

    Raises:
        RefusedError: the first difference.
    """
    for then, now in zip(run.manifest.endpoints, endpoints, strict=True):
        for name in ("model", "engine", "engine_version", "facts"):
            found = next(_differences(name, getattr(then, name), getattr(now, name)), None)
            if found is not None:
                raise RefusedError(f"--resume {run.folder}: arms.{now.arm}: {found}; serve what was measured, or begin a new run")
    found = next(_differences("sha256", *(one and one.sha256 for one in (run.manifest.census, census))), None)
    if found is not None:
        raise RefusedError(f"--resume {run.folder}: workload.source.dataset: {found}; give the file that was used before")


def _differences(where: str, then: Any, now: Any) -> Iterator[str]:
    """Each place at which two values differ, as a clause, in the order of their fields."""
    if is_dataclass(then) and not isinstance(then, type) and type(then) is type(now):
        names = [each.name for each in fields(then) if each.name not in NOT_COMPARED or where]
        for name in sorted(names, key=lambda name: name == "sha256"):  # the text last: it differs whenever a value does
            yield from _differences(f"{where}.{name}" if where else name, getattr(then, name), getattr(now, name))
    elif isinstance(then, dict) and isinstance(now, dict):
        for key in sorted({*then, *now}):
            yield from _differences(f"{where}.{key}", then.get(key), now.get(key))
    elif isinstance(then, list | tuple) and isinstance(now, list | tuple) and len(then) == len(now):
        for place, (before, after) in enumerate(zip(then, now, strict=True)):
            yield from _differences(f"{where}[{place}]", before, after)
    elif then != now:
        yield f"{where} is {_shown(now)}, and was {_shown(then)}"


def _shown(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        return "set"
    return "not set" if value is None else one_line(str(value), LONGEST_WORD)
