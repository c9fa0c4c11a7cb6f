"""Simulated searches for capacity: how often the interval of 90 % holds the true rate.

The world is a server that runs at most so many requests at once, first come, first served; all that run share its steps, whose
time is flat up to a number of requests and grows with it beyond. `slow` takes about one request a second, so a block has few.
A block is faster or slower by a factor of its own. The truth is the rate at which long blocks have the share that is asked.
"""

import random
from collections import deque
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from math import exp, sqrt

from specbench.analysis.capacity.crossing import crossing_of
from specbench.analysis.capacity.search import RateBlock, SearchBounds, is_probe, next_rate
from specbench.calibrate.whole_runs import SEED, Outcome
from specbench.model.capacity.capacity_values import BlockShare, Crossing, ServiceLimit

BLOCK_SD = 0.02
PROBE_S, BLOCK_S, RAMP_SHARE = 75.0, 150.0, 0.2
BLOCKS = 8
LONG_S, LONG_BLOCKS = 600.0, 70  # of the truth
PROMPT_STEPS = (1.0, 4.0)  # a prompt's prefill, in steps
ANSWER_TOKENS = (96, 192)


@dataclass(frozen=True, slots=True)
class SimulatedServer:
    """Seconds of a step up to `flat` requests, how many it runs at once, and the limit that its requests are held to."""

    step_s: float
    flat: int
    most: int
    limit: ServiceLimit
    around: tuple[float, ...]  # rates on both sides of the true one


SERVERS = {
    "ttft": SimulatedServer(0.012, 16, 12, ServiceLimit("ttft_p95", 400.0, 0.95), (4.3, 4.5, 4.7, 4.9, 5.1)),
    "tpot": SimulatedServer(0.012, 12, 64, ServiceLimit("tpot_p95", 16.0, 0.95), (4.5, 4.7, 4.85, 5.0, 5.2)),
    "slow": SimulatedServer(0.012, 4, 64, ServiceLimit("tpot_p95", 18.0, 0.95), (1.0, 1.07, 1.14, 1.2, 1.27)),
}


def search_covers(server: str, index: int) -> Outcome:
    """Whether the interval of one simulated search holds the true rate, and how far off its estimate is."""
    found = searched(server, index)
    truth = true_rate(server)
    if found.rate is None or found.low is None or found.high is None:
        return {"found": False, "covers": False, "off": 0.0, "width": 0.0}
    return {
        "found": True,
        "covers": found.low <= truth <= found.high,
        "off": found.rate / truth - 1,
        "width": sqrt(found.high / found.low) - 1,
    }


def searched(server: str, index: int) -> Crossing:
    """What the simulated search of this number finds."""
    world = SERVERS[server]
    rng = random.Random(f"{SEED}/capacity-{server}/{index}")
    alone_s = world.step_s * sum(ANSWER_TOKENS) / 2
    bounds = SearchBounds(first=1 / alone_s, lowest=0.1 / alone_s, blocks=BLOCKS)
    blocks: list[RateBlock] = []
    while (rate := next_rate(bounds, (world.limit,), blocks)) is not None:
        seconds = PROBE_S if is_probe(bounds, (world.limit,), blocks) else BLOCK_S
        blocks.append(RateBlock(rate, (simulated_block(world, rate, seconds, rng),)))
    return crossing_of([block.shares[0] for block in blocks], world.limit)


@cache
def true_rate(server: str, blocks: int = LONG_BLOCKS) -> float:
    """The rate at which long blocks have the share that is asked: so many of them at each of five rates around it."""
    world = SERVERS[server]
    rng = random.Random(f"{SEED}/capacity-truth-{server}")
    long = [simulated_block(world, rate, LONG_S, rng) for rate in world.around for _ in range(blocks)]
    found = crossing_of(long, world.limit).rate
    assert found is not None
    return found


def simulated_block(server: SimulatedServer, rate: float, seconds: float, rng: random.Random) -> BlockShare:
    """One block at this rate from an empty server: its requests after the ramp, and how many were within the limit."""
    speed = exp(rng.gauss(0.0, BLOCK_SD))
    arrivals = []
    due_s = rng.expovariate(rate)
    while due_s < seconds:
        arrivals.append((due_s, rng.uniform(*PROMPT_STEPS), rng.uniform(*ANSWER_TOKENS)))
        due_s += rng.expovariate(rate)
    requests = in_time = 0
    for (came_s, _, tokens), (first_s, last_s) in zip(arrivals, _served(server, speed, arrivals), strict=True):
        if came_s >= RAMP_SHARE * seconds:
            requests += 1
            figure = first_s - came_s if server.limit.metric.startswith("ttft") else (last_s - first_s) / tokens
            in_time += 1000 * figure <= server.limit.limit
    return BlockShare("", rate, requests, in_time)


def _served(server: SimulatedServer, speed: float, arrivals: list[tuple[float, float, float]]) -> list[tuple[float, float]]:
    """When each request got its first token and its last. All that run get a token a step; their number sets its time."""
    times = [[0.0, 0.0] for _ in arrivals]
    waiting: deque[int] = deque()
    ends: list[tuple[float, int, bool]] = []  # by steps made: the end of a prefill, and of an answer
    now_s = made = 0.0
    running = came = 0
    while came < len(arrivals) or ends:
        step_s = speed * server.step_s * max(1.0, running / server.flat)
        next_s = arrivals[came][0] if came < len(arrivals) else float("inf")
        if ends and now_s + (ends[0][0] - made) * step_s <= next_s:
            steps, index, whole = heappop(ends)
            now_s, made = now_s + (steps - made) * step_s, steps
            times[index][whole] = now_s
            if whole:
                running -= 1
        else:
            made, now_s = made + (next_s - now_s) / step_s, next_s
            waiting.append(came)
            came += 1
        while waiting and running < server.most:
            index = waiting.popleft()
            running += 1
            _, prompt, tokens = arrivals[index]
            heappush(ends, (made + prompt, index, False))
            heappush(ends, (made + prompt + tokens, index, True))
    return [(first, last) for first, last in times]
