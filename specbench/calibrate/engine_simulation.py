"""The embedded engine's own scheduler and roofline on a simulated clock: whole blocks in the time that the arithmetic takes.

Batching, the cache and step times are the engine's code; only the language models are left out: whether a drafted token stands is
drawn from acceptance measured on them. Random numbers come from `simulators.py`.
"""

from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np

from specbench.analysis.arrays.events import Floats, Ints
from specbench.analysis.judge import judge
from specbench.calibrate.simulators import (
    PAUSE_MS,
    PROMPTS,
    NoiseModel,
    Streams,
    accepted_tokens,
    block_factors,
    random_of,
    sizes_of,
    step_factors,
)
from specbench.calibrate.synthetic_runs import evidence_of, scenario_of
from specbench.calibrate.whole_runs import PAIRS, SEED, Outcome, summary_of
from specbench.engine.core.kv import BlockPool
from specbench.engine.core.output_text import OutputLimits, OutputText
from specbench.engine.core.requests import Generation
from specbench.engine.core.scheduler import Batch, Sequence, StepShare, leave, schedule
from specbench.engine.core.scheduler import BatchLimits as StepLimits
from specbench.engine.core.setup import machine_of
from specbench.engine.models.distribution import Shaping
from specbench.engine.models.vocabulary import Vocabulary
from specbench.engine.options import Speculation
from specbench.engine.timing.roofline import Machine, Part, step_s
from specbench.errors import InternalError
from specbench.model.records import Cell
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.plan.trials import cells_of
from specbench.units import MS_PER_S, NS_PER_MS

STEPS = 200
RAMP_STEPS = 80
ANSWER, PROMPT = (24, 40), (64, 128)
KV_BLOCKS = 4096
# Share of rounds of 1,297 in which the engine's draft model, gamma 4, was right up to each position: Python text, temperature
# 0.8, drafts sampled. Of those that reach a position, this share stands there.
PER_POSITION = (0.738, 0.534, 0.411, 0.312)
CONDITIONAL = np.array([now / before for now, before in zip(PER_POSITION, (1.0, *PER_POSITION), strict=False)])
# A step of a real machine is never quite as long as the last one; blocks differ as in the simulated worlds.
JITTER = NoiseModel(step_sd=0.05, step_memory=0.5, block_sd=0.02)
DRAFTING = Speculation(method="draft_model", num_speculative_tokens=len(PER_POSITION))
_NO_WORDS = Vocabulary(())
_ANY = Shaping()


@dataclass(frozen=True, slots=True)
class SimulatedArm:
    """What an engine does: whether it speculates, and how much longer its steps are than the roofline says."""

    speculates: bool
    slower: float = 1.0


PLAIN = SimulatedArm(False)
SPECULATIVE = SimulatedArm(True)


@dataclass(slots=True, eq=False)
class _Stream:
    """One stream's request under way, and the events that it has seen: (ms, tokens)."""

    sequence: Sequence
    turn: int
    sent_ms: float
    wanted: int
    events: list[tuple[float, int]]


def engine_streams(arm: SimulatedArm, streams: int, names: tuple[str | int, ...], side: ArmName) -> Streams:
    """All blocks of one arm in one cell, stepped by the engine's own scheduler and timed by its roofline."""
    draw = random_of(SEED, *names, side)
    machine = machine_of(DRAFTING if arm.speculates else None)
    usual_ms = MS_PER_S * step_s(machine_of(None), [Part(1, 100, 1, 0, False)] * streams)
    window = RAMP_STEPS * usual_ms, (RAMP_STEPS + STEPS) * usual_ms
    slower = arm.slower * block_factors(JITTER, PAIRS, side == "speculative", draw)
    done = []
    for pair in range(PAIRS):
        sizes = sizes_of(PROMPT, ANSWER, streams, random_of(SEED, *names, pair, "prompts"))
        factors = step_factors(JITTER, (1, 3 * (RAMP_STEPS + STEPS)), draw)[0] * slower[pair]
        kept = accepted_tokens(CONDITIONAL, (3 * (RAMP_STEPS + STEPS), streams), draw)
        done += [(pair, index, answer) for index, answer in _block(machine, window[1], sizes, factors, kept)]
    done.sort(key=lambda row: row[:2])
    counts = [len(answer.events) for _, _, answer in done]
    events = [event for _, _, answer in done for event in answer.events]
    bounds = [np.full(PAIRS, round(edge * NS_PER_MS), dtype=np.int64) for edge in window]
    return Streams(
        open_ns=bounds[0],
        close_ns=bounds[1],
        block=np.array([pair for pair, _, _ in done], dtype=np.int64),
        index=np.array([index for _, index, _ in done], dtype=np.int64),
        sent_ns=np.array([round(answer.sent_ms * NS_PER_MS) for _, _, answer in done], dtype=np.int64),
        first_event=np.concatenate(([0], np.cumsum(counts))),
        time_ns=np.array([round(moment * NS_PER_MS) for moment, _ in events], dtype=np.int64),
        tokens=np.array([tokens for _, tokens in events], dtype=np.int64),
    )


def _block(machine: Machine, close_ms: float, sizes: Ints, factors: Floats, kept: Ints) -> list[tuple[int, _Stream]]:
    """The requests of one block by their index, stepped until those that began inside the window have ended.

    Args:
        sizes: (PROMPTS, n_streams, 2) tokens of prompts and answers.
        factors: (n_steps,) how much longer than the roofline says each step is.
        kept: (n_steps, n_streams) drafted tokens that stand.
    """
    n_streams = sizes.shape[1]
    lookahead = machine.speculation.num_speculative_tokens if machine.speculation else 0
    batch = Batch(pool=BlockPool(KV_BLOCKS, False), limits=StepLimits(2048, 256, lookahead))
    streams = [_begin(place, 0, 0.0, sizes, lookahead > 0) for place in range(n_streams)]
    on_the_way = list(streams)
    ended: list[tuple[int, _Stream]] = []
    now = 0.0
    for step in range(len(factors)):
        if len(on_the_way) == n_streams:  # an idle engine begins its next step when a request comes
            now = max(now, min(stream.sent_ms for stream in on_the_way))
        on_the_way = _arrive(batch, on_the_way, now)
        owner = {id(stream.sequence): place for place, stream in enumerate(streams)}
        shares = [share for share in schedule(batch) if id(share.sequence) in owner]
        parts, gains = [], []
        for share in shares:
            part, gain = _advance(share, lookahead, int(kept[step, owner[id(share.sequence)]]))
            parts.append(part)
            gains.append((owner[id(share.sequence)], gain))
        now += MS_PER_S * step_s(machine, parts) * float(factors[step])
        for place, gain in gains:
            if gain:
                _deliver(batch, streams[place], now, gain)
        for place, stream in enumerate(streams):
            if stream.wanted == 0:
                ended.append((place + n_streams * stream.turn, stream))
                streams[place] = _begin(place, stream.turn + 1, now + PAUSE_MS, sizes, lookahead > 0)
                on_the_way.append(streams[place])
        if all(stream.sent_ms >= close_ms for stream in streams):
            return [(index, stream) for index, stream in ended if stream.sent_ms < close_ms]
    raise InternalError(f"calibrate: {len(factors)} simulated steps did not last until the end of the block")


def _arrive(batch: Batch, on_the_way: list[_Stream], now_ms: float) -> list[_Stream]:
    """Those requests that are still on the way; the others wait for the step that begins now."""
    batch.waiting.extend(stream.sequence for stream in on_the_way if stream.sent_ms <= now_ms)
    return [stream for stream in on_the_way if stream.sent_ms > now_ms]


def _begin(stream: int, turn: int, sent_ms: float, sizes: Ints, speculate: bool) -> _Stream:
    prompt, answer = (int(size) for size in sizes[turn % PROMPTS, stream])
    request = Generation("chat", (0,) * prompt, OutputLimits(answer), _ANY, None, speculate, None, True, False, False, False)
    sequence = Sequence(
        id=f"{stream}/{turn}",
        request=request,
        tokens=[0] * prompt,
        answer=OutputText(_NO_WORDS, request.limits),
        rng=Random(0),
        speculate=speculate,
    )
    return _Stream(sequence, turn, sent_ms, answer, [])


def _advance(share: StepShare, gamma: int, accepted: int) -> tuple[Part, int]:
    """What the step does for one request, and the tokens that it brings: as the engine's core, the text aside."""
    sequence = share.sequence
    before = sequence.computed
    sequence.computed += share.tokens
    drafted = gamma if share.decodes else 0
    gain = 0
    if share.completes:
        gain = 1 + (accepted if share.decodes and gamma else 0)
        sequence.tokens.extend([0] * gain)
        sequence.computed = len(sequence.tokens) - 1
    logits = 1 + drafted if share.completes else 0
    return Part(share.tokens + drafted, before, logits, drafted, sequence.speculate), gain


def _deliver(batch: Batch, stream: _Stream, now_ms: float, gain: int) -> None:
    counted = min(gain, stream.wanted)
    stream.events.append((now_ms, counted))
    stream.wanted -= counted
    if stream.wanted == 0:
        leave(batch, stream.sequence)


def engine_run(name: str, levels: tuple[int, ...], arms: PerArm[SimulatedArm], index: int) -> Outcome:
    """The verdict of one run through the engine's own scheduler and roofline: blocks of 200 steps, 10 pairs."""
    speculation = PerArm(*("on" if arms.of(arm).speculates else "off" for arm in ARMS))
    scenario = scenario_of({"middle": ANSWER}, levels, PAIRS, separate=False, speculation=speculation)
    cells = cells_of(scenario)

    def simulated(cell: Cell) -> PerArm[Streams]:
        return PerArm(*(engine_streams(arms.of(arm), cell.concurrency or 1, (name, index, cell.id), arm) for arm in ARMS))

    return summary_of(judge(evidence_of(scenario, cells, {cell.id: simulated(cell) for cell in cells}), "calibrate"))


engine_aa = partial(engine_run, "engine-aa", (4,), PerArm(PLAIN, PLAIN))
engine_aa_drafting = partial(engine_run, "engine-aa-drafting", (4,), PerArm(SPECULATIVE, SPECULATIVE))
engine_slower = partial(engine_run, "engine-slower", (4,), PerArm(PLAIN, SimulatedArm(False, 1.20)))
engine_faster = partial(engine_run, "engine-faster", (4,), PerArm(PLAIN, SimulatedArm(False, 0.75)))
# At 1 stream speculation takes half the time per token; at 16 verifying is no longer free, and it takes a seventh more.
engine_capped = partial(engine_run, "engine-capped", (1, 16), PerArm(PLAIN, SPECULATIVE))
