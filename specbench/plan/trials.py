"""What will run, in which order, and how long it takes: `Scenario` → cells → trials. Pure.

A trial is one block: one arm at one cell. The two blocks of a pair are adjacent, or run at once (`simultaneous`); cells come in
random order in each round of pairs. Each arm leads one of a cell's two pairs in two rounds (ABBA or BAAB, drawn at random), so
slow drift of the machine hits both arms and all cells alike. Within two rounds the first block of a pair follows one of its own
arm, whatever its cell, so that what one arm leaves to the other shows (docs/adr/0034). Under `restart` a round is one start of
each engine: one arm's blocks of all cells, then the other's.
"""

import random
from dataclasses import dataclass

from specbench.model.records import Cell
from specbench.model.scenario import ARMS, RAMP, ArmName, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One block to execute: `order` counts trials from 0, `pair` pairs of its cell, `launch` the starts of its arm's engine.

    `attempt` counts the tries at its pair from 1: a later one is another block, with prompts that no try before had.
    """

    order: int
    cell: Cell
    pair: int
    arm: ArmName
    launch: int = 0
    attempt: int = 1

    @property
    def block_id(self) -> str:
        """The name of the block in records and files."""
        return f"{self.cell.id}/p{self.pair:02d}/{self.arm}{self._again}"

    @property
    def place(self) -> str:
        """The name of the pair: what its prompts are drawn for, the same for both arms."""
        return f"{self.cell.id}/p{self.pair:02d}{self._again}"

    @property
    def _again(self) -> str:
        return "" if self.attempt == 1 else f"/a{self.attempt}"


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
    replay = scenario.matrix.replay
    of_rate = "" if rate is None else f"r{rate:g}" if replay is None else f"x{replay.speed(rate):g}"
    load = of_rate or f"c{concurrency}"
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
    rounds = _restarted(cells, scenario.matrix.pairs, rng) if restart else _alternating(cells, scenario.matrix.pairs, rng)
    blocks = [(pair, cell, arm) for pair, one in enumerate(rounds) for cell, arm in one]
    return tuple(
        Trial(order=order, cell=cell, pair=pair, arm=arm, launch=pair if restart else 0)
        for order, (pair, cell, arm) in enumerate(blocks)
    )


def ramp_trials(scenario: Scenario) -> tuple[Trial, ...]:
    """The blocks of the load that rises, a pair for each of the run's, after all that is judged; arms lead by turns."""
    matrix = scenario.matrix
    if matrix.ramp is None:
        return ()
    cell = Cell(id=RAMP, concurrency=None, rate=matrix.ramp.to, bin=None, sampling=None, required=False, traffic_share=None)
    first = len(trials_of(scenario, cells_of(scenario)))
    restart = matrix.schedule == "restart"
    return tuple(
        Trial(order=first + 2 * pair + place, cell=cell, pair=pair, arm=arm, launch=matrix.pairs + pair if restart else 0)
        for pair in range(matrix.pairs)
        for place, arm in enumerate(ARMS if pair % 2 == 0 else ARMS[::-1])
    )


_Round = list[tuple[Cell, ArmName]]


def _restarted(cells: tuple[Cell, ...], pairs: int, rng: random.Random) -> list[_Round]:
    """Every round with all blocks of one arm before those of the other."""
    rounds = []
    for first in (arm for two in _sides(pairs, rng) for arm in (two, 1 - two)):
        order = rng.sample(cells, len(cells))
        rounds.append([(cell, arm) for arm in (ARMS[first], ARMS[1 - first]) for cell in order])
    return rounds[:pairs]


def _alternating(cells: tuple[Cell, ...], pairs: int, rng: random.Random) -> list[_Round]:
    """Every round with the blocks of a pair side by side; pairs that one arm leads take turns with those that the other leads."""
    rounds = []
    for first in _sides(pairs, rng):
        mixed = rng.sample(cells, len(cells))
        ours, theirs = mixed[::2], mixed[1::2]  # those led by the arm that comes first, and the others
        rounds.append(_taking_turns(ours, theirs, first, rng))
        # An even round ends with a block of the arm that began it, an odd one with the other's: the next begins with the same.
        rounds.append(
            _taking_turns(theirs, ours, first, rng) if len(cells) % 2 == 0 else _taking_turns(ours, theirs, 1 - first, rng)
        )
    return rounds[:pairs]


def _taking_turns(ours: list[Cell], theirs: list[Cell], first: int, rng: random.Random) -> _Round:
    """Pairs of `ours`, led by the arm of this number, in turn with those of `theirs`, led by the other one."""
    led = rng.sample(ours, len(ours)), rng.sample(theirs, len(theirs))
    order = [(led[place % 2][place // 2], (first + place) % 2) for place in range(len(ours) + len(theirs))]
    return [(cell, arm) for cell, leader in order for arm in (ARMS[leader], ARMS[1 - leader])]


def _sides(pairs: int, rng: random.Random) -> list[int]:
    """Which arm begins each two rounds: either as often as the other, in random order, as a fixed one would meet a rhythm."""
    count = (pairs + 1) // 2
    start = rng.randrange(2)
    return rng.sample([(start + place) % 2 for place in range(count)], count)


def duration_s(scenario: Scenario, trials: tuple[Trial, ...]) -> tuple[float, float]:
    """How long the run takes at least and at most, in seconds: each block its minimum, or its limit and then that of a request.

    The minimum counts the steady window and half the ramp; slow endpoints need longer for `min_requests`. Starts of engines
    come on top.
    """
    block, ramp = scenario.matrix.block, scenario.matrix.ramp
    at_once = 2 if scenario.matrix.schedule == "simultaneous" else 1
    turns = len(trials) / at_once
    rises = 0.0 if ramp is None else 2 * scenario.matrix.pairs / at_once
    rise_s = 0.0 if ramp is None else ramp.lasts_s
    return (
        turns * (block.min_s + block.ramp_s / 2) + rises * rise_s,
        turns * (block.max_s + block.ramp_s + scenario.matrix.limits.total_s) + rises * (rise_s + scenario.matrix.limits.total_s),
    )
