"""The main job of a tune, straight down: candidates, series of starts until the picks are sure, then picks and setting.

What was measured is on disk as soon as it was seen, so any end of this script leaves folders that `analyze` reads.
"""

import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specbench import __version__
from specbench.analysis.selection import LEAST_SERIES, SCREENED_FROM, hopeless, screened
from specbench.errors import DataError, RefusedError, ScenarioError, UnreachableError
from specbench.explain.tuning import tune_sentences as say
from specbench.load.parent import LoadGenerator
from specbench.load.process_limits import check_open_files
from specbench.model.result import Result
from specbench.model.scenario import Schedule
from specbench.model.tuning.tune_values import BASELINE, FORMAT_VERSION, Candidate, TriedCandidate, Tune, TuneRules
from specbench.plan.trials import cells_of
from specbench.report.tuning.tune_page import tune_page
from specbench.report.tuning.tune_rows import PAGE
from specbench.run.analyze import analyze, judged_facts
from specbench.run.progress import RunProgress
from specbench.run.run import signals_as_interrupts
from specbench.scenario.parse import parse_scenario
from specbench.store import MANIFEST, Ending, check_unused, pretty, read_manifest, write_in_run
from specbench.tune.candidates import TuneRequest, candidates_of, check_launches, scenario_of
from specbench.tune.picks import SETTING_TEXT, judged, read_tune, ruled_out, selection_of, write_tune
from specbench.tune.predictions import screen_of, screening_logs
from specbench.tune.starts import KeptFacts, TuneArm, TuneBench, start_baseline, start_candidate
from specbench.tune.tune_size import starts_of
from specbench.units import S_PER_MIN

DEFAULTS = (0.02, 0.9, 4, 3)  # within, sure, series, blocks


def tune_rules(request: TuneRequest, within: float, sure: float, series: int, blocks: int) -> TuneRules:
    """The rules of a tune of this scenario.

    Raises:
        ScenarioError: an option is out of its range.
    """
    if not 0 < within <= 0.5:
        raise ScenarioError(f"--within {within:.0%}: lies outside 0 to 50 %")
    if not 0.5 <= sure < 1:
        raise ScenarioError(f"--sure {sure:.0%}: lies outside 50 to 99 %")
    if not LEAST_SERIES <= series <= 50:
        raise ScenarioError(f"--series {series}: lies outside {LEAST_SERIES} to 50; one start of each shows no scatter")
    if not 1 <= blocks <= 100:
        raise ScenarioError(f"--blocks {blocks}: lies outside 1 to 100")
    first = scenario_of(request, candidates_of(request)[0], series * blocks)
    return TuneRules(
        metric=first.success.metric,
        within=within,
        sure=sure,
        series=series,
        blocks=blocks,
        primary=int(first.matrix.primary),
    )


def tune(request: TuneRequest, rules: TuneRules, folder: Path, watcher: RunProgress) -> Tune:
    """The picks by load and the setting; the folder then holds `tune.json`, `setting.txt` and a run folder for each candidate.

    Raises:
        ScenarioError: there is nothing to tune, or an engine cannot be started as the scenario asks.
        UnreachableError, RefusedError: the baseline does not come up, or cannot be measured.
        DataError: the folder is there already, or cannot be written.
        Interrupted: Ctrl-C, SIGTERM or SIGHUP; the folder then holds the picks so far.
    """
    check_unused(folder)
    candidates = candidates_of(request)
    arms = [_arm(request, one, rules) for one in candidates]
    check_launches([arm.scenario for arm in arms])
    for cell in cells_of(arms[0].scenario):
        check_open_files(cell.concurrency or 1)
    baseline = TuneArm(BASELINE, arms[0].scenario, "baseline")
    with signals_as_interrupts():
        _make(folder)
        schedule = parse_scenario(request.content, request.path, request.overrides).matrix.schedule
        whole = _begun(folder, arms[0], rules, schedule)
        write_tune(folder, _now_at(whole, candidates, arms, 0, 0))
        try:
            with ExitStack() as stack:
                bench = TuneBench(folder, stack.enter_context(LoadGenerator()), watcher, rules.blocks)
                bench.planned = starts_of(candidates, rules)
                stack.callback(_close, arms)
                whole = _series(bench, baseline, arms, candidates, whole)
        except BaseException:
            with suppress(Exception):
                analyze_tune(folder)
            raise
        watcher.say(say.judging())
        return _finished(folder, whole, arms)


def analyze_tune(folder: Path) -> Tune:
    """The picks by what is on disk, written anew; of a tune that was cut off the picks so far, and no setting.

    Raises:
        DataError: it is no tune, or a candidate's folder cannot be read.
    """
    told = read_tune(folder)
    found = judged(folder, told, _results(folder, told, analyze))
    _written(folder, found)
    return found


def folder_for_tune(request: TuneRequest) -> Path:
    """A new folder's path under `reports/`, named after the scenario and the moment (UTC)."""
    name = parse_scenario(request.content, request.path, request.overrides).name
    return Path("reports") / f"{name}-tune-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def base_of(earlier: Path) -> dict[str, Any]:
    """The block that an earlier tune picked at its primary load, or at the lowest where one was picked.

    Raises:
        DataError: it is no tune, or picked no speculation.
    """
    told = read_tune(earlier)
    known = {one.candidate.name: one.candidate for one in told.candidates}
    loads = sorted(told.loads, key=lambda load: (load.streams != told.rules.primary, load.streams))
    found = next((known[load.pick] for load in loads if load.pick in known), None)
    if found is None:
        raise DataError(f"{earlier}: picked no speculation, so there is nothing to go on from; tune the depth first")
    return found.speculative


def _series(bench: TuneBench, baseline: TuneArm, arms: Sequence[TuneArm], candidates: Sequence[Candidate], whole: Tune) -> Tune:
    """All series, until every pick is sure or the most series are done; before them the screen, where there are many."""
    rules, first = whole.rules, 0
    if (probes := screen_of(candidates, rules.metric)) is not None:
        _started(bench, baseline, [arm for arm in arms if arm.name in probes], 0, say.screen())
        first = 1
        whole = _now_at(whole, candidates, arms, first, bench.starts)
        loads = sorted(cell.level for cell in cells_of(baseline.scenario))
        known = screening_logs(candidates, _results(bench.folder, whole, judged_facts), loads)
        left = screened([*known.values()], [arm.name for arm in arms], BASELINE)
        _give_up(bench, arms, {arm.name for arm in arms} - {*left}, "predicted")
    for series in range(first, first + rules.series):
        live = [arm for arm in arms if arm.live]
        if not live:
            break
        _started(bench, baseline, live, series, say.of_series(series - first + 1))
        whole = _now_at(whole, candidates, arms, series + 1, bench.starts)
        write_tune(bench.folder, whole)
        done = series - first + 1
        # Harm takes two series to show, and what it rules out need not be told apart from the rest.
        out = ruled_out(_results(bench.folder, whole, judged_facts), whole) if done >= LEAST_SERIES else {}
        found = selection_of(bench.folder, whole, out)
        if done >= LEAST_SERIES:
            bench.settled |= {*found.settled_loads(rules.sure)}
            if found.loads and bench.settled >= {one.load for one in found.loads}:
                break
        if done == rules.series:  # no candidate is started again, so none is given up
            break
        names = [arm.name for arm in arms if arm.live]
        if done == 1 and len(names) >= SCREENED_FROM:
            kept = screened([load.means for load in found.loads], names, BASELINE)
            _give_up(bench, arms, {*names} - {*kept}, "behind")
        _give_up(bench, arms, {*hopeless(found, names, BASELINE, bench.settled)}, "hopeless")
        whole = _now_at(whole, candidates, arms, series + 1, bench.starts)
    return whole


def _give_up(bench: TuneBench, arms: Sequence[TuneArm], names: AbstractSet[str], why: say.GivenUp) -> None:
    """Of these candidates the live ones are started no more."""
    for arm in arms:
        if arm.live and arm.name in names:
            arm.dropped = say.dropped(why)
            bench.watcher.say(say.started_no_more(arm.name, arm.dropped))


def _started(bench: TuneBench, baseline: TuneArm, live: Sequence[TuneArm], series: int, named: str) -> None:
    """The baseline and these candidates once, in an order that is rotated from series to series."""
    order = [baseline, *live]
    turn = series % len(order)
    kept: KeptFacts | None = None
    measured: list[TuneArm] = []
    for place, arm in enumerate((*order[turn:], *order[:turn])):
        bench.watcher.say(say.start(named, place + 1, len(order), arm.name))
        if arm is baseline:
            began = time.monotonic()
            kept = start_baseline(bench, arm, series)
            if series == 0:
                took, (fewest, most) = time.monotonic() - began, bench.planned
                bench.watcher.say(say.start_measured(took, (took * fewest / S_PER_MIN, took * most / S_PER_MIN)))
            for before in measured:
                if before.writer is not None:
                    kept.give(before.writer)
            continue
        try:
            start_candidate(bench, arm, series, kept)
            measured.append(arm)
        except (UnreachableError, RefusedError, ScenarioError) as error:
            arm.problem = str(error)
            bench.watcher.say(say.started_no_more(arm.name, arm.problem))


def _finished(folder: Path, whole: Tune, arms: Sequence[TuneArm]) -> Tune:
    """The tune with its picks and its setting, written; every candidate's folder is a run that ended with what it has."""
    for arm in arms:
        if arm.writer is None:
            continue
        if arm.problem is None:
            manifest = read_manifest(arm.writer.folder)
            fewest = min(arm.measured.values(), default=0)  # a load that was settled early has fewer pairs than others
            matrix = replace(manifest.scenario.matrix, pairs=max(1, fewest * whole.rules.blocks))
            shorter = replace(manifest, scenario=replace(manifest.scenario, matrix=matrix))
            write_in_run(arm.writer.folder / MANIFEST, pretty(shorter))
        arm.writer.finish(Ending(_now(), () if arm.problem is None else (arm.problem,)))
    ended = replace(whole, finished=_now())
    found = judged(folder, ended, _results(folder, ended, analyze))
    if found.setting is not None:
        write_in_run(folder / SETTING_TEXT, (say.setting_text(found, folder) + "\n").encode())
        if found.setting.file is not None:
            write_in_run(folder / found.setting.file[0], found.setting.file[1].encode())
    _written(folder, found)
    return found


def _written(folder: Path, found: Tune) -> None:
    """The picks as `tune.json` and as a page."""
    write_tune(folder, found)
    write_in_run(folder / PAGE, tune_page(found, str(folder)).encode())


def _results(folder: Path, whole: Tune, judging: Callable[[Path], Result]) -> dict[str, Result]:
    """The result of each candidate's run folder that has blocks of both arms."""
    found: dict[str, Result] = {}
    for one in whole.candidates:
        run = folder / one.candidate.name
        if not (run / MANIFEST).is_file():
            continue
        with suppress(DataError):
            found[one.candidate.name] = judging(run)
    return found


def _arm(request: TuneRequest, candidate: Candidate, rules: TuneRules) -> TuneArm:
    return TuneArm(candidate.name, scenario_of(request, candidate, rules.series * rules.blocks), "speculative")


def _begun(folder: Path, first: TuneArm, rules: TuneRules, schedule: Schedule) -> Tune:
    return Tune(
        format_version=FORMAT_VERSION,
        id=folder.name,
        name=first.scenario.name,
        tool_version=__version__,
        started=_now(),
        finished=None,
        engine=first.scenario.speculative.engine,
        schedule=schedule,
        rules=rules,
        candidates=(),
        series=0,
        starts=0,
        loads=(),
        start_sd=None,
        start_df=0,
        settled=False,
        setting=None,
    )


def _now_at(whole: Tune, candidates: Sequence[Candidate], arms: Sequence[TuneArm], series: int, starts: int) -> Tune:
    """The tune as it stands after so many series."""
    tried = []
    for candidate, arm in zip(candidates, arms, strict=True):
        state = "failed" if arm.problem is not None else "dropped" if arm.dropped is not None else "tried"
        tried.append(TriedCandidate(candidate=candidate, state=state, series=arm.series, reason=arm.problem or arm.dropped))  # type: ignore[arg-type]
    return replace(whole, candidates=tuple(tried), series=series, starts=starts)


def _close(arms: Sequence[TuneArm]) -> None:
    for arm in arms:
        if arm.writer is not None:
            arm.writer.close()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}; give another folder with --out") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
