"""One block, request by request: an engine whose steps all streams share, and clients in a closed loop or arrivals at a rate.

All that is random in a block is drawn here, from generators that are given; nothing is judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np
from numpy.random import Generator

from specbench.analysis.arrays.events import Floats, Ints
from specbench.calibrate.simulators import PAUSE_MS, PREFILL_SPAN, PROMPTS, accepted_tokens, step_factors
from specbench.calibrate.worlds.setting import Behaviour, RequestClass, World
from specbench.errors import InternalError


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyWindow:
    """When the steady window of a block opens and closes, in milliseconds since the block began."""

    open_ms: float
    close_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSetting:
    """One block before it runs: `slower` is how many times as slow as the world it is, `streams` None where requests arrive."""

    world: World
    arm: Behaviour
    classes: tuple[RequestClass, ...]
    window: SteadyWindow
    streams: int | None
    slower: float

    @property
    def longest(self) -> int:
        """Tokens of the longest answer."""
        return max(each.answer[1] for each in self.classes)


@dataclass(frozen=True, slots=True, eq=False)
class PairPrompts:
    """The prompts of a pair in their order, the same for both arms, (n_prompts,): class, tokens of the answer, ms of prefill.

    `arrival_ms` is when each is due where they come at a rate, None in a closed loop.
    """

    kind: Ints
    tokens: Ints
    prefill_ms: Floats
    arrival_ms: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedAnswer:
    """One request as its client saw it: events in milliseconds since the block began; none where it never got one."""

    index: int
    stream: int
    kind: int
    sent_ms: float
    event_ms: Floats
    tokens: Ints


def prompts_for(classes: Sequence[RequestClass], streams: int, arrival_ms: Floats | None, draw: Generator) -> PairPrompts:
    """The prompts of one pair; with arrivals one for each of them, else enough for every stream."""
    count = PROMPTS * streams if arrival_ms is None else len(arrival_ms)
    weights = np.array([each.weight for each in classes])
    kind = draw.choice(len(classes), count, p=weights / weights.sum())
    low, high = (np.array([each.answer[end] for each in classes])[kind] for end in (0, 1))
    middle = np.array([each.prefill_ms for each in classes])[kind]
    return PairPrompts(kind, draw.integers(low, high + 1), middle * draw.uniform(*PREFILL_SPAN, count), arrival_ms)


def arrivals(rate_per_ms: float, close_ms: float, draw: Generator) -> Floats:
    """Moments of arrivals at this rate until the window closes, in milliseconds (Poisson)."""
    count = draw.poisson(rate_per_ms * close_ms)
    found: Floats = np.sort(draw.uniform(0.0, close_ms, count))
    return found


class _Engine:
    """One block's engine: steps that have an end each, prefills that may wait in line, and what the arm does to answers."""

    def __init__(self, setting: BlockSetting, prompts: PairPrompts, draw: Generator) -> None:
        world, arm, count = setting.world, setting.arm, len(prompts.kind)
        self.arm, self.prompts = arm, prompts
        self.kinds, self.lengths = prompts.kind.tolist(), prompts.tokens.tolist()
        self.ends = _step_ends(setting, draw)
        steps, prefills = (_by_class(ratios, setting.classes) for ratios in (arm.step_ratio_of, arm.ttft_ratio_of))
        own = np.exp(draw.normal(0.0, world.ttft_sd, count))
        prefill_ms = prompts.prefill_ms * arm.ttft_ratio * setting.slower * prefills[prompts.kind] * own
        self.prefill_ms = prefill_ms.tolist()
        self.slow = (steps[prompts.kind] * np.where(draw.random(count) < arm.tail_share, arm.tail_ratio, 1.0)).tolist()
        self.hangs = (draw.random(count) < arm.hung).tolist()
        self.stalls = (draw.random(count) < arm.stalled).tolist()
        self.stall_at = draw.random(count)
        self.free = [0.0] * (world.prefills_at_once or 0)
        self.rounds: Ints | None = None
        if arm.alpha is not None:
            self.rounds = 1 + accepted_tokens(np.full(arm.gamma, arm.alpha), (count, setting.longest), draw)

    def answer(self, index: int, stream: int, sent_ms: float, begun_ms: float) -> SimulatedAnswer:
        """The answer to the request of this index, whose prefill can begin at `begun_ms`."""
        kind = self.kinds[index]
        if self.hangs[index]:
            return SimulatedAnswer(index, stream, kind, sent_ms, np.zeros(0), np.zeros(0, dtype=np.int64))
        if self.free:
            begun_ms = max(begun_ms, self.free[0])
            heapreplace(self.free, begun_ms + self.prefill_ms[index])
        tokens = self._tokens(index)
        first = int(self.ends.searchsorted(begun_ms + self.prefill_ms[index]))
        steps = self.ends[first : first + len(tokens)]
        if len(steps) < len(tokens):
            raise InternalError("calibrate: a simulated engine ended before its block; the world is too uneven for it")
        event_ms = steps[0] + (steps - steps[0]) * self.slow[index]
        if self.stalls[index] and len(event_ms) > 1:
            event_ms[1 + int(self.stall_at[index] * (len(event_ms) - 1)) :] += self.arm.stall_ms
        return SimulatedAnswer(index, stream, kind, sent_ms, event_ms, tokens)

    def _tokens(self, index: int) -> Ints:
        """Tokens of each event: one in each step, or what its rounds brought, the first step one."""
        wanted = self.lengths[index]
        if self.rounds is None:
            return np.ones(wanted, dtype=np.int64)
        so_far = np.minimum(np.concatenate(([1], 1 + np.cumsum(self.rounds[index]))), wanted)
        whole: Ints = so_far[: int(so_far.searchsorted(wanted)) + 1]
        return np.diff(whole, prepend=0)


def answers_of(setting: BlockSetting, prompts: PairPrompts, draw: Generator) -> list[SimulatedAnswer]:
    """Every answer of one block, in the order of its requests."""
    engine = _Engine(setting, prompts, draw)
    if setting.streams is None:
        found = _open_loop(engine, setting.world.slots)
    else:
        found = _closed_loop(engine, setting.streams, setting.window, draw)
    return sorted(found, key=lambda answer: answer.index)


def _by_class(ratios: Mapping[str, float], classes: Sequence[RequestClass]) -> Floats:
    return np.array([ratios.get(each.name, 1.0) for each in classes])


def _step_ends(setting: BlockSetting, draw: Generator) -> Floats:
    """When each step of the block ends, in milliseconds."""
    noise, arm, window = setting.world.noise, setting.arm, setting.window
    usual_ms = noise.step_ms * arm.step_ratio
    n_steps = int(2.5 * window.close_ms / usual_ms) + 10 * setting.longest + 50
    times = step_factors(noise, (1, n_steps), draw)[0] * usual_ms * setting.slower
    if arm.last_third:
        late = np.cumsum(times) > window.close_ms - (window.close_ms - window.open_ms) / 3
        times = np.where(late, times * (1 + arm.last_third), times)
    ends: Floats = np.cumsum(times)
    frozen, moment = draw.random(), draw.uniform(window.open_ms, window.close_ms)
    return np.where(ends > moment, ends + arm.stall_ms, ends) if frozen < arm.freeze else ends


def _closed_loop(engine: _Engine, streams: int, window: SteadyWindow, draw: Generator) -> list[SimulatedAnswer]:
    """Streams that ask again PAUSE_MS after an answer; one whose request hangs asks no more."""
    due = [(moment, stream) for stream, moment in enumerate(draw.uniform(0.0, window.open_ms / 2, streams).tolist())]
    heapify(due)
    turns = [0] * streams
    found = []
    while due:
        sent, stream = heappop(due)
        if sent >= window.close_ms or turns[stream] == PROMPTS:
            continue
        found.append(engine.answer(stream + streams * turns[stream], stream, sent, sent))
        turns[stream] += 1
        if len(found[-1].event_ms):
            heappush(due, (float(found[-1].event_ms[-1]) + PAUSE_MS, stream))
    return found


def _open_loop(engine: _Engine, slots: int) -> list[SimulatedAnswer]:
    """Requests that arrive whatever the engine does, and wait until one of its slots is free."""
    free = [0.0] * slots
    found = []
    assert engine.prompts.arrival_ms is not None
    for index, arrival in enumerate(engine.prompts.arrival_ms.tolist()):
        found.append(engine.answer(index, index, arrival, max(arrival, free[0])))
        if len(found[-1].event_ms):
            heapreplace(free, float(found[-1].event_ms[-1]))
    return found
