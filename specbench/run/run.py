"""The main job, straight down: scenario, arms, preflight, blocks to disk, then the analysis.

What was measured is on disk as soon as it was seen, so any end of this script leaves a folder that `analyze` reads.
"""

import os
import platform
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from specbench import __version__
from specbench.analysis.integrity.repeated_prompts import cached_alike
from specbench.answers.answer_loads import loads_after_run
from specbench.arms.accelerators import accelerators
from specbench.arms.arm_secrets import scenario_without, secrets_of
from specbench.arms.arms import OpenArm, RunningArm, open_arms, secret_headers, shares_server
from specbench.arms.comparability import check_comparable, fairness_notes, proxy_notes
from specbench.arms.launch import environment_of
from specbench.arms.preflight import NO_WAY, Way, first_way, prompt_note, tried, way_of
from specbench.arms.previous_runs import check_previous_runs, previous_runs
from specbench.arms.prompt_source import prompt_source, trace_of
from specbench.arms.repeated_requests import repeated_prompts
from specbench.errors import Interrupted, RefusedError
from specbench.explain.dataset.dataset_notes import bins_line
from specbench.explain.notes import certainty_of, going_on
from specbench.explain.rules.fleet_of_workers import refused
from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import ONE_PROCESS, FleetOptions, FleetPlan, fleet_plan
from specbench.load.parent import LoadGenerator
from specbench.load.process_limits import check_open_files
from specbench.model.facts import RepeatedPrompt
from specbench.model.records import Endpoint, Manifest, RequestRecord
from specbench.model.result import PerArm, Result
from specbench.model.scenario import ARMS, ArmName, Scenario
from specbench.plan.answer_requests import LEAST_PROMPTS
from specbench.plan.trials import cells_of, ramp_trials, trials_of
from specbench.prompts.sampler import PromptSource
from specbench.run.analyze import analyze
from specbench.run.answers.answers_phase import AnsweringArms, AnswersPhase, never_asked
from specbench.run.answers.kept_answers import NOT_KEPT, AnswerKeeper
from specbench.run.block import BlockContext
from specbench.run.disk_space import disk_warning, expected_bytes
from specbench.run.early_stopping import EarlyStopping
from specbench.run.progress import RunProgress
from specbench.run.resume import InterruptedRun, check_same_endpoints
from specbench.run.schedule import ScheduleContext, run_trials
from specbench.store import FORMAT_VERSION, MANIFEST, Ending, RunWriter, check_unused
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint, endpoint_of
from specbench.telemetry.scrape import metrics_key, metrics_source, moved_pages, scrape


@dataclass(frozen=True, slots=True)
class Preflight:
    """Arms that answered and may be compared, and what their prompts are drawn from; `refusal` says why not.

    `repeated`: the prompts that they were asked twice. `first`: what came of each arm's first requests.
    """

    ways: PerArm[Way]
    endpoints: tuple[Endpoint, ...]
    drawing: PromptSource | None
    refusal: str | None
    repeated: tuple[RepeatedPrompt, ...] = ()
    first: tuple[RequestRecord, ...] = ()


def folder_for(scenario: Scenario) -> Path:
    """A new folder's path under `reports/`, named after the scenario, its design unless plain, and the moment (UTC)."""
    name = scenario.name if scenario.design == "plain" else f"{scenario.name}-{scenario.design}"
    return Path("reports") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def run(
    scenario: Scenario,
    folder: Path,
    watcher: RunProgress,
    until_resolved: bool = False,
    interrupted: InterruptedRun | None = None,
    fleet: FleetOptions = ONE_PROCESS,
) -> Result:
    """The judged result of running the scenario; `folder` then holds facts, result and report.

    `until_resolved` looks at the data on the way and stops when every finding is settled; else there is one look, at the end.
    `interrupted`: the run in `folder` that goes on. `fleet`: which processes drive the load.

    Raises:
        ScenarioError: an arm cannot be started as the scenario asks, a run that it cites for the places cannot be read, a key is
            not set, this machine cannot carry so many streams, or the fleet that is asked for cannot be.
        UnreachableError: an arm did not answer before load began, an engine could not be started again, or workers did not come.
        RefusedError: an engine that was started again no longer answers as it did, or a resumed run's endpoints are others now.
        DataError: the folder cannot be written, or no longer.
        Interrupted: Ctrl-C, SIGTERM, or a terminal that closed (SIGHUP).
        InternalError: the load generator was lost.
        Whatever is raised once load has begun, the folder then holds a partial run and its result.
    """
    if interrupted is None:
        check_unused(folder)
    check_previous_runs(scenario, folder)
    plan = _fleet_plan(scenario, fleet)
    refuse_what_cannot_end(scenario, 1 if plan is None else plan.workers // plan.lanes)
    with signals_as_interrupts():
        try:
            looks = list(interrupted.looks) if interrupted is not None else []
            looking = EarlyStopping(folder, scenario.matrix.pairs, looks) if until_resolved else None
            _measure(scenario, folder, watcher, looking, interrupted, plan)
        except BaseException:
            if (folder / MANIFEST).exists():
                with suppress(Exception):  # the first error is the one to tell; `analyze` can be asked again
                    analyze(folder)
            raise
        watcher.say("judging")
        return analyze(folder)


def _fleet_plan(scenario: Scenario, fleet: FleetOptions) -> FleetPlan | None:
    streams = max(cell.concurrency or scenario.matrix.in_flight for cell in cells_of(scenario))
    return fleet_plan(fleet, os.environ, streams, scenario.matrix.schedule == "simultaneous")


def refuse_what_cannot_end(scenario: Scenario, workers: int = 1) -> None:
    """Nothing, unless something known beforehand would end the run half-way: too few open files, or a key that is not set."""
    for cell in cells_of(scenario):
        check_open_files(-(-cell.concurrency // workers) if cell.concurrency else scenario.matrix.in_flight)
    for name, arm in zip(ARMS, (scenario.baseline, scenario.speculative), strict=True):
        metrics_key(arm)
        secret_headers(arm, name)
        if arm.launch is not None:
            environment_of(arm.launch, os.environ, name)


def _measure(
    scenario: Scenario,
    folder: Path,
    watcher: RunProgress,
    looking: EarlyStopping | None,
    interrupted: InterruptedRun | None,
    plan: FleetPlan | None,
) -> None:
    """The facts of the run, on disk; whatever was started for them has ended."""
    with ExitStack() as stack:
        fleet = None if plan is None else stack.enter_context(Fleet(plan, watcher.say))
        watcher.say(f"{scenario.name}: starting the arms")
        visit = stack.enter_context(open_arms(scenario, lambda name: log_of(folder, name)))
        child = stack.enter_context(LoadGenerator())
        prepared = prepared_arms(scenario, visit, child, watcher)
        trials = (*trials_of(scenario, cells_of(scenario)), *ramp_trials(scenario))
        if interrupted is not None:
            _refuse_others(interrupted, prepared)
            trials = interrupted.remaining(trials)
            watcher.say(f"{scenario.name}: {going_on(folder, trials[0].place if trials else None, len(trials))}")
            writer = stack.enter_context(closing(RunWriter.reopened(folder, utc_now())))
        else:
            manifest = replace(manifest_of(scenario, folder, prepared), until_resolved=looking is not None)
            for run in manifest.previous_runs:
                watcher.say(f"{scenario.name}: run {run.cited}, cited for the places: {run.problem or 'read'}")
            writer = stack.enter_context(closing(RunWriter(folder, manifest)))
        take_in_logs(folder)
        if prepared.drawing is None:
            writer.finish(Ending(utc_now(), (prepared.refusal or "",)))
            return
        if looking is not None:
            looking.note = writer.look
        if (short := disk_warning(folder, expected_bytes(scenario, trials, prepared.first))) is not None:
            watcher.say(f"{scenario.name}: {short}")
        answers = _answer_keeper(scenario, fleet)
        bench = BlockContext(
            scenario=scenario,
            drawing=prepared.drawing,
            child=child,
            writer=writer,
            answers=answers,
            trace=trace_of(scenario),
            fleet=fleet,
            pulse=watcher.pulse,
        )
        course = ScheduleContext(bench=bench, visit=visit, ways=prepared.ways, watcher=watcher, looking=looking)
        arms = AnsweringArms(
            scenario=scenario, drawing=prepared.drawing, child=child, visit=visit, ways=prepared.ways, watcher=watcher
        )
        wanted, loads = min(LEAST_PROMPTS, scenario.answers.prompts), loads_after_run(scenario)
        phase = AnswersPhase(arms, answers, wanted, loads) if scenario.answers.check else None
        problems = run_trials(course, trials, None if phase is None else phase.last_visit)
        if fleet is not None and fleet.refused:
            watcher.say(refused(fleet.refused))
        if phase is not None:
            writer.answers(never_asked(answers.pairs) if problems else phase.comparison())
        writer.finish(Ending(utc_now(), problems, tuple(looking.looks) if looking is not None else ()))


def _answer_keeper(scenario: Scenario, fleet: Fleet | None) -> AnswerKeeper:
    """What keeps the answers of the load; none where prompts are salted for each block, sessions or workers hold them, or nothing
    is compared.
    """
    alike = not shares_server(scenario) and scenario.workload.sessions is None and fleet is None
    kept = scenario.answers.check and alike
    return AnswerKeeper(scenario.answers.prompts, scenario.seed, scenario.workload.sampling, None if kept else NOT_KEPT)


def _refuse_others(interrupted: InterruptedRun, prepared: Preflight) -> None:
    """Nothing, where the endpoints of a resumed run are what they were; a refusal now is no result of what was measured then."""
    if prepared.drawing is None:
        raise RefusedError(prepared.refusal or "")
    check_same_endpoints(interrupted, prepared.endpoints, prepared.drawing.census)


def prepared_arms(
    scenario: Scenario, visit: OpenArm, child: LoadGenerator, watcher: RunProgress, *, timed: bool = True
) -> Preflight:
    """Each arm asked who it is, and once per sampling for an answer; the baseline first, as its tokens measure the prompts.

    Where nothing is `timed`, caches do not matter, and no prompt is asked twice.
    """
    ways: dict[ArmName, Way] = {}
    endpoints: list[Endpoint] = []
    drawing: PromptSource | None = None
    repeated: tuple[RepeatedPrompt, ...] = ()
    first: tuple[RequestRecord, ...] = ()
    try:
        for name in ARMS:
            with visit(name) as started:
                ways[name] = first_way(started, name)
                ready = way_of(started, ways[name])
                if started.arm.recognise:
                    watcher.say(f"{scenario.name}: the {name} arm is taken for {ENGINES[ready.arm.engine].label}")
                endpoints.append(described(ready, name))
                for note in proxy_notes(endpoints[-1]):
                    watcher.say(f"{scenario.name}: {note}")
                if len(endpoints) == len(ARMS):
                    check_comparable(endpoints, scenario)
                if drawing is None:
                    drawing = prompt_source(scenario, ready)
                    if drawing.census is not None:
                        watcher.say(f"{scenario.name}: {bins_line(drawing.census)}")
                watcher.say(f"{scenario.name}: asking the {name} arm once per sampling")
                ways[name], records = tried(child, scenario, ready, name, drawing, ways[name])
                first += records
                ways[name] = replace(ways[name], notes=(*ways[name].notes, *_metrics_notes(ready, name)))
                for note in ways[name].notes:
                    watcher.say(f"{scenario.name}: {note}")
                if timed:
                    watcher.say(f"{scenario.name}: asking the {name} arm some prompts twice")
                    repeated += repeated_prompts(child, scenario, way_of(started, ways[name]), name, drawing)
                if name == "baseline" and (told := prompt_note(scenario, name, drawing, records)) is not None:
                    drawing = replace(drawing, notes=(*drawing.notes, told))
    except RefusedError as refusal:
        return Preflight(PerArm(NO_WAY, NO_WAY), tuple(endpoints), None, str(refusal))
    imbalance = next((check.message for check in cached_alike(scenario, repeated) if check.ok is False), None)
    both = PerArm(ways["baseline"], ways["speculative"])
    return Preflight(both, tuple(endpoints), drawing if imbalance is None else None, imbalance, repeated, first)


def log_of(folder: Path, name: ArmName) -> Path:
    """Where the output of a started engine goes: into the run folder, or beside it as long as there is none."""
    return folder / f"{name}.log" if folder.exists() else folder.with_name(f"{folder.name}-{name}.log")


def take_in_logs(folder: Path) -> None:
    """Moves the logs of engines that were started before there was a folder into it."""
    for name in ARMS:
        beside = folder.with_name(f"{folder.name}-{name}.log")
        if beside.exists():
            beside.rename(folder / f"{name}.log")


def described(ready: RunningArm, name: ArmName) -> Endpoint:
    """What the arm's endpoint says of itself."""
    served = ServedEndpoint(ready.url, ready.headers, ready.arm.model or "", ready.secrets)
    return endpoint_of(name, ready.arm, served, ENGINES[ready.arm.engine])


def _metrics_notes(ready: RunningArm, name: ArmName) -> list[str]:
    source = metrics_source(ready.arm, ready.url, ready.headers, ENGINES[ready.arm.engine], ready.secrets)
    return [f"arms.{name}: {moved}" for moved in moved_pages(scrape(source))]


def manifest_of(scenario: Scenario, folder: Path, prepared: Preflight) -> Manifest:
    """What is known of the run before its first request."""
    prompt_notes = prepared.drawing.notes if prepared.drawing is not None else ()
    way_notes = [note for name in ARMS for note in prepared.ways.of(name).notes]
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        run_id=folder.name,
        tool_version=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        started=utc_now(),
        scenario=scenario_without(scenario, secrets_of((scenario.baseline, scenario.speculative))),
        cells=cells_of(scenario),
        endpoints=prepared.endpoints,
        notes=(*certainty_of(scenario), *fairness_notes(scenario, prepared.endpoints), *prompt_notes, *way_notes),
        repeated=prepared.repeated,
        census=None if prepared.drawing is None else prepared.drawing.census,
    )
    return replace(manifest, previous_runs=previous_runs(manifest, folder), accelerators=accelerators())


def utc_now() -> str:
    """The moment, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP raise `Interrupted` in here, so that every context closes; a second one is not listened to.

    A hang-up that is ignored already stays so: that is what `nohup` is for.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    if before[signal.SIGHUP] is signal.SIG_IGN:
        del before[signal.SIGHUP]
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
