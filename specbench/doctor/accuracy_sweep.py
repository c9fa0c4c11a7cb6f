"""Climbs a ladder of loads: the real client against an endpoint that knows what it sent, until the client is no longer true.

Only measures; what follows from it is said in `machine.py`.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from specbench.doctor.diagnosis import Accuracy, LoadLevel
from specbench.errors import UnreachableError
from specbench.load.machine import machine_busy_s, own_cpu_s
from specbench.probe.probe import ProbeRequest, probe
from specbench.telemetry.http import client_to

LOAD_LEVELS = ((8, 100), (32, 100), (64, 100), (128, 100), (32, 400), (64, 400))
"""(streams, chunks a second in each): where design and benchmarks hold the client to the truth, and one rung beyond."""

TOKENS = 128
TTFT_MS = 50.0
SECONDS = 2.0
RELATIVE, GAP_MS, TTFT_BUDGET_MS = 0.01, 0.1, 0.5
TRIES = 2
ANSWER_S = 10.0

Measure = Callable[[int, int], LoadLevel]


def sweep(say: Callable[[str], None], ladder: tuple[tuple[int, int], ...] = LOAD_LEVELS) -> tuple[LoadLevel, ...]:
    """Every rung up to and with the first at which the client was not true, twice: once may be another program's fault."""
    rungs = []
    for streams, rate in ladder:
        rung = best_of_two(compare_with_truth, streams, rate)
        rungs.append(rung)
        say(f"{streams} streams x {rate} chunks/s: {'true' if rung.ok else 'not true'}")
        if not rung.ok:
            break
    return tuple(rungs)


def best_of_two(measure: Measure, streams: int, rate: int) -> LoadLevel:
    """The first rung of at most two that is true; where none is, the one during which other programs did least."""
    seen = []
    for _ in range(TRIES):
        rung = measure(streams, rate)
        if rung.ok:
            return rung
        seen.append(rung)
    return min(seen, key=lambda one: one.foreign_cpu or 0.0)


def compare_with_truth(streams: int, rate: int) -> LoadLevel:
    """What the client reports of one load beside what was sent.  Raises: UnreachableError where the endpoint is not up."""
    before, own_before = machine_busy_s(), own_cpu_s()
    with _yardstick(rate) as url:
        told = probe(
            ProbeRequest(
                url=url,
                model="truth",
                engine="openai",
                concurrency=streams,
                requests=max(2 * streams, int(streams * SECONDS / (TTFT_MS / 1000 + TOKENS / rate))),
                max_tokens=TOKENS,
            )
        )
        with client_to(url) as client:
            true = client.get(f"{url}/truth", timeout=ANSWER_S).json()
    after = machine_busy_s()
    foreign = None
    if before is not None and after is not None and after.total_s > before.total_s:
        others_s = after.busy_s - before.busy_s - (own_cpu_s() - own_before)
        foreign = max(0.0, others_s / (after.total_s - before.total_s))
    return load_level_of(streams, rate, told, true, foreign)


def load_level_of(streams: int, rate: int, told: dict[str, Any], true: dict[str, Any], foreign: float | None) -> LoadLevel:
    """The two accounts of one load side by side.

    Args:
        told: what `probe` answers.
        true: what `/truth` answers.
    """
    generator = told["generator"]
    return LoadLevel(
        streams=streams,
        rate=rate,
        chunks_per_s=true["chunks_per_s"],
        readings=(
            *_readings("gap", ("p50", "p95", "p99"), told["chunk_gap_ms"], true["gap_ms"], GAP_MS),
            *_readings("TTFT", ("p50", "p95"), told["ttft_ms"], true["ttft_ms"], TTFT_BUDGET_MS),
        ),
        failed=told["requests"]["failed"],
        complaints=tuple(generator["reasons"]),
        stamps=tuple(sorted(generator["stamps"])),
        foreign_cpu=foreign,
    )


def _readings(
    what: str, points: tuple[str, ...], said: dict[str, float] | None, true: dict[str, float] | None, floor_ms: float
) -> Iterator[Accuracy]:
    for point in points:
        true_ms = 0.0 if true is None else true[point]
        said_ms = None if said is None or true is None else said[point]
        yield Accuracy(f"{what} {point}", said_ms, true_ms, max(RELATIVE * true_ms, floor_ms))


@contextmanager
def _yardstick(rate: int) -> Iterator[str]:
    """The URL of an endpoint that keeps to a schedule and notes what it sent; it ends when its input is closed."""
    options = ["--ttft-ms", str(TTFT_MS), "--interval-us", str(1e6 / rate), "--while-input-lasts"]
    command = [sys.executable, "-m", "specbench.engine.reference_endpoint.reference_endpoint", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().strip()
        if not url:
            raise UnreachableError("the scripted endpoint did not come up; is a loopback port free?")
        yield url
