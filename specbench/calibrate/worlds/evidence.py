"""A run in a world as the facts that it would have left on disk: its scenario, its blocks in the plan's order, its records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256

import numpy as np

from specbench.analysis.arrays.events import Floats, Ints
from specbench.calibrate.simulators import random_of
from specbench.calibrate.synthetic_runs import HEALTHY, WHEN, finished_run, scenario_with
from specbench.calibrate.whole_runs import LEAST_REQUESTS, LEAST_STEPS, PAIRS, SEED
from specbench.calibrate.worlds.answering import (
    BlockSetting,
    PairPrompts,
    SimulatedAnswer,
    SteadyWindow,
    answers_of,
    arrivals,
    prompts_for,
)
from specbench.calibrate.worlds.courses import slowness_of, step_ratio_in
from specbench.calibrate.worlds.outlier_pairs import outlier_pairs
from specbench.calibrate.worlds.setting import EQUAL, ONE_CLASS, USUAL, Behaviour, RequestClass, World
from specbench.model.records import Block, Cell, RequestRecord, RunData
from specbench.model.result import PerArm
from specbench.model.scenario import Scenario, Schedule, StartSd
from specbench.plan.trials import Trial, cells_of, trials_of
from specbench.units import MS_PER_S, NS_PER_MS

DRAIN_MS = 10_000.0  # how long a block waits for what is still open, once its arm has kept it waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRun:
    """Two arms in one world, as they are asked: at `streams`, or at `loads`, shares of what the baseline can serve in time.

    `beyond` is what the speculative arm does at every load above the lowest, where it is not what it does there. `start_sd` is
    what the scenario states of it; the default where None. With `repeats` pairs that hold an outlier are measured once more.
    """

    world: World = USUAL
    baseline: Behaviour = EQUAL
    speculative: Behaviour = EQUAL
    beyond: Behaviour | None = None
    classes: tuple[RequestClass, ...] = ONE_CLASS
    streams: tuple[int, ...] = (1, 8)
    loads: tuple[float, ...] = ()
    pairs: int = PAIRS
    schedule: Schedule = "alternate"
    start_sd: float | None = None
    repeats: bool = False

    @property
    def cycle_ms(self) -> float:
        """How long a request of the baseline takes by the mean, from its start to the start of the next one on its stream."""
        weights = sum(each.weight for each in self.classes)
        step_ms = self.world.noise.step_ms * self.baseline.step_ratio
        return sum(each.weight * (each.prefill_ms + step_ms * sum(each.answer) / 2) for each in self.classes) / weights

    def behaviour(self, trial: Trial) -> Behaviour:
        """What the arm of this block does in it."""
        if trial.arm == "baseline":
            return self.baseline
        above = trial.cell.concurrency is not None and trial.cell.concurrency > min(self.streams)
        arm = self.beyond if above and self.beyond is not None else self.speculative
        return replace(arm, step_ratio=step_ratio_in(arm, trial.pair, self.pairs))

    def window(self, cell: Cell) -> SteadyWindow:
        """The steady window in this cell: both minima of the standard profile hold, in the time of the world."""
        step_ms = self.world.noise.step_ms
        ramp_ms = 1.2 * max(each.answer[1] * step_ms + 2 * each.prefill_ms for each in self.classes)
        served_per_ms = cell.rate / MS_PER_S if cell.rate is not None else (cell.concurrency or 1) / self.cycle_ms
        return SteadyWindow(open_ms=ramp_ms, close_ms=ramp_ms + max(LEAST_STEPS * step_ms, LEAST_REQUESTS / served_per_ms))


def evidence_in(run: WorldRun, name: str, index: int) -> RunData:
    """The facts of one run in this world, every number of it fixed by `name` and `index`."""
    scenario = _scenario(run, index)
    cells = cells_of(scenario)
    trials = trials_of(scenario, cells)
    blocks, records = _measured(run, trials, (name, index))
    if run.repeats:
        blocks, records = _repeated(run, trials, blocks, records, (name, index))
    return finished_run(scenario, cells, blocks, records)


def _measured(
    run: WorldRun, trials: Sequence[Trial], names: tuple[str | int, ...]
) -> tuple[tuple[Block, ...], tuple[RequestRecord, ...]]:
    """These blocks and their records; `names` fix all that is random in them."""
    slower = slowness_of(run.world, run.speculative, trials, random_of(SEED, *names, "course"))
    blocks: list[Block] = []
    records: list[RequestRecord] = []
    for trial in trials:
        window = run.window(trial.cell)
        setting = BlockSetting(
            world=run.world,
            arm=run.behaviour(trial),
            classes=run.classes,
            window=window,
            streams=trial.cell.concurrency,
            slower=slower[trial.block_id],
        )
        pair = (*names, trial.cell.id, trial.pair)
        answers = answers_of(setting, _prompts(run, trial.cell, window, pair), random_of(SEED, *pair, trial.arm))
        blocks.append(_block(trial, window, _streams_used(answers, window, trial.cell.concurrency)))
        records.extend(_records(answers, trial, setting))
    return tuple(blocks), tuple(records)


def _repeated(
    run: WorldRun,
    trials: Sequence[Trial],
    blocks: tuple[Block, ...],
    records: tuple[RequestRecord, ...],
    names: tuple[str | int, ...],
) -> tuple[tuple[Block, ...], tuple[RequestRecord, ...]]:
    """The same run with each pair that holds an outlier measured once more, in both arms, in the place of the first time."""
    outliers = outlier_pairs(blocks, records)
    again = [trial for trial in trials if (trial.cell.id, trial.pair) in outliers]
    if not again:
        return blocks, records
    anew = {trial.block_id for trial in again}
    fresh, answered = _measured(run, again, (*names, "repeat"))
    kept = (*(record for record in records if record.block not in anew), *answered)
    return (*(block for block in blocks if block.id not in anew), *fresh), kept


def _scenario(run: WorldRun, index: int) -> Scenario:
    """A scenario with every default of a user's; its seed draws the order of the blocks, as in a run."""
    speculates = tuple("off" if arm.alpha is None else "on" for arm in (run.baseline, run.speculative))
    scenario = _parsed(run.classes, run.streams, run.pairs, speculates)
    stated = scenario.matrix.start_sd if run.start_sd is None else StartSd(sd=run.start_sd)
    matrix = replace(scenario.matrix, schedule=run.schedule, start_sd=stated)
    if run.loads:
        full = run.world.slots / run.cycle_ms * MS_PER_S
        rates = tuple(round(load * full, 3) for load in run.loads)
        matrix = replace(matrix, concurrency=(), rate=rates, primary=rates[0])
    return replace(scenario, seed=index, matrix=matrix)


@cache
def _parsed(
    classes: tuple[RequestClass, ...],
    streams: tuple[int, ...],
    pairs: int,
    speculates: tuple[str, ...],
) -> Scenario:
    bins = [
        f"{{name: {each.name}, input_tokens: [64, 128], output_tokens: {list(each.answer)}, weight: {each.weight:g}}}"
        for each in classes
    ]
    return scenario_with(bins, f"{{concurrency: {list(streams)}, pairs: {pairs}}}", PerArm(*speculates))


def _prompts(run: WorldRun, cell: Cell, window: SteadyWindow, names: tuple[str | int, ...]) -> PairPrompts:
    draw = random_of(SEED, *names, "prompts")
    due = None if cell.rate is None else arrivals(cell.rate / MS_PER_S, window.close_ms, draw)
    return prompts_for(run.classes, cell.concurrency or 1, due, draw)


def _block(trial: Trial, window: SteadyWindow, used: tuple[float | None, float | None]) -> Block:
    """The block as executed; its generator was in time."""
    cell = trial.cell
    return Block(
        id=trial.block_id,
        cell=cell.id,
        pair=trial.pair,
        arm=trial.arm,
        order=trial.order,
        concurrency=cell.concurrency,
        rate=cell.rate,
        bin=cell.bin,
        launch=trial.launch,
        started=WHEN,
        window_open_ns=round(window.open_ms * NS_PER_MS),
        window_close_ns=round(window.close_ms * NS_PER_MS),
        short=False,
        end_reason="complete",
        health=replace(HEALTHY, achieved_concurrency=used[0], stuck_share=used[1]),
        telemetry=None,
        engine_truth=None,
    )


def _records(answers: Sequence[SimulatedAnswer], trial: Trial, setting: BlockSetting) -> list[RequestRecord]:
    arm, rate = setting.arm, trial.cell.rate is not None
    record = partial(
        RequestRecord,
        block=trial.block_id,
        sampling="greedy",
        connect_ns=None,
        retries=0,
        stamp_source="kernel",
        prompt_tokens=96,
        cached_tokens=None,
        step_events=None,
        censored=(),
        looping=False,
        acceptance=None,
        flags=(),
    )
    drain_ns = round((setting.window.close_ms + DRAIN_MS) * NS_PER_MS)
    made = []
    counts = np.array([len(answer.event_ms) for answer in answers], dtype=np.int64)
    since_sent = _joined([answer.event_ms for answer in answers]) - np.repeat([answer.sent_ms for answer in answers], counts)
    every_time = tuple(np.rint(since_sent * NS_PER_MS).astype(np.int64).tolist())
    every_token = tuple(_joined([answer.tokens for answer in answers]).astype(np.int64).tolist())
    ends = np.cumsum(counts).tolist()
    for answer, first, end in zip(answers, [0, *ends[:-1]], ends, strict=True):
        kind, sent = setting.classes[answer.kind], round(answer.sent_ms * NS_PER_MS)
        times, tokens = every_time[first:end], every_token[first:end]
        text = f"{trial.place} {answer.index} {arm.text}"
        made.append(
            record(
                index=answer.index,
                stream=answer.stream,
                bin=kind.name,
                max_tokens=kind.answer[1],
                scheduled_ns=sent if rate else None,
                sent_ns=sent,
                outcome="ok" if times else "unanswered" if _inside(answer, setting.window) else "cut",
                reason=None if times else "no token when the drain ended",
                status=200 if times else None,
                token_source="token_ids" if times else None,
                output_tokens=sum(tokens) if times else None,
                finish_reason=arm.finish_reason if times else None,
                event_ns=times,
                event_tokens=tokens,
                first_answer_ns=times[0] if times else None,
                end_ns=times[-1] if times else drain_ns - sent,
                text_chars=round(sum(tokens) * arm.chars_per_token),
                text_sha256=sha256(text.encode()).hexdigest(),
            )
        )
    return made


def _joined(parts: Sequence[Floats] | Sequence[Ints]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])


def _inside(answer: SimulatedAnswer, window: SteadyWindow) -> bool:
    return window.open_ms <= answer.sent_ms < window.close_ms


def _streams_used(
    answers: Sequence[SimulatedAnswer], window: SteadyWindow, streams: int | None
) -> tuple[float | None, float | None]:
    """The shares of a closed loop's streams that were under way in the window by the mean, and that were stuck for good."""
    if streams is None:
        return None, None
    used = [0.0, 0.0]
    for answer in answers:
        hung = not len(answer.event_ms)
        end = window.close_ms if hung else float(answer.event_ms[-1])
        used[hung] += max(min(end, window.close_ms) - max(answer.sent_ms, window.open_ms), 0.0)
    whole = streams * (window.close_ms - window.open_ms)
    return min(used[0] / whole, 1.0), min(used[1] / whole, 1.0)
