"""Runs the trials in the order and the company that the schedule asks for, and ends the load when an engine has died.

What one block is and does is `run/block.py`'s, how an engine is started `arms/arms.py`'s.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import groupby

from specbench.arms.arms import OpenArm, RunningArm
from specbench.arms.preflight import Way, try_arm, way_of
from specbench.load.parent import LoadGenerator
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.plan.trials import Trial
from specbench.run.block import BlockContext, BlockOutcome, measure
from specbench.run.early_stopping import EarlyStopping
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


def run_trials(course: ScheduleContext, trials: Sequence[Trial], last_visit: LastVisit | None = None) -> tuple[str, ...]:
    """All trials, in order, until what is looked for is settled or one of the engines has died.

    Args:
        last_visit: Is given the arm whose engine was started for the last blocks (`restart`), while it is still up.

    Returns:
        A sentence about the death, which left the rest undone; nothing where there was none.
    """
    course.watcher.start(trials)
    at_once = course.bench.scenario.matrix.schedule == "simultaneous"
    with closing(_at_once(course, trials) if at_once else _in_turn(course, trials, last_visit)) as blocks:
        for done, (ready, trial, measured) in enumerate(blocks, start=1):
            course.watcher.block(done, trial, measured.figures)
            if measured.block.engine_exit is not None:
                return (_death(course, ready, trial, measured.block.engine_exit),)
            if course.looking is not None and course.looking.settled(trials[done:]):
                return ()
    return ()


def _in_turn(course: ScheduleContext, trials: Sequence[Trial], last_visit: LastVisit | None) -> Ran:
    """One block after another; where engines are started for their blocks, each start is followed by a first request."""
    bench = course.bench
    for (arm, _), group in groupby(trials, key=lambda trial: (trial.arm, trial.launch)):
        with course.visit(arm) as visited:
            ready = way_of(visited, course.ways.of(arm))
            if bench.scenario.matrix.schedule == "restart":
                try_arm(bench.child, bench.scenario, ready, arm, bench.drawing)
            for trial in group:
                course.watcher.begin(trial)
                yield ready, trial, measure(bench, ready, trial)
            if last_visit is not None and trial is trials[-1] and bench.scenario.matrix.schedule == "restart":
                last_visit(arm, ready)


def _at_once(course: ScheduleContext, trials: Sequence[Trial]) -> Ran:
    """Both blocks of a pair at the same time, each arm with a load child of its own."""
    with ExitStack() as stack:
        # Children of their own, that end before the threads that listen to them: then an interrupted block ends as well.
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=len(ARMS)))
        readies = {arm: way_of(stack.enter_context(course.visit(arm)), course.ways.of(arm)) for arm in ARMS}
        second = replace(course.bench, child=stack.enter_context(LoadGenerator()))
        first = replace(course.bench, child=stack.enter_context(LoadGenerator()))
        benches: dict[ArmName, BlockContext] = dict(zip(ARMS, (first, second), strict=True))
        for pair in zip(trials[::2], trials[1::2], strict=True):
            course.watcher.begin(pair[0])
            started = [(trial, pool.submit(measure, benches[trial.arm], readies[trial.arm], trial)) for trial in pair]
            for ended in wait([future for _, future in started], return_when=FIRST_EXCEPTION).done:
                ended.result()  # a lost load child is told at once, not when the other arm's block has ended
            both = [(readies[trial.arm], trial, future.result()) for trial, future in started]
            yield from both


def _death(course: ScheduleContext, ready: RunningArm, trial: Trial, how: str) -> str:
    lines = ready.engine.last_lines() if ready.engine is not None else ()
    course.watcher.say(f"arms.{trial.arm}: the engine {how} during {trial.block_id}; its last lines:")
    for line in lines:
        course.watcher.say(f"    {line}")
    return (
        f"arms.{trial.arm}: the engine {how} during {trial.block_id}, the remaining blocks were skipped;"
        f" its last lines: {' | '.join(lines) or 'none'}"
    )
