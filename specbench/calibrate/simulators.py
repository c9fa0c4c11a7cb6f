"""The random worlds of the campaigns: all that varies in them is drawn here, so that a reader can judge whether they are fair.

A block is a machine that makes one engine step after another, and streams that ride on its steps. What makes real latencies hard
to judge is all in it, each with a knob of `World`: steps are shared by all streams and remember the step before; some stall;
blocks differ from each other; the machine drifts over the run; requests differ from each other; a step may bring several tokens.
Both arms get the same prompts, as in a run, and their own machine noise. Nothing is judged or measured here.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.random import Generator

from specbench.analysis.arrays.events import Floats, Ints
from specbench.errors import InternalError
from specbench.units import NS_PER_MS

PROMPTS = 64  # prompts drawn for each stream of a block; a stream that has asked them all begins again
PAUSE_MS = 0.2  # between the end of an answer and the next request of its stream
PREFILL_SPAN = (2 / 3, 4 / 3)  # of the median: prompts are drawn evenly from 64 to 128 tokens, as a run draws them
TTFT_SD = 0.10  # of the log of a prefill's time, beyond what its prompt explains
_ROW = 1e7  # milliseconds between two machines in one sorted array: more than any block lasts


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseModel:
    """What the machine under both arms is like; each `_sd` is that of a logarithm.

    The log of a step's time is an AR(1) series of this `step_sd` and this correlation (`step_memory`) with the step before.
    `stall_share` of the steps last `stall_factor` times as long. `block_sd` is each block's own, `drift` the change of the log
    from the first block of the run to the last. `request_sd` is each request's own, `own_sd` each token's: with them alone,
    ICC = request_sd² ÷ (request_sd² + own_sd²). Prefills take `prefill_ms` by the median.
    """

    step_ms: float = 10.0
    step_sd: float = 0.11
    step_memory: float = 0.60
    stall_share: float = 0.0
    stall_factor: float = 2.5
    block_sd: float = 0.02
    drift: float = 0.0
    request_sd: float = 0.0
    own_sd: float = 0.0
    prefill_ms: float = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One cell: `streams` in a closed loop, `pairs` of blocks of `steps` nominal steps, answers uniform in `answer` tokens."""

    streams: int
    pairs: int
    steps: int
    answer: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """What an arm does to the world: ratios of its times, and tokens per step.

    With `alpha` each step brings 1 + A tokens, where A of `gamma` drafted ones are accepted, each with that probability while all
    before it were.
    """

    step_ratio: float = 1.0
    ttft_ratio: float = 1.0
    alpha: float | None = None
    gamma: int = 4


BASELINE = Treatment()


@dataclass(frozen=True, slots=True, eq=False)
class Prompts:
    """What both arms are asked: tokens of the answer and milliseconds of prefill, both (pairs, streams, PROMPTS)."""

    lengths: Ints
    prefill_ms: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """All blocks of one arm in one cell, as a client would have seen them.

    `open_ns`, `close_ns` (n_blocks,); `block`, `index`, `sent_ns` (n_requests,), ordered by block and index; request i has the
    events first_event[i] to first_event[i + 1] of `time_ns`, `tokens` (n_events,).
    """

    open_ns: Ints
    close_ns: Ints
    block: Ints
    index: Ints
    sent_ns: Ints
    first_event: Ints
    time_ns: Ints
    tokens: Ints


def random_of(seed: int, *names: str | int) -> Generator:
    """The random numbers of one named use, the same for the same seed and names on any machine."""
    return np.random.default_rng([seed, *(name if isinstance(name, int) else crc32(name.encode()) for name in names)])


def prompts_of(world: NoiseModel, load: Load, draw: Generator) -> Prompts:
    """The prompts of a cell, the same for both arms."""
    shape = (load.pairs, load.streams, PROMPTS)
    prefill_ms = world.prefill_ms * draw.uniform(*PREFILL_SPAN, shape)
    return Prompts(draw.integers(load.answer[0], load.answer[1] + 1, shape), prefill_ms)


def sizes_of(prompt: tuple[int, int], answer: tuple[int, int], streams: int, draw: Generator) -> Ints:
    """Tokens of prompts and of their answers, both even in their bands, (PROMPTS, streams, 2).

    Of each stream's first answer only a part is left: streams that began together would take long to fall out of step.
    """
    sizes = draw.integers((prompt[0], answer[0]), (prompt[1] + 1, answer[1] + 1), (PROMPTS, streams, 2))
    sizes[0, :, 1] = draw.integers(1, sizes[0, :, 1] + 1)
    return sizes


def step_factors(world: NoiseModel, shape: tuple[int, int], draw: Generator) -> Floats:
    """How much longer than usual each step of each machine lasts, `shape` (n_machines, n_steps): memory, stalls, mean 1."""
    from scipy.signal import lfilter

    fresh = draw.normal(0.0, world.step_sd * np.sqrt(1 - world.step_memory**2), shape)
    fresh[:, 0] = draw.normal(0.0, world.step_sd, shape[0])
    logs = lfilter([1.0], [1.0, -world.step_memory], fresh, axis=1) if world.step_sd else np.zeros(shape)
    factors: Floats = np.exp(logs - world.step_sd**2 / 2)
    if world.stall_share:
        factors[draw.random(shape) < world.stall_share] *= world.stall_factor
    return factors


def block_factors(world: NoiseModel, pairs: int, speculative: bool, draw: Generator) -> Floats:
    """How much slower each block of an arm is, (pairs,): its own noise, and the machine's drift at its place in the run.

    The arm that goes first alternates from pair to pair, as in a run (ABBA).
    """
    second = (np.arange(pairs) % 2 == 1) != speculative
    place = (2 * np.arange(pairs) + second) / max(2 * pairs - 1, 1)
    factors: Floats = np.exp(draw.normal(0.0, world.block_sd, pairs) + world.drift * place)
    return factors


def accepted_tokens(conditional: Floats, shape: tuple[int, ...], draw: Generator) -> Ints:
    """Drafted tokens that stand in each round, `shape`; `conditional` (gamma,): accepted at a position if all before it were."""
    reach = np.cumprod(conditional)
    accepted: Ints = (draw.random(shape)[..., None] < reach).sum(axis=-1)
    return accepted


def simulate(
    world: NoiseModel, load: Load, treatment: Treatment, prompts: Prompts, draw: Generator, *, speculative: bool
) -> Streams:
    """All blocks of one arm in one cell.

    A request waits for its prefill and joins the machine at the next end of a step; each further step brings its tokens, until
    the answer is whole; the stream's next request leaves PAUSE_MS later. The window is as long for both arms: `steps` steps of
    the world as it is, after a ramp in which every stream finishes a request.
    """
    ramp_ms = 1.2 * (load.answer[1] * world.step_ms + 2 * world.prefill_ms)
    close_ms = ramp_ms + load.steps * world.step_ms
    machine = _machine(world, load, treatment, close_ms, draw, speculative)
    gained = _gained(load, treatment, machine.ends.shape[1], draw)
    requests = _requests(world, treatment, prompts, machine, gained, (ramp_ms, close_ms), draw)
    opened, closed = (np.full(load.pairs, round(t * NS_PER_MS), dtype=np.int64) for t in (ramp_ms, close_ms))
    return _streams(requests, machine, gained, opened, closed)


@dataclass(frozen=True, slots=True, eq=False)
class _Machine:
    """Ends of steps in ms, (n_rows, n_steps), and the row that each stream rides on, (pairs, streams)."""

    ends: Floats
    row: Ints

    def step_at(self, moment_ms: Floats) -> Ints:
        """The first step that ends at or after each stream's moment, (pairs, streams)."""
        n_rows, n_steps = self.ends.shape
        flat = (self.ends + _ROW * np.arange(n_rows)[:, None]).ravel()
        found: Ints = np.searchsorted(flat, moment_ms + _ROW * self.row) - self.row * n_steps
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Requests:
    """All (n_requests,): the machine's row, first and last step of the answer, its tokens, and its own slowness."""

    pair: Ints
    stream: Ints
    turn: Ints
    sent_ms: Floats
    first: Ints
    last: Ints
    tokens: Ints
    slow: Floats


def _machine(
    world: NoiseModel, load: Load, treatment: Treatment, close_ms: float, draw: Generator, speculative: bool
) -> _Machine:
    longest = load.answer[1] * world.step_ms * treatment.step_ratio + 6 * world.prefill_ms * treatment.ttft_ratio
    n_steps = int((1.5 * close_ms + 2 * longest) / (world.step_ms * treatment.step_ratio)) + 50
    slower = world.step_ms * treatment.step_ratio * block_factors(world, load.pairs, speculative, draw)
    times = step_factors(world, (load.pairs, n_steps), draw) * slower[:, None]
    row = np.repeat(np.arange(load.pairs)[:, None], load.streams, axis=1)
    if world.own_sd:
        own = draw.normal(-(world.own_sd**2) / 2, world.own_sd, (load.pairs, load.streams, n_steps))
        times = (times[:, None, :] * np.exp(own)).reshape(-1, n_steps)
        row = np.arange(load.pairs * load.streams).reshape(load.pairs, load.streams)
    return _Machine(np.cumsum(times, axis=1), row)


def _gained(load: Load, treatment: Treatment, n_steps: int, draw: Generator) -> Ints | None:
    """Tokens that each stream has by the end of each step, (pairs, streams, n_steps); None where a step is a token."""
    if treatment.alpha is None:
        return None
    conditional = np.full(treatment.gamma, treatment.alpha)
    return np.cumsum(1 + accepted_tokens(conditional, (load.pairs, load.streams, n_steps), draw), axis=2)


def _requests(
    world: NoiseModel,
    treatment: Treatment,
    prompts: Prompts,
    machine: _Machine,
    gained: Ints | None,
    window_ms: tuple[float, float],
    draw: Generator,
) -> _Requests:
    pairs, streams = machine.row.shape
    pair, stream = np.indices((pairs, streams))
    sent = draw.uniform(0.0, window_ms[0] / 2, (pairs, streams))
    found: list[tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], ...]] = []
    turn = 0
    while (running := sent < window_ms[1]).any():
        tokens = prompts.lengths[:, :, turn % PROMPTS]
        prefill = prompts.prefill_ms[:, :, turn % PROMPTS] * treatment.ttft_ratio
        first = machine.step_at(sent + prefill * np.exp(draw.normal(0.0, TTFT_SD, sent.shape)))
        last = first + tokens - 1 if gained is None else _last_step(gained, first, tokens)
        slow = np.exp(draw.normal(0.0, world.request_sd, sent.shape))
        if (last[running] >= machine.ends.shape[1]).any():
            raise InternalError("calibrate: a simulated machine ended before its block; the world is too uneven for it")
        last = np.minimum(last, machine.ends.shape[1] - 1)
        first = np.minimum(first, last)
        found.append(tuple(a[running] for a in (pair, stream, np.full(sent.shape, turn), sent, first, last, tokens, slow)))
        begun = machine.ends[machine.row, first]
        sent = np.where(running, begun + (machine.ends[machine.row, last] - begun) * slow + PAUSE_MS, sent)
        turn += 1
    columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    order = np.lexsort((columns[1], columns[2], columns[0]))
    return _Requests(*(column[order] for column in columns))


def _last_step(gained: Ints, first: Ints, tokens: Ints) -> Ints:
    """The step with which each stream's answer is whole: its first step brings one token, the others what is gained there."""
    pairs, streams, n_steps = gained.shape
    row = np.arange(pairs * streams).reshape(pairs, streams)
    span = int(gained.max()) + int(tokens.max()) + 1
    flat = (gained.reshape(-1, n_steps) + span * np.arange(pairs * streams)[:, None]).ravel()
    start = np.take_along_axis(gained, np.minimum(first, n_steps - 1)[:, :, None], axis=2)[:, :, 0]
    found: Ints = np.searchsorted(flat, start + tokens - 1 + span * row) - row * n_steps
    return found


def _streams(requests: _Requests, machine: _Machine, gained: Ints | None, opened: Ints, closed: Ints) -> Streams:
    counts = requests.last - requests.first + 1
    first_event = np.concatenate(([0], np.cumsum(counts)))
    request = np.repeat(np.arange(len(counts)), counts)
    step = np.arange(first_event[-1]) - first_event[request] + requests.first[request]
    row = machine.row[requests.pair, requests.stream]
    begun = machine.ends[row, requests.first]
    time_ms = begun[request] + (machine.ends[row[request], step] - begun[request]) * requests.slow[request]
    tokens = np.ones(len(step), dtype=np.int64)
    if gained is not None:
        had = gained[requests.pair[request], requests.stream[request], step]
        so_far = np.minimum(1 + had - had[first_event[:-1]][request], requests.tokens[request])
        tokens[1:] = np.diff(so_far)
        tokens[first_event[:-1]] = 1
    n_streams = machine.row.shape[1]
    return Streams(
        open_ns=opened,
        close_ns=closed,
        block=requests.pair,
        index=requests.stream + n_streams * requests.turn,
        sent_ns=np.rint(requests.sent_ms * NS_PER_MS).astype(np.int64),
        first_event=first_event,
        time_ns=np.rint(time_ms * NS_PER_MS).astype(np.int64),
        tokens=tokens,
    )
