"""One start of one candidate: brought up, asked who it is, given its blocks of every load. It is judged elsewhere."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specbench.arms.arms import RunningArm, running_arm
from specbench.arms.comparability import check_comparable
from specbench.arms.preflight import NO_WAY, Way, first_way, tried, try_arm, way_of
from specbench.arms.prompt_source import prompt_source
from specbench.arms.repeated_requests import repeated_prompts
from specbench.errors import UnreachableError
from specbench.load.parent import LoadGenerator
from specbench.model.facts import RepeatedPrompt
from specbench.model.records import Block, Cell, Endpoint, RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import Arm, ArmName, Scenario
from specbench.plan.trials import Trial, cells_of
from specbench.prompts.sampler import PromptSource
from specbench.run.block import BlockContext, measure
from specbench.run.drains import Drains
from specbench.run.progress import RunProgress
from specbench.run.run import Preflight, described, manifest_of
from specbench.store import RunWriter


@dataclass(slots=True, eq=False)
class KnownArm:
    """What an arm's first start showed: how it is asked, who it is, and the prompts that it was asked twice."""

    way: Way = NO_WAY
    endpoint: Endpoint | None = None
    repeated: tuple[RepeatedPrompt, ...] = ()
    drains: Drains = field(default_factory=Drains)


@dataclass(slots=True, eq=False)
class KeptFacts:
    """The baseline's facts of one series, which every candidate's folder of that series gets."""

    facts: list[RequestRecord | Block] = field(default_factory=list)

    def request(self, record: RequestRecord) -> None:
        """Keeps one request's record."""
        self.facts.append(record)

    def block(self, block: Block) -> None:
        """Keeps one block's facts."""
        self.facts.append(block)

    def give(self, writer: RunWriter) -> None:
        """Writes all of them into a run folder."""
        for one in self.facts:
            if isinstance(one, Block):
                writer.block(one)
            else:
                writer.request(one)


@dataclass(slots=True, eq=False)
class TuneBench:
    """What all starts share: the folder, the load generator, the baseline with what prompts are drawn from, the order.

    `planned`: starts, the fewest and the most. `settled`: loads whose pick is so sure that they are measured no more.
    """

    folder: Path
    child: LoadGenerator
    watcher: RunProgress
    blocks: int
    planned: tuple[int, int] = (0, 0)
    settled: frozenset[float] = frozenset()
    baseline: KnownArm = field(default_factory=KnownArm)
    drawing: PromptSource | None = None
    order: int = 0
    starts: int = 0


@dataclass(slots=True, eq=False)
class TuneArm:
    """A candidate, or the baseline: its scenario, its run folder once there is one, and in how many series it was started.

    `measured`: in how many of these at each load.
    """

    name: str
    scenario: Scenario
    arm: ArmName
    known: KnownArm = field(default_factory=KnownArm)
    writer: RunWriter | None = None
    series: int = 0
    measured: Counter[float] = field(default_factory=Counter)
    problem: str | None = None
    dropped: str | None = None

    @property
    def live(self) -> bool:
        """Whether it is started again."""
        return self.problem is None and self.dropped is None


def start_baseline(bench: TuneBench, arm: TuneArm, series: int) -> KeptFacts:
    """The baseline's facts of this series.

    Raises:
        UnreachableError: it does not come up, or dies.
        RefusedError, ScenarioError: it cannot be measured.
    """
    kept = KeptFacts()
    with running_arm(arm.scenario.baseline, "baseline", bench.folder / "off.log", _both(arm.scenario)) as started:
        ready = _greeted(bench, arm, started)
        _load(bench, arm, ready, series, kept)
    bench.baseline = arm.known
    return kept


def start_candidate(bench: TuneBench, arm: TuneArm, series: int, kept: KeptFacts | None) -> None:
    """Nothing; the candidate's blocks of this series are in its run folder, the baseline's too where they are there already.

    Raises:
        UnreachableError: it does not come up, or dies.
        RefusedError, ScenarioError: it cannot be measured, or differs from the baseline in more than speculation.
    """
    log = bench.folder / f"{arm.name}.log"
    with running_arm(arm.scenario.speculative, "speculative", log, _both(arm.scenario)) as started:
        ready = _greeted(bench, arm, started)
        if arm.writer is None:
            arm.writer = _folder_of(bench, arm)
        if kept is not None:
            kept.give(arm.writer)
        _load(bench, arm, ready, series, arm.writer)


def trials_of_start(cells: Sequence[Cell], arm: ArmName, series: int, blocks: int, seed: int) -> list[tuple[Cell, int]]:
    """The blocks of one start, as (cell, pair): these loads in random order, as often as there are blocks; alike for all arms."""
    rng = random.Random(f"{seed}/tune/{series}")
    return [(cell, series * blocks + block) for block in range(blocks) for cell in rng.sample(cells, len(cells))]


def _both(scenario: Scenario) -> tuple[Arm, ...]:
    return (scenario.baseline, scenario.speculative)


def _greeted(bench: TuneBench, arm: TuneArm, started: RunningArm) -> RunningArm:
    """The arm, ready for load: at its first start it is asked who it is, later its first request wakes it."""
    known, name, scenario = arm.known, arm.arm, arm.scenario
    bench.starts += 1
    if known.endpoint is not None and bench.drawing is not None:
        ready = way_of(started, known.way)
        try_arm(bench.child, scenario, ready, name, bench.drawing)
        return ready
    known.way = first_way(started, name)
    ready = way_of(started, known.way)
    endpoint = described(ready, name)
    if bench.drawing is None:
        bench.drawing = prompt_source(scenario, ready)
    if name == "speculative" and bench.baseline.endpoint is not None:
        check_comparable((bench.baseline.endpoint, endpoint), scenario)
    known.way, _ = tried(bench.child, scenario, ready, name, bench.drawing, known.way)
    ready = way_of(started, known.way)
    known.repeated = repeated_prompts(bench.child, scenario, ready, name, bench.drawing)
    known.endpoint = endpoint
    return ready


def _folder_of(bench: TuneBench, arm: TuneArm) -> RunWriter:
    base, own = bench.baseline, arm.known
    endpoints = tuple(one for one in (base.endpoint, own.endpoint) if one is not None)
    prepared = Preflight(PerArm(base.way, own.way), endpoints, bench.drawing, None, (*base.repeated, *own.repeated))
    folder = bench.folder / arm.name
    manifest = replace(manifest_of(arm.scenario, folder, prepared), run_id=f"{bench.folder.name}/{arm.name}")
    return RunWriter(folder, manifest)


def _load(bench: TuneBench, arm: TuneArm, ready: RunningArm, series: int, writer: RunWriter | KeptFacts) -> None:
    assert bench.drawing is not None
    context = BlockContext(
        scenario=arm.scenario, drawing=bench.drawing, child=bench.child, writer=writer, drains=arm.known.drains
    )
    cells = [cell for cell in cells_of(arm.scenario) if cell.level not in bench.settled]
    for cell, pair in trials_of_start(cells, arm.arm, series, bench.blocks, arm.scenario.seed):
        trial = Trial(order=bench.order, cell=cell, pair=pair, arm=arm.arm, launch=series)
        bench.order += 1
        outcome = measure(context, ready, trial)
        if outcome.block.engine_exit is not None:
            lines = ready.engine.last_lines() if ready.engine is not None else ()
            last = " | ".join(lines) or "none"
            raise UnreachableError(f"{arm.name}: the engine {outcome.block.engine_exit} at {cell.id}; its last lines: {last}")
    arm.series += 1
    arm.measured.update(cell.level for cell in cells)
