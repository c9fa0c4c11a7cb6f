"""The state of a run as lines for people who wait: a grid of loads and pairs, both arms' figures so far, the time left. Pure.

Figures so far are values of the blocks that have ended. They carry no interval and no state, so that nobody decides by them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from specbench.explain import numbers
from specbench.model.result import CellCoordinates, PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.plan.trials import Trial
from specbench.run.running_figures import Pulse, RunningFigures

MOST_ROWS = 12  # of the grid: what is more is counted in a line
MOST_PAIRS = 20  # that have a mark of their own; beyond it a mark stands for several
MARKS = ("■", "◧", "□")  # both blocks of the pair done, one of them, none
PLAIN_MARKS = ("#", "+", ".")  # for consoles without these characters
WITH_TPS, WITH_TPOT = 62, 36  # columns beside name and marks that the figures need


@dataclass(frozen=True, slots=True)
class BlockDone:
    """One block that has ended: which, what it showed, and how long it took by the clock."""

    trial: Trial
    figures: RunningFigures
    took_s: float


@dataclass(frozen=True, slots=True)
class RunState:
    """A run under way: all its blocks, those done, the one at hand with the time at which it began, None before the first.

    `phase`: what the run does once its blocks are done. `pulses`: what each arm showed last at the load at hand.
    """

    trials: tuple[Trial, ...]
    done: tuple[BlockDone, ...] = ()
    at_hand: Trial | None = None
    began_s: float = 0.0
    since_s: float = 0.0
    phase: str | None = None
    pulses: tuple[tuple[ArmName, Pulse], ...] = ()

    def with_block(self, done: BlockDone) -> "RunState":
        """The state once that block has ended too; one that was measured again stands in for the first."""
        key = (done.trial.cell.id, done.trial.pair, done.trial.arm)
        others = (one for one in self.done if (one.trial.cell.id, one.trial.pair, one.trial.arm) != key)
        return replace(self, done=(*others, done), at_hand=None)


def load_of(trial: Trial) -> str:
    """The load of the block, with its slice where it has one: '16 streams', '4 streams edit/greedy'."""
    cell = trial.cell
    axes = CellCoordinates(
        concurrency=cell.concurrency, rate=cell.rate, bin=cell.bin, sampling=cell.sampling, running_mean=PerArm(None, None)
    )
    return " ".join(part for part in (numbers.load(axes), numbers.slice_words(axes)) if part)


def seconds_left(state: RunState, now_s: float) -> float | None:
    """How long the rest takes if blocks go on as they did: those of one load alike, others as all; None before the first one."""
    if not state.done:
        return None
    by_load: dict[str, list[float]] = {}
    for one in state.done:
        by_load.setdefault(one.trial.cell.id, []).append(one.took_s)
    usual = fmean(one.took_s for one in state.done)
    rest = state.trials[len(state.done) :]
    needed = sum(fmean(by_load[trial.cell.id]) if trial.cell.id in by_load else usual for trial in rest)
    spent = now_s - state.since_s if state.at_hand is not None and rest else 0.0
    return max(needed - spent, 0.0)


def clock(seconds: float) -> str:
    """A span as people say it: '42s', '1m05s', '2h03m'."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def block_line(state: RunState, now_s: float) -> str:
    """The last block that ended in one line, for logs: where the run is, what the block showed, how long the rest takes."""
    last = state.done[-1]
    left = seconds_left(state, now_s)
    rest = "" if not left or len(state.done) >= len(state.trials) else f", {clock(left)} left"
    return (
        f"{len(state.done):3d}/{len(state.trials)} {load_of(last.trial)} pair {last.trial.pair + 1} {last.trial.arm}:"
        f" {last.figures.ok} ok, {last.figures.failed} failed, TPOT {numbers.quantity(last.figures.tpot_ms, 'ms')},"
        f" {numbers.quantity(last.figures.tokens_per_s, 'tok/s')}{_workers(last)}{rest}"
    )


def grid_lines(state: RunState, now_s: float, width: int = 80, marks: Sequence[str] = MARKS) -> list[str]:
    """The whole state, each line at most `width` columns: the block at hand, a row for each load, what each arm shows now, then
    failures and time."""
    lines = [_head(state, now_s), *_rows(state, width, marks), *_pulse_lines(state), _foot(state, now_s)]
    return [line[:width].rstrip() for line in lines]


def _head(state: RunState, now_s: float) -> str:
    at = f"block {min(len(state.done) + 1, len(state.trials))} of {len(state.trials)}"
    if state.phase is not None:
        return f"{state.phase}, {clock(max(now_s - state.since_s, 0))}"
    if state.at_hand is None:
        return at
    trial = state.at_hand
    return f"{at}: {load_of(trial)}, pair {trial.pair + 1}, {trial.arm}, {clock(max(now_s - state.since_s, 0))}"


def _foot(state: RunState, now_s: float) -> str:
    failed = sum(one.figures.failed for one in state.done)
    total = failed + sum(one.figures.ok for one in state.done)
    left = seconds_left(state, now_s)
    time = f"{clock(max(now_s - state.began_s, 0))}{'' if left is None else f', about {clock(left)} left'}"
    workers = _workers(state.done[-1]) if state.done else ""
    return f"{failed} of {numbers.one_of(total, 'request')} failed, {time}{workers}; Ctrl-C keeps the data"


def _pulse_lines(state: RunState) -> Iterator[str]:
    """A line for each arm with what it showed last; none while nothing is under load."""
    if state.phase is not None:
        return
    wide = max((len(arm) for arm, _ in state.pulses), default=0)
    for arm, pulse in state.pulses:
        length = pulse.acceptance_length
        found = [
            numbers.quantity(pulse.tokens_per_s, "tok/s"),
            f"TTFT {numbers.quantity(pulse.ttft_ms, 'ms')}",
            f"ITL {numbers.quantity(pulse.itl_ms, 'ms')}",
            *([] if length is None else [f"acceptance length {numbers.number(length)}"]),
            f"lag {numbers.quantity(pulse.lag_ms, 'ms')}",
            *([] if pulse.workers is None else [numbers.one_of(pulse.workers, "worker")]),
        ]
        yield f"  {arm:{wide}}  {', '.join(found)}"


def _workers(done: BlockDone) -> str:
    """How many workers drove a block, and how late the worst of them read; nothing where one process drove it."""
    if done.figures.workers is None:
        return ""
    return f", {numbers.one_of(done.figures.workers, 'worker')}, lag {numbers.quantity(done.figures.lag_ms, 'ms')}"


def _rows(state: RunState, width: int, marks: Sequence[str]) -> Iterator[str]:
    by_cell: dict[str, list[Trial]] = {}
    for trial in state.trials:
        by_cell.setdefault(trial.cell.id, []).append(trial)
    loads = sorted(by_cell.values(), key=lambda found: _order(found[0]))
    shown = _around(loads, state.at_hand)
    name = max((len(load_of(found[0])) for found in shown), default=0)
    grid = max((min(_pairs(found), MOST_PAIRS) for found in shown), default=0)
    for found in shown:
        done = [one for one in state.done if one.trial.cell.id == found[0].cell.id]
        ended = len(done) // 2
        row = f"  {load_of(found[0]):{name}}  {_marks(found, done, marks):{grid}}  {ended:>2}/{_pairs(found)}"
        yield row + _figures(done, width - name - grid)
    if len(loads) > len(shown):
        yield f"  and {numbers.one_of(len(loads) - len(shown), 'more row')}"


def _order(trial: Trial) -> tuple[str, str, float]:
    cell = trial.cell
    return cell.bin or "", cell.sampling or "", cell.rate if cell.rate is not None else -1e9 + (cell.concurrency or 0)


def _around(loads: list[list[Trial]], at_hand: Trial | None) -> list[list[Trial]]:
    """At most so many rows, the one at hand among them."""
    here = next((index for index, found in enumerate(loads) if at_hand is not None and found[0].cell.id == at_hand.cell.id), 0)
    start = max(0, min(here - MOST_ROWS // 2, len(loads) - MOST_ROWS))
    return loads[start : start + MOST_ROWS]


def _pairs(found: Sequence[Trial]) -> int:
    return max(len(found) // 2, 1)


def _marks(found: Sequence[Trial], done: Sequence[BlockDone], marks: Sequence[str]) -> str:
    """A mark for each pair, or for as many pairs together as fit."""
    ended: dict[int, int] = {}
    for one in done:
        ended[one.trial.pair] = ended.get(one.trial.pair, 0) + 1
    pairs = sorted({trial.pair for trial in found})
    shown = min(len(pairs), MOST_PAIRS)
    made = []
    for place in range(shown):
        here = pairs[place * len(pairs) // shown : (place + 1) * len(pairs) // shown]
        blocks = sum(ended.get(pair, 0) for pair in here)
        made.append(marks[0] if blocks == 2 * len(here) else marks[1] if blocks else marks[2])
    return "".join(made)


def _figures(done: Sequence[BlockDone], room: int) -> str:
    """Both arms' TPOT and tokens per second so far, as much of it as there is room for."""
    if room < WITH_TPOT or not done:
        return ""
    tpot = PerArm(*(_median(done, arm, "tpot_ms") for arm in ARMS))
    tps = PerArm(*(_median(done, arm, "tokens_per_s") for arm in ARMS))
    made = f"  TPOT {_pair(tpot)} ms"
    return f"{made:28}  {_pair(tps)} tok/s" if room >= WITH_TPS else made


def _median(done: Sequence[BlockDone], arm: ArmName, name: str) -> float | None:
    values = [value for one in done if one.trial.arm == arm and (value := getattr(one.figures, name)) is not None]
    return median(values) if values else None


def _pair(found: PerArm[float | None]) -> str:
    return f"{numbers.number(found.baseline)} -> {numbers.number(found.speculative)}"
