"""What will run, in which order, and how long it takes: `Scenario` → cells → trials. Pure.

A trial is one block: one arm at one cell. The two blocks of a pair are adjacent, or run at once (`simultaneous`); which arm goes
first alternates pair by pair (ABBA) from a random start per cell, and the cells of each round come in random order, so slow
drift of the machine hits both arms and all cells alike. Under `restart` a round is one start of each engine: one arm's blocks of
all cells, then the other's.
"""

import random
from dataclasses import dataclass

from specbench.model.records import Cell
from specbench.model.scenario import ARMS, ArmName, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One block to execute: `order` counts trials from 0, `pair` pairs of its cell, `launch` the starts of its arm's engine."""

    order: int
    cell: Cell
    pair: int
    arm: ArmName
    launch: int = 0

    @property
    def block_id(self) -> str:
        """The name of the block in records and files."""
        return f"{self.cell.id}/p{self.pair:02d}/{self.arm}"

    @property
    def place(self) -> str:
        """The name of the pair: what its prompts are drawn for, the same for both arms."""
        return f"{self.cell.id}/p{self.pair:02d}"


def cells_of(scenario: Scenario) -> tuple[Cell, ...]:
    """The cells of the matrix, by rising load, concurrency before rates; one per bin and sampling where traffic is separate."""
    matrix = scenario.matrix
    slices: list[tuple[str | None, str | None]] = [(None, None)]
    if matrix.traffic == "separate":
        slices = [(b.name, s.name) for b in scenario.workload.bins for s in scenario.workload.sampling]
    levels = [(level, None) for level in matrix.concurrency] + [(None, rate) for rate in matrix.rate]
    return tuple(
        _cell(scenario, concurrency, rate, bin_name, sampling) for bin_name, sampling in slices for concurrency, rate in levels
    )


def _cell(scenario: Scenario, concurrency: int | None, rate: float | None, bin_name: str | None, sampling: str | None) -> Cell:
    load = f"c{concurrency}" if concurrency is not None else f"r{rate:g}"
    level = float(concurrency if concurrency is not None else rate or 0)
    return Cell(
        id=".".join(part for part in (bin_name, sampling, load) if part),
        concurrency=concurrency,
        rate=rate,
        bin=bin_name,
        sampling=sampling,
        required=level not in scenario.matrix.optional,
        traffic_share=scenario.matrix.traffic_share.get(level),
    )


def trials_of(scenario: Scenario, cells: tuple[Cell, ...]) -> tuple[Trial, ...]:
    """All blocks in the order they run."""
    restart = scenario.matrix.schedule == "restart"
    rng = random.Random(f"{scenario.seed}/order")
    starts = {cell.id: rng.randrange(2) for cell in cells}
    trials: list[Trial] = []
    for pair in range(scenario.matrix.pairs):
        order = list(cells)
        rng.shuffle(order)
        for cell, arm in _round(order, pair, starts, restart):
            trials.append(Trial(order=len(trials), cell=cell, pair=pair, arm=arm, launch=pair if restart else 0))
    return tuple(trials)


def _round(order: list[Cell], pair: int, starts: dict[str, int], restart: bool) -> list[tuple[Cell, ArmName]]:
    """The blocks of one pair in every cell; when engines are started for them, all of one arm before those of the other."""
    leaders = {cell.id: (start + (pair + 1) // 2) % 2 for cell, start in ((cell, starts[cell.id]) for cell in order)}
    if restart:
        first = leaders[min(leaders)]
        return [(cell, arm) for arm in (ARMS[first], ARMS[1 - first]) for cell in order]
    return [(cell, arm) for cell in order for arm in (ARMS[leaders[cell.id]], ARMS[1 - leaders[cell.id]])]


def duration_s(scenario: Scenario, trials: tuple[Trial, ...]) -> tuple[float, float]:
    """How long the run takes at least and at most, in seconds: each block its minimum, or its limit and then that of a request.

    The minimum counts the steady window and half the ramp; slow endpoints need longer for `min_requests`. Starts of engines
    come on top.
    """
    block = scenario.matrix.block
    turns = len(trials) / (2 if scenario.matrix.schedule == "simultaneous" else 1)
    return turns * (block.min_s + block.ramp_s / 2), turns * (block.max_s + block.ramp_s + scenario.matrix.limits.total_s)
