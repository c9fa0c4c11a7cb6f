"""The rate at which the share of requests in time falls to the one that is asked, from blocks around it.

Logistic regression of the share on the log of the rate, blocks as wholes: requests of one block wait behind each other, so that
their number says nothing of the error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.stats.paired import t_quantile
from specbench.model.capacity.capacity_values import BlockShare, Crossing, SearchEnd, ServiceLimit

NEAR = 1.7  # blocks farther from the middle than this factor are not on the same straight line
LEAST_BLOCKS = 5
CONFIDENCE = 0.9
WIDER = 1.2  # times the jackknife's error: the blocks chose their own rates (`specbench calibrate capacity` holds it to 90 %)
STEPS, SETTLED = 60, 1e-9
STEEPEST = 80.0
HALF = 0.5  # of a request is added to both outcomes of a block, so that one without a miss has a finite logit


@dataclass(frozen=True, slots=True)
class _Line:
    """The log of the rate at which the share is met, and its standard error."""

    log_rate: float
    se: float


def crossing_of(blocks: Sequence[BlockShare], limit: ServiceLimit) -> Crossing:
    """How far the limit holds; no rate where it lies outside those probed, or the blocks do not say."""
    fit = sorted((block for block in blocks if block.fit and block.requests), key=lambda block: block.rate)
    rates = [block.rate for block in blocks]
    tested = (min(rates, default=0.0), max(rates, default=0.0))

    def ended(end: SearchEnd) -> Crossing:
        return Crossing(limit=limit, end=end, rate=None, low=None, high=None, tested=tested, blocks=len(fit))

    held, missed = held_and_missed(fit, limit.share)
    if missed is None:
        unfit = any(not block.fit for block in blocks)
        return ended("client" if unfit else "not_reached") if fit else ended("client" if unfit else "too_little")
    if held is None:
        return ended("no_rate" if surely_missed(fit, limit.share) else "too_little")
    middle = sqrt(held * missed)
    line = None
    for _ in range(2):  # which blocks are near is known only once the middle is
        near = [block for block in fit if middle / NEAR <= block.rate <= middle * NEAR]
        line = _line(near, limit.share)
        if line is None or not near[0].rate <= exp(line.log_rate) <= near[-1].rate:
            return ended("too_little")
        middle = exp(line.log_rate)
    assert line is not None
    df = len(near) - 2
    reach = t_quantile((1 + CONFIDENCE) / 2, df) * line.se
    return Crossing(
        limit=limit,
        end="found",
        rate=middle,
        low=middle * exp(-reach),
        high=middle * exp(reach),
        tested=tested,
        blocks=len(near),
        se_log=line.se,
        df=df,
    )


def held_and_missed(blocks: Sequence[BlockShare], share: float) -> tuple[float | None, float | None]:
    """The highest rate that held and the next one, of shares that are made to never rise with the rate.

    Neighbours that contradict each other are put together (pool adjacent violators): one unlucky block decides nothing.
    """
    pools: list[tuple[float, float, int, int]] = []  # from this rate to that one: requests, and those in time
    for block in sorted((block for block in blocks if block.requests), key=lambda block: block.rate):
        pool = (block.rate, block.rate, block.requests, block.in_time)
        while pools and (pools[-1][1] == pool[0] or pools[-1][3] * pool[2] < pool[3] * pools[-1][2]):
            low, _, requests, in_time = pools.pop()
            pool = (low, pool[1], requests + pool[2], in_time + pool[3])
        pools.append(pool)
    held = max((high for _, high, requests, in_time in pools if in_time >= share * requests), default=None)
    missed = min((low for low, _, requests, in_time in pools if in_time < share * requests), default=None)
    return held, missed


def surely_missed(blocks: Sequence[BlockShare], share: float) -> bool:
    """Whether the lowest rate was missed by more than chance: as few in time have a probability below 5 % at that share."""
    from scipy.special import bdtr

    lowest = min(block.rate for block in blocks)
    at_lowest = [block for block in blocks if block.rate == lowest]
    requests, in_time = sum(block.requests for block in at_lowest), sum(block.in_time for block in at_lowest)
    return float(bdtr(in_time, requests, share)) < (1 - CONFIDENCE) / 2


def _line(blocks: Sequence[BlockShare], share: float) -> _Line | None:
    """The crossing of the fitted line; None where there are too few blocks, or the share does not fall with the rate."""
    if len(blocks) < LEAST_BLOCKS or blocks[0].rate == blocks[-1].rate:
        return None
    x = np.log([block.rate for block in blocks])
    n = np.array([block.requests + 2 * HALF for block in blocks])
    y = np.array([block.in_time + HALF for block in blocks])
    whole = _fitted(x, n, y, share)
    if whole is None:
        return None
    apart = [_fitted(np.delete(x, place), np.delete(n, place), np.delete(y, place), share) for place in range(len(blocks))]
    known = np.array([one for one in apart if one is not None])
    if len(known) < len(blocks):
        return None
    m = len(blocks)
    se = sqrt(float((m - 1) / m * ((known - known.mean()) ** 2).sum()))
    return _Line(whole, WIDER * se)


def _fitted(x: Floats, n: Floats, y: Floats, share: float) -> float | None:
    """The x at which the share is met: maximum likelihood by Newton's steps; None where the line does not fall."""
    middle = float(x.mean())
    z = x - middle
    a, b = log(share / (1 - share)), -5.0
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(a + b * z, -30, 30)))
        weight, off = n * p * (1 - p), y - n * p
        s0, s1, s2 = weight.sum(), (weight * z).sum(), (weight * z * z).sum()
        g0, g1 = off.sum(), (off * z).sum()
        size = s0 * s2 - s1 * s1
        if size <= 0:
            return None
        da, db = (s2 * g0 - s1 * g1) / size, (s0 * g1 - s1 * g0) / size
        a, b = a + float(np.clip(da, -2, 2)), float(np.clip(b + np.clip(db, -10, 10), -STEEPEST, STEEPEST))
        if abs(da) + abs(db) < SETTLED:
            break
    return middle + (log(share / (1 - share)) - a) / b if b < -1e-6 else None
