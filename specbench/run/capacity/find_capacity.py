"""The search for capacity, straight down: arms, preflight, blocks at rates that the blocks before them choose, then the analysis.

It writes a folder of facts like any run, so that `analyze` can judge it again. The arms take turns block by block; where engines
are started anew (`schedule: restart`) each arm has two starts.
"""

import time
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from specbench.analysis.capacity.requests_in_time import block_shares
from specbench.analysis.capacity.search import RateBlock, SearchBounds, is_probe, next_rate
from specbench.arms.arms import RunningArm, open_arms
from specbench.arms.preflight import try_arm, way_of
from specbench.errors import RefusedError
from specbench.explain.capacity_sentences import block_line
from specbench.load.parent import LoadGenerator
from specbench.model.capacity.capacity_values import CapacityPlan, CapacityResult
from specbench.model.records import Block, Cell, Manifest, RequestRecord
from specbench.model.scenario import ARMS, ArmName, Scenario
from specbench.plan.trials import Trial
from specbench.run.block import BlockContext, measure
from specbench.run.capacity.analyze_capacity import analyze_capacity
from specbench.run.capacity.block_lengths import BlockLengths, alone, lengths_for, of_length, seconds_for
from specbench.run.progress import RunProgress
from specbench.run.run import Preflight, log_of, manifest_of, prepared_arms, signals_as_interrupts, take_in_logs, utc_now
from specbench.run.schedule import engine_death
from specbench.store import MANIFEST, Ending, RunWriter, check_unused, read_run
from specbench.units import NS_PER_S

LOWEST_SHARE = 0.25  # of the rate at which one request follows the other: most requests then have the server to themselves


@dataclass(slots=True)
class _ArmSearch:
    """How far the search of one arm has come; it grows block by block."""

    arm: ArmName
    blocks: list[RateBlock] = field(default_factory=list)
    bounds: SearchBounds | None = None
    launch: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Course:
    """What the searches run on."""

    bench: BlockContext
    plan: CapacityPlan
    lengths: BlockLengths
    folder: Path
    watcher: RunProgress
    deadline_s: float
    problems: list[str] = field(default_factory=list)


def folder_for_search(scenario: Scenario) -> Path:
    """A new folder's path under `reports/`, named after the scenario and the moment (UTC)."""
    return Path("reports") / f"{scenario.name}-capacity-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def find_capacity(scenario: Scenario, plan: CapacityPlan, folder: Path, watcher: RunProgress) -> CapacityResult:
    """The capacity of both arms; `folder` then holds facts, result and page.

    Raises:
        ScenarioError: fewer minutes than a search can use, an arm cannot be started as the scenario asks, or a key is not set.
        UnreachableError: an arm did not answer.
        RefusedError: the arms cannot be compared, or an arm does not stream.
        DataError: the folder exists, or cannot be written.
        Interrupted: Ctrl-C, SIGTERM, or a terminal that closed; the folder then holds a partial search and its result.
    """
    check_unused(folder)
    lengths = lengths_for(plan.minutes)
    with signals_as_interrupts():
        try:
            _search(scenario, plan, lengths, folder, watcher)
        except BaseException:
            if (folder / MANIFEST).exists():
                with suppress(Exception):  # the first error is the one to tell
                    analyze_capacity(folder)
            raise
        watcher.say("judging")
        return analyze_capacity(folder)


def _search(scenario: Scenario, plan: CapacityPlan, lengths: BlockLengths, folder: Path, watcher: RunProgress) -> None:
    with ExitStack() as stack:
        watcher.say(f"{scenario.name}: starting the arms")
        visit = stack.enter_context(open_arms(scenario, lambda name: log_of(folder, name)))
        child = stack.enter_context(LoadGenerator())
        prepared = prepared_arms(scenario, visit, child, watcher)
        if prepared.drawing is None:
            raise RefusedError(prepared.refusal or f"{scenario.name}: the arms cannot be compared")
        writer = stack.enter_context(closing(RunWriter(folder, _manifest(scenario, plan, folder, prepared))))
        take_in_logs(folder)
        bench = BlockContext(scenario=scenario, drawing=prepared.drawing, child=child, writer=writer)
        deadline_s = time.monotonic() + 60 * plan.minutes
        course = _Course(bench=bench, plan=plan, lengths=lengths, folder=folder, watcher=watcher, deadline_s=deadline_s)
        searches = [_ArmSearch(arm) for arm in ARMS]
        while not all(search.done for search in searches):
            for search in (one for one in searches if not one.done):
                with visit(search.arm) as visited:
                    ready = way_of(visited, prepared.ways.of(search.arm))
                    if scenario.matrix.schedule == "restart":
                        try_arm(child, scenario, ready, search.arm, prepared.drawing)
                        _one_start(course, search, ready)
                    else:
                        _one_block(course, search, ready)
        writer.finish(Ending(utc_now(), tuple(course.problems)))


def _manifest(scenario: Scenario, plan: CapacityPlan, folder: Path, prepared: Preflight) -> Manifest:
    return replace(manifest_of(scenario, folder, prepared), cells=(), capacity=plan)


def _one_start(course: _Course, search: _ArmSearch, ready: RunningArm) -> None:
    """The blocks of one start of the engine: the first ends when half the blocks around the crossing are made."""
    while not search.done:
        _one_block(course, search, ready)
        made = len(search.blocks)
        half = search.bounds is not None and _around(course, search) >= course.lengths.blocks / 2
        if search.launch == 0 and made and half:
            search.launch = 1
            return


def _around(course: _Course, search: _ArmSearch) -> int:
    """How many blocks around the crossing are made."""
    assert search.bounds is not None
    limits, blocks = course.plan.limits, search.blocks
    return sum(not is_probe(search.bounds, limits, blocks[:count]) for count in range(len(blocks)))


def _one_block(course: _Course, search: _ArmSearch, ready: RunningArm) -> None:
    """The next block of this arm's search, or its end."""
    if search.bounds is None:
        search.bounds = _bounds(course, search, ready)
        if search.bounds is None:
            search.done = True
            return
    limits = course.plan.limits
    rate = next_rate(search.bounds, limits, search.blocks)
    if rate is None:
        search.done = True
        return
    if time.monotonic() > course.deadline_s:
        search.done = True
        course.problems.append(f"arms.{search.arm}: the minutes were over after {len(search.blocks)} blocks; give more --minutes")
        return
    probing = is_probe(search.bounds, limits, search.blocks)
    seconds = seconds_for(rate, course.lengths.probe_s if probing else course.lengths.block_s)
    number = len(search.blocks) + 1
    cell = Cell(id=f"r{rate:.4g}", concurrency=None, rate=rate, bin=None, sampling=None, required=True, traffic_share=None)
    block = _measured(
        course, search, ready, Trial(order=number, cell=cell, pair=number, arm=search.arm, launch=search.launch), seconds
    )
    if block is not None:
        shares = block_shares(block, _records(course, block.id), limits)
        search.blocks.append(RateBlock(rate, shares))
        course.watcher.say(block_line(search.arm, number, shares, limits))


def _bounds(course: _Course, search: _ArmSearch, ready: RunningArm) -> SearchBounds | None:
    """Where the search begins: at the rate at which one request would just follow the other."""
    cell = Cell(id="alone", concurrency=1, rate=None, bin=None, sampling=None, required=True, traffic_share=None)
    block = _measured(course, search, ready, Trial(order=0, cell=cell, pair=0, arm=search.arm, launch=search.launch), None)
    if block is None:
        return None
    took_s = [record.end_ns / NS_PER_S for record in _records(course, block.id) if record.outcome == "ok"]
    if not took_s:
        course.problems.append(f"arms.{search.arm}: no request was answered before the search; see the log of its engine")
        return None
    first = len(took_s) / sum(took_s)
    return SearchBounds(first=first, lowest=LOWEST_SHARE * first, blocks=course.lengths.blocks)


def _measured(course: _Course, search: _ArmSearch, ready: RunningArm, trial: Trial, seconds: float | None) -> Block | None:
    """The block's facts, on disk with its requests; None where its engine died, which ends the search of its arm.

    Args:
        seconds: How long it lasts; None for a few requests one after the other.
    """
    scenario = course.bench.scenario
    sized = alone(scenario) if seconds is None else of_length(scenario, seconds)
    block = measure(replace(course.bench, scenario=sized), ready, trial).block
    if block.engine_exit is None:
        return block
    search.done = True
    course.problems.append(engine_death(course.watcher, ready, trial, block.engine_exit))
    return None


def _records(course: _Course, block: str) -> list[RequestRecord]:
    return [record for record in read_run(course.folder).records if record.block == block]
