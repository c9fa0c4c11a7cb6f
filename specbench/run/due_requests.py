"""When requests of an open loop are due, and how many were due and not yet sent, second by second. Pure."""

import random
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import takewhile
from math import sqrt

from specbench.model.scenario import RAMP, LoadRamp, Scenario
from specbench.plan.trials import Trial
from specbench.prompts.dataset.arrival_trace import ArrivalTrace, stretch_s
from specbench.units import NS_PER_S, ns_of_s


def arrivals(scenario: Scenario, trial: Trial, trace: ArrivalTrace | None = None) -> Iterator[int | None]:
    """When each request is due, in ns since the block's start, the same for both arms of a pair; None in a closed loop."""
    rate = trial.cell.rate
    rng = random.Random(f"{scenario.seed}/{trial.place}/arrivals")
    if (ramp := ramp_of(scenario, trial)) is not None:
        yield from rising(ramp, rng)
        return
    if rate is not None and trace is not None:
        yield from trace.arrivals_ns(trial.pair, stretch_s(scenario.matrix.block, rate), rate / trace.mean_rate)
    if rate is None:
        while True:
            yield None
    due_s = 0.0
    while True:
        due_s += rng.expovariate(rate) if scenario.matrix.arrivals == "poisson" else 1 / rate
        yield ns_of_s(due_s)


def rising(ramp: LoadRamp, rng: random.Random) -> Iterator[int]:
    """When requests of a load that rises are due: a Poisson process whose rate is that of the ramp, drawn by its expected count.

    Λ(t) = to · t² ÷ (2 · over) on the rise, then to · over ÷ 2 + to · (t − over); arrivals are where it passes those of rate 1.
    """
    risen, expected = ramp.to * ramp.over_s / 2, 0.0
    while True:
        expected += rng.expovariate(1.0)
        on_rise = expected < risen
        due_s = sqrt(2 * ramp.over_s * expected / ramp.to) if on_rise else ramp.over_s + (expected - risen) / ramp.to
        if due_s >= ramp.lasts_s:
            return
        yield ns_of_s(due_s)


def ramp_of(scenario: Scenario, trial: Trial) -> LoadRamp | None:
    """The load that rises, where the trial is that one; None in every other."""
    return scenario.matrix.ramp if trial.cell.id == RAMP else None


def backlog_by_second(due_ns: Iterable[int], start_ns: int, sent_ns: "array[int]", end_ns: int) -> tuple[int, ...]:
    """The backlog at each whole second from the block's start to the end of its window.

    Args:
        due_ns: When requests are due since the block's start, rising; it may be endless.
        start_ns: When the block started.
        sent_ns: When requests were sent, in any order.
        end_ns: When its window closed.
    """
    due = array("q", takewhile(lambda moment: moment <= end_ns - start_ns, due_ns))
    sent = sorted(sent_ns)
    seconds = range((end_ns - start_ns) // NS_PER_S + 1)
    return tuple(
        max(0, bisect_right(due, second * NS_PER_S) - bisect_right(sent, start_ns + second * NS_PER_S)) for second in seconds
    )
