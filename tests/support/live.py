"""Live periods for tests: what an arm with these times would have counted over five minutes, with vLLM's own edges."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from specbench.engine.http.histograms import FIRST_TOKEN_S, REQUEST_S, TOKEN_S, one_two_five
from specbench.model.guardrails import DEFAULTS
from specbench.model.live.cited_run import CitedRun, TestedLoad
from specbench.model.live.live_period import BucketCounts, LivePeriod
from specbench.model.records import SpeculationCounts, Telemetry
from specbench.model.scenario import ArmName

PERIOD_S = 300.0
TOKENS = one_two_five(8192)
ANSWER = 100  # tokens


def buckets(values: Sequence[float] | np.ndarray, edges: Sequence[float]) -> BucketCounts:
    """What a histogram with these edges says of these values."""
    ordered = np.sort(np.asarray(values, dtype=float))
    up_to = np.searchsorted(ordered, np.asarray(edges), side="right")
    return BucketCounts(
        edges=tuple(map(float, edges)), up_to=tuple(map(float, up_to)), count=float(len(ordered)), sum=float(ordered.sum())
    )


def spread(middle: float, requests: int, width: float = 0.2) -> np.ndarray:
    """So many values around the middle, log-normal by their quantiles: the same at every call."""
    return middle * np.exp(width * _normal(requests))


@cache
def _normal(requests: int) -> np.ndarray:
    return np.array([NormalDist().inv_cdf((place + 0.5) / requests) for place in range(requests)])


def period(
    number: int = 0,
    arm: ArmName = "speculative",
    *,
    tpot_s: float = 0.010,
    ttft_s: float = 0.120,
    requests: int = 200,
    alpha: float | None = 0.8,
    batch: float = 4.0,
    tokens_per_step: float = 3.2,
    **fields: Any,
) -> LivePeriod:
    """The period of this number: answers of 100 tokens, chains of four drafted tokens; the baseline drafts nothing."""
    tpot, ttft = spread(tpot_s, requests), spread(ttft_s, requests, 0.3)
    per_step = tokens_per_step if arm == "speculative" else 1.0
    steps = requests * (ANSWER - 1) / per_step
    made = LivePeriod(
        arm=arm,
        start_s=PERIOD_S * number,
        end_s=PERIOD_S * (number + 1),
        replicas=2,
        hosts=("gpu-a", "gpu-b"),
        seconds=2 * PERIOD_S,
        running_rise=0.0,
        told=Telemetry(
            acceptance=None if arm == "baseline" or alpha is None else counts(alpha, int(steps)),
            generated_tokens=requests * ANSWER,
            prefix_queries=1000,
            prefix_hits=100,
            preemptions=0,
            kv_usage_peak=0.4,
            running_mean=2 * batch,
        ),
        observed={
            "ttft": buckets(ttft, FIRST_TOKEN_S),
            "tpot": buckets(tpot, TOKEN_S),
            "e2e": buckets(ttft + (ANSWER - 1) * tpot, REQUEST_S),
            "decode": buckets((ANSWER - 1) * tpot, REQUEST_S),
            "step_gap": BucketCounts(edges=(), up_to=(), count=steps, sum=steps * tpot_s * per_step),
            "step_tokens": BucketCounts(edges=(), up_to=(), count=(steps + requests) / batch, sum=0.0),
            "prompt_tokens": buckets([60.0] * requests, TOKENS),
            "answer_tokens": buckets([float(ANSWER)] * requests, TOKENS),
        },
    )
    return replace(made, **fields)


def counts(alpha: float, rounds: int, depth: int = 4) -> SpeculationCounts:
    """What so many rounds of a chain come to where each drafted token is accepted with this probability."""
    positions = tuple(round(rounds * alpha**place) for place in range(1, depth + 1))
    return SpeculationCounts(rounds=rounds, drafted=depth * rounds, accepted=sum(positions), per_position=positions)


def run(**fields: Any) -> CitedRun:
    """A run that promoted: loads of 1 and 16, prompts of 32 to 100 tokens, answers of 50 to 200."""
    made = CitedRun(
        id="code-1",
        verdict="PROMOTE",
        ended_s=0.0,
        demonstration=False,
        alpha=0.8,
        length=3.4,
        loads=(
            TestedLoad(batch=1.0, step_ratio=1.5, tokens_per_step=3.2),
            TestedLoad(batch=16.0, step_ratio=4.0, tokens_per_step=3.1),
        ),
        primary=TestedLoad(batch=1.0, step_ratio=1.5, tokens_per_step=3.2),
        highest_batch=16.0,
        inputs=(32.0, 100.0),
        outputs=(50.0, 200.0),
        facts={"model": "m", "engine_version": "0.33.0", "speculation_config": "4", "hardware": "H100"},
        guardrails=tuple(rule for rule in DEFAULTS if rule.decides),
        hosts=("gpu-a", "gpu-b"),
        p50_p99_ms={"tpot": (8.0, 20.0), "ttft": (90.0, 300.0), "e2e": (900.0, 3000.0)},
    )
    return replace(made, **fields)
