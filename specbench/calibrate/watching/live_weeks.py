"""Weeks of live traffic with known effects, window by window, before the judge of `watch` at many looks.

Each arm's windows have a speed of their own that remembers the window before; requests scatter around it. Everything is seeded by
the campaign's name and number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import exp
from statistics import NormalDist
from zlib import crc32

import numpy as np
import numpy.typing as npt

from specbench.analysis.live.live_drift import drift_of
from specbench.analysis.live.live_judge import LiveEvidence, judged
from specbench.analysis.stats.anytime import LEAST_WINDOWS
from specbench.calibrate.whole_runs import SEED, Outcome
from specbench.engine.http.histograms import FIRST_TOKEN_S, REQUEST_S, TOKEN_S
from specbench.model.live.live_period import BucketCounts, LivePeriod
from specbench.model.live.watch_result import WatchRules
from specbench.model.records import Telemetry
from specbench.model.scenario import ArmName

Floats = npt.NDArray[np.float64]
WINDOW_S, WINDOWS_A_WEEK = 300.0, 2016
REQUESTS, ANSWER_TOKENS = 100, 100
TPOT_S, TTFT_S = 0.012, 0.120
LOOKS = tuple(sorted({*range(LEAST_WINDOWS, 48, 2), *(round(48 * 1.2**step) for step in range(21)), WINDOWS_A_WEEK}))
RULES = WatchRules(assignment="random", errors="none")
WEEK_H, QUARTER_H = 168, 2160
FALL_AT_H = WEEK_H + 24
LONG_H = 10 * QUARTER_H


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWorld:
    """How live windows behave: the sd of their speed, its correlation from one to the next, and what speculation truly does."""

    sd: float = 0.08
    memory: float = 0.3
    ratio: float = 1.0


def live_week(world: LiveWorld, name: str, windows: int, index: int) -> Outcome:
    """At which window the state first was ROLLBACK, over looks up to so many windows; and the last state."""
    rng = np.random.default_rng([SEED, crc32(name.encode()), index])
    speeds = [np.exp(_remembering(rng, windows, world)) for _ in range(2)]
    base = _periods("baseline", TPOT_S * speeds[0], TTFT_S * speeds[0])
    spec = _periods("speculative", TPOT_S * speeds[1] * world.ratio, TTFT_S * speeds[1] * world.ratio)
    state = "HOLD"
    for look in (look for look in LOOKS if look <= windows):
        state = judged(LiveEvidence(speculative=spec[:look], baseline=base[:look]), RULES).state
        if state == "ROLLBACK":
            return {"state": state, "at": look}
    return {"state": state, "at": None}


def watch_aa(memory: float, index: int) -> Outcome:
    """A week of equal arms."""
    return live_week(LiveWorld(memory=memory), f"watch-aa-{memory}", WINDOWS_A_WEEK, index)


def watch_harm(index: int) -> Outcome:
    """Forty windows of an arm that is 20 % slower."""
    return live_week(LiveWorld(ratio=1.2), "watch-harm", 40, index)


def drift(fall: float, index: int) -> Outcome:
    """A reference week, a day, and 90 days after alpha fell by so much: how many hours until the alarm, None where none came."""
    alpha = _hours_of_alpha(f"drift-{fall}", index, WEEK_H + QUARTER_H)
    alpha[FALL_AT_H:] -= fall
    alarm_h = drift_of("alpha", alpha[:-1].tolist(), RULES.tolerance).alarm_after
    if alarm_h is None:
        return {"hours": None}
    every = 1 if fall else 24
    looked = WEEK_H + 1 + -(-(alarm_h - WEEK_H - 1) // every) * every
    return {"hours": looked - FALL_AT_H if looked < len(alpha) else None}


def run_length(index: int) -> Outcome:
    """Hours after the reference week until the alarm that nothing caused; LONG_H, where it came no earlier."""
    alpha = _hours_of_alpha("drift-run-length", index, WEEK_H + LONG_H)
    alarm_h = drift_of("alpha", alpha.tolist(), RULES.tolerance).alarm_after
    return {"hours": LONG_H if alarm_h is None else alarm_h - WEEK_H, "alarmed": alarm_h is not None}


def _hours_of_alpha(name: str, index: int, count: int) -> Floats:
    """Alpha by hour, with a rhythm over the day."""
    rng = np.random.default_rng([SEED, crc32(name.encode()), index])
    hours = np.arange(count)
    return 0.80 + 0.02 * np.sin(2 * np.pi * hours / 24) + _remembering(rng, len(hours), LiveWorld(sd=0.01, memory=0.5))


def _remembering(rng: np.random.Generator, count: int, world: LiveWorld) -> Floats:
    """Values around 0, each of which remembers a share of the one before."""
    fresh = rng.normal(0.0, world.sd * (1 - world.memory**2) ** 0.5, count)
    values = np.empty(count)
    values[0] = rng.normal(0.0, world.sd)
    for place in range(1, count):
        values[place] = world.memory * values[place - 1] + fresh[place]
    return values


def _periods(arm: ArmName, tpot_s: Floats, ttft_s: Floats) -> tuple[LivePeriod, ...]:
    """One window for each of these speeds."""
    tpot, ttft = tpot_s[:, None] * _scatter(0.25), ttft_s[:, None] * _scatter(0.5)[::-1]
    decode = (ANSWER_TOKENS - 1) * tpot
    answers = float(REQUESTS * ANSWER_TOKENS)
    columns = zip(
        _buckets(ttft, FIRST_TOKEN_S),
        _buckets(tpot, TOKEN_S),
        _buckets(ttft + decode, REQUEST_S),
        decode.sum(axis=1),
        strict=True,
    )
    return tuple(
        LivePeriod(
            arm=arm,
            start_s=WINDOW_S * number,
            end_s=WINDOW_S * (number + 1),
            replicas=2,
            hosts=("a", "b"),
            seconds=2 * WINDOW_S,
            running_rise=0.0,
            told=Telemetry(generated_tokens=int(answers)),
            observed={
                "ttft": first,
                "tpot": token,
                "e2e": whole,
                "decode": BucketCounts(edges=(), up_to=(), count=float(REQUESTS), sum=float(decode_s)),
                "answer_tokens": BucketCounts(edges=(), up_to=(), count=float(REQUESTS), sum=answers),
            },
        )
        for number, (first, token, whole, decode_s) in enumerate(columns)
    )


@cache
def _scatter(width: float) -> Floats:
    """Requests around their window's time, log-normal: the same ones in every window."""
    places = [NormalDist().inv_cdf((place + 0.5) / REQUESTS) for place in range(REQUESTS)]
    return np.array([exp(width * place) for place in places])


def _buckets(values: Floats, edges: tuple[float, ...]) -> list[BucketCounts]:
    """What a histogram with these edges says of each row of values."""
    limits = tuple(map(float, edges))
    up_to = np.stack([(values <= edge).sum(axis=1) for edge in limits], axis=1).astype(np.float64).tolist()
    return [
        BucketCounts(edges=limits, up_to=tuple(row), count=float(REQUESTS), sum=total)
        for row, total in zip(up_to, values.sum(axis=1).tolist(), strict=True)
    ]


MEMORIES = (0.0, 0.3, 0.6, 0.8)
FALLS = (0.15, 0.08, 0.06)
WATCH_RUNS: dict[str, Callable[[int], Outcome]] = {
    **{f"watch-aa-{memory}": partial(watch_aa, memory) for memory in MEMORIES},
    "watch-harm": watch_harm,
    "watch-drift-0": partial(drift, 0.0),
    "watch-drift-run-length": run_length,
    **{f"watch-drift-{fall}": partial(drift, fall) for fall in FALLS},
}
"""Every campaign of `watch` by its name."""
