"""The main job, straight down: scenario, arms, preflight, blocks to disk, then the analysis.

What was measured is on disk as soon as it was seen, so any end of this script leaves a folder that `analyze` reads.
"""

import platform
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from specbench import __version__
from specbench.analyze import analyze
from specbench.arms import Ready, ready_arms
from specbench.errors import RefusedError
from specbench.load.client import LoadChild
from specbench.measure import Bench, Measured, measure
from specbench.model.asked import ARMS, ArmName, Scenario
from specbench.model.judged import PerArm, Result
from specbench.model.seen import Endpoint, Manifest
from specbench.plan import Trial, cells_of, trials_of
from specbench.preflight import served_model, token_unit, try_arms
from specbench.progress import Watcher
from specbench.prompts.corpora import documents
from specbench.prompts.draw import Drawing
from specbench.store import FORMAT_VERSION, Ending, RunWriter
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import Served, endpoint_of
from specbench.telemetry.fairness import differences


class Interrupted(BaseException):
    """The run was asked to end by a signal; what was measured has been kept and analysed."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


@dataclass(frozen=True, slots=True)
class Prepared:
    """Arms that answered and may be compared, and what their prompts are drawn from; `refusal` says why not."""

    arms: PerArm[Ready]
    endpoints: tuple[Endpoint, ...]
    drawing: Drawing | None
    refusal: str | None


def folder_for(scenario: Scenario) -> Path:
    """A new folder's path under `reports/`, named after the scenario and the moment (UTC)."""
    return Path("reports") / f"{scenario.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def run(scenario: Scenario, folder: Path, watcher: Watcher) -> Result:
    """The judged result of running the scenario; `folder` then holds facts, result and report.

    Raises:
        ScenarioError: an arm cannot be started as the scenario asks.
        UnreachableError: an arm did not answer before load began.
        DataError: the folder cannot be written.
        Interrupted: Ctrl-C or SIGTERM; the folder holds a partial run and its result, if load had begun.
    """
    with _signals_as_interrupts():
        watcher.say(f"{scenario.name}: starting the arms")
        with ready_arms(scenario) as started, LoadChild() as child:
            prepared = _prepared(scenario, started, child, watcher)
            with closing(RunWriter(folder, _manifest(scenario, folder, prepared.endpoints))) as writer:
                if prepared.drawing is None:
                    writer.finish(Ending(_now(), (prepared.refusal or "",)))
                    return analyze(folder)
                bench = Bench(scenario=scenario, arms=prepared.arms, drawing=prepared.drawing, child=child, writer=writer)
                try:
                    _measure_all(bench, watcher)
                except Interrupted:
                    analyze(folder)
                    raise
                writer.finish(Ending(_now(), ()))
        watcher.say("judging")
        return analyze(folder)


def _prepared(scenario: Scenario, started: PerArm[Ready], child: LoadChild, watcher: Watcher) -> Prepared:
    endpoints: tuple[Endpoint, ...] = ()
    try:
        arms = PerArm(*(_with_model(started.of(name), served_model(started.of(name), name)) for name in ARMS))
        endpoints = tuple(_endpoint(arms.of(name), name) for name in ARMS)
        _refuse_unfair(endpoints, scenario)
        watcher.say(f"{scenario.name}: asking each arm once per sampling")
        drawing = _drawing(scenario, arms.baseline)
        try_arms(child, scenario, arms, drawing)
    except RefusedError as refusal:
        return Prepared(started, endpoints, None, str(refusal))
    return Prepared(arms, endpoints, drawing, None)


def _endpoint(ready: Ready, name: ArmName) -> Endpoint:
    return endpoint_of(name, ready.arm, Served(ready.url, ready.headers, ready.arm.model or ""), ENGINES[ready.arm.engine])


def _refuse_unfair(endpoints: tuple[Endpoint, ...], scenario: Scenario) -> None:
    baseline, speculative = endpoints
    fairness = differences(baseline, speculative, scenario.accept_differences)
    if fairness.refusals:
        unequal = "; ".join(f"{fact.name} is {fact.baseline} against {fact.speculative}" for fact in fairness.refusals)
        raise RefusedError(
            f"the arms differ in more than speculation: {unequal}; make them equal, or name it in accept_differences"
        )


def _with_model(ready: Ready, model: str) -> Ready:
    return replace(ready, arm=replace(ready.arm, model=model))


def _drawing(scenario: Scenario, ready: Ready) -> Drawing:
    texts = documents(scenario.workload.corpus or "")
    return Drawing(documents=texts, unit=token_unit(ready, texts), workload=scenario.workload, seed=scenario.seed)


def _measure_all(bench: Bench, watcher: Watcher) -> None:
    trials = trials_of(bench.scenario, cells_of(bench.scenario))
    watcher.start(len(trials))
    for trial in trials:
        watcher.block(trial.order + 1, _told(trial, measure(bench, trial)))


def _told(trial: Trial, measured: Measured) -> str:
    return f"{trial.cell.id} pair {trial.pair + 1} {trial.arm}: {measured.ok} ok, {measured.failed} failed"


def _manifest(scenario: Scenario, folder: Path, endpoints: tuple[Endpoint, ...]) -> Manifest:
    return Manifest(
        format_version=FORMAT_VERSION,
        run_id=folder.name,
        tool_version=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        started=_now(),
        scenario=scenario,
        cells=cells_of(scenario),
        endpoints=endpoints,
        notes=(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@contextmanager
def _signals_as_interrupts() -> Iterator[None]:
    """Ctrl-C and SIGTERM raise `Interrupted` in here, so that every context closes; a second one is not listened to."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
