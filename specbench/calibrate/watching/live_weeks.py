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
    base = tuple(_period(place, "baseline", TPOT_S * speed, TTFT_S * speed) for place, speed in enumerate(speeds[0]))
    spec = tuple(
        _period(place, "speculative", TPOT_S * speed * world.ratio, TTFT_S * speed * world.ratio)
        for place, speed in enumerate(speeds[1])
    )
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
    rng = np.random.default_rng([SEED, crc32(f"drift-{fall}".encode()), index])
    hours = np.arange(WEEK_H + QUARTER_H)
    alpha = 0.80 + 0.02 * np.sin(2 * np.pi * hours / 24) + _remembering(rng, len(hours), LiveWorld(sd=0.01, memory=0.5))
    alpha[FALL_AT_H:] -= fall
    for hour in range(WEEK_H + 1, len(hours), 1 if fall else 24):
        if drift_of("alpha", list(alpha[:hour]), RULES.tolerance).alarm is not None:
            return {"hours": hour - FALL_AT_H}
    return {"hours": None}


def _remembering(rng: np.random.Generator, count: int, world: LiveWorld) -> Floats:
    """Values around 0, each of which remembers a share of the one before."""
    fresh = rng.normal(0.0, world.sd * (1 - world.memory**2) ** 0.5, count)
    values = np.empty(count)
    values[0] = rng.normal(0.0, world.sd)
    for place in range(1, count):
        values[place] = world.memory * values[place - 1] + fresh[place]
    return values


def _period(number: int, arm: ArmName, tpot_s: float, ttft_s: float) -> LivePeriod:
    tpot, ttft = tpot_s * _scatter(0.25), ttft_s * _scatter(0.5)[::-1]
    decode = (ANSWER_TOKENS - 1) * tpot
    answers = float(REQUESTS * ANSWER_TOKENS)
    return LivePeriod(
        arm=arm,
        start_s=WINDOW_S * number,
        end_s=WINDOW_S * (number + 1),
        replicas=2,
        hosts=("a", "b"),
        seconds=2 * WINDOW_S,
        running_rise=0.0,
        told=Telemetry(generated_tokens=int(answers)),
        observed={
            "ttft": _buckets(ttft, FIRST_TOKEN_S),
            "tpot": _buckets(tpot, TOKEN_S),
            "e2e": _buckets(ttft + decode, REQUEST_S),
            "decode": BucketCounts(edges=(), up_to=(), count=float(REQUESTS), sum=float(decode.sum())),
            "answer_tokens": BucketCounts(edges=(), up_to=(), count=float(REQUESTS), sum=answers),
        },
    )


@cache
def _scatter(width: float) -> Floats:
    """Requests around their window's time, log-normal: the same ones in every window."""
    places = [NormalDist().inv_cdf((place + 0.5) / REQUESTS) for place in range(REQUESTS)]
    return np.array([exp(width * place) for place in places])


def _buckets(values: Floats, edges: tuple[float, ...]) -> BucketCounts:
    up_to = np.searchsorted(np.sort(values), edges, side="right")
    return BucketCounts(
        edges=tuple(map(float, edges)), up_to=tuple(map(float, up_to)), count=float(len(values)), sum=float(values.sum())
    )


MEMORIES = (0.0, 0.3, 0.6, 0.8)
FALLS = (0.15, 0.08, 0.06)
WATCH_RUNS: dict[str, Callable[[int], Outcome]] = {
    **{f"watch-aa-{memory}": partial(watch_aa, memory) for memory in MEMORIES},
    "watch-harm": watch_harm,
    "watch-drift-0": partial(drift, 0.0),
    **{f"watch-drift-{fall}": partial(drift, fall) for fall in FALLS},
}
"""Every campaign of `watch` by its name."""
