"""Runs the trials in the order and the company that the schedule asks for, and ends the load when an engine has died.

What one block is and does is `run/block.py`'s, how an engine is started `arms/arms.py`'s.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

from specbench.arms.arms import OpenArm, RunningArm
from specbench.arms.preflight import Way, try_arm, way_of
from specbench.explain.rules.fleet_of_workers import block_void, workers_missing
from specbench.load.parent import LoadGenerator
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.plan.trials import Trial
from specbench.run.block import BlockContext, BlockOutcome, measure
from specbench.run.early_stopping import EarlyStopping
from specbench.run.pair_attempts import PairAttempts, void_of
from specbench.run.progress import RunProgress

LastVisit = Callable[[ArmName, RunningArm], None]
Ran = Generator[tuple[RunningArm, Trial, BlockOutcome], None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleContext:
    """What the trials run on: the bench, how to reach each arm, and how each is asked, as its first answers showed."""

    bench: BlockContext
    visit: OpenArm
    ways: PerArm[Way]
    watcher: RunProgress
    looking: EarlyStopping | None = None


def run_trials(course: ScheduleContext, trials: Sequence[Trial], last_visit: LastVisit | None) -> tuple[str, ...]:
    """All trials, in order, until what is looked for is settled or one of the engines has died.

    Args:
        last_visit: Is given the arm whose engine was started for the last blocks (`restart`), while it is still up.

    Returns:
        A sentence about the death, which left the rest undone; nothing where there was none.
    """
    course.watcher.start(trials)
    if course.looking is not None and course.looking.settled(trials):
        return ()  # a resumed run, which was interrupted as it looked
    at_once = course.bench.scenario.matrix.schedule == "simultaneous"
    places = {(trial.cell.id, trial.pair, trial.arm): place for place, trial in enumerate(trials, start=1)}
    with closing(_at_once(course, trials) if at_once else _in_turn(course, trials, last_visit)) as blocks:
        for ready, trial, measured in blocks:
            if void_of(measured.block) == "workers_missing":
                return (workers_missing(trial.block_id),)
            if void_of(measured.block) is not None:
                continue
            done = places[trial.cell.id, trial.pair, trial.arm]
            course.watcher.block(done, trial, measured.figures)
            if measured.block.engine_exit is not None:
                return (engine_death(course.watcher, ready, trial, measured.block.engine_exit),)
            if course.looking is not None and course.looking.settled(trials[done:]):
                return ()
    return ()


def _in_turn(course: ScheduleContext, trials: Sequence[Trial], last_visit: LastVisit | None) -> Ran:
    """One block after another; where engines are started for their blocks, each start is followed by a first request.

    A pair is then no two blocks side by side, and is not measured again.
    """
    bench, restart = course.bench, course.bench.scenario.matrix.schedule == "restart"
    attempts = PairAttempts(tuple(trials), again=not restart)
    crew: tuple[str, tuple[str, ...]] = ("", ())
    while (first := attempts.next()) is not None:
        with course.visit(first.arm) as visited:
            ready = way_of(visited, course.ways.of(first.arm))
            if restart:
                try_arm(bench.child, bench.scenario, ready, first.arm, bench.drawing)
            while (trial := attempts.next()) is not None and (trial.arm, trial.launch) == (first.arm, first.launch):
                course.watcher.begin(attempts.take())
                measured = measure(replace(bench, crew=crew[1] if crew[0] == trial.place else ()), ready, trial)
                crew = (trial.place, _crew(measured))
                if (void := void_of(measured.block)) is not None:
                    course.watcher.say(block_void(trial.block_id, void, attempts.void(trial)))
                yield ready, trial, measured
            if restart and last_visit is not None and attempts.next() is None:
                last_visit(first.arm, ready)


def _at_once(course: ScheduleContext, trials: Sequence[Trial]) -> Ran:
    """Both blocks of a pair at the same time, each arm with a load child of its own, or with half of the fleet.

    The halves are swapped from pair to pair, so that no arm has the better one.
    """
    with ExitStack() as stack:
        # Children of their own, that end before the threads that listen to them: then an interrupted block ends as well.
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=len(ARMS)))
        readies = {arm: way_of(stack.enter_context(course.visit(arm)), course.ways.of(arm)) for arm in ARMS}
        benches: dict[ArmName, BlockContext] = {}
        for arm in ARMS:
            child = course.bench.child if course.bench.fleet is not None else stack.enter_context(LoadGenerator())
            benches[arm] = replace(course.bench, child=child)
        attempts = PairAttempts(tuple(trials))
        while attempts.next() is not None:
            pair = (attempts.take(), attempts.take())
            course.watcher.begin(pair[0])
            halves = [replace(benches[trial.arm], lane=lane_of(trial)) for trial in pair]
            started = [
                (trial, pool.submit(measure, half, readies[trial.arm], trial)) for trial, half in zip(pair, halves, strict=True)
            ]
            for ended in wait([future for _, future in started], return_when=FIRST_EXCEPTION).done:
                ended.result()  # a lost load child is told at once, not when the other arm's block has ended
            both = [(readies[trial.arm], trial, future.result()) for trial, future in started]
            voids = [(trial, void) for _, trial, measured in both if (void := void_of(measured.block)) is not None]
            if voids:
                course.watcher.say(block_void(voids[0][0].block_id, voids[0][1], attempts.void(voids[0][0])))
            yield from both


def lane_of(trial: Trial) -> int:
    """The half of the fleet that drives this block where both arms run at once: the other arm's in the pair before."""
    return (ARMS.index(trial.arm) + trial.pair) % len(ARMS)


def _crew(measured: BlockOutcome) -> tuple[str, ...]:
    fleet = measured.block.fleet
    return () if fleet is None else tuple(worker.name for worker in fleet.workers)


def engine_death(watcher: RunProgress, ready: RunningArm, trial: Trial, how: str) -> str:
    """A sentence about the end of an engine; its last lines are said at once."""
    lines = ready.engine.last_lines() if ready.engine is not None else ()
    watcher.say(f"arms.{trial.arm}: the engine {how} during {trial.block_id}; its last lines:")
    for line in lines:
        watcher.say(f"    {line}")
    return (
        f"arms.{trial.arm}: the engine {how} during {trial.block_id}, the remaining blocks were skipped;"
        f" its last lines: {' | '.join(lines) or 'none'}"
    )
