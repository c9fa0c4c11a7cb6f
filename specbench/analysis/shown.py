"""What a result shows and never judges: quantiles of each arm's metrics, what happened over time in one block of each, and from
block to block of the run.

Nothing is compared here, and steadiness is tested elsewhere, over all blocks.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Floats
from specbench.analysis.arrays.samples import Samples, quantiles
from specbench.analysis.metrics.registry import values_of
from specbench.model.records import Block, RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.model.shown import BlockSample, Distribution, Timeline
from specbench.units import ns_of_s, seconds

SLOTS = 60


def timelines_of(blocks: PerArm[tuple[Block, ...]], records: PerArm[tuple[RequestRecord, ...]]) -> tuple[Timeline, ...]:
    """A timeline per arm of the middle pair whose blocks both had a steady window; empty where no pair did.

    Args:
        blocks: Of one cell.
        records: Of these blocks, in any order.
    """
    opened = {arm: {block.pair: block for block in blocks.of(arm) if _window(block) is not None} for arm in ARMS}
    pairs = sorted(opened["baseline"].keys() & opened["speculative"].keys())
    if not pairs:
        return ()
    middle = pairs[len(pairs) // 2]
    shown = [(opened[arm][middle], [one for one in records.of(arm) if one.block == opened[arm][middle].id]) for arm in ARMS]
    return tuple(timeline_of(block, own) for block, own in shown if own)


def timeline_of(block: Block, records: Sequence[RequestRecord], slots: int = SLOTS) -> Timeline:
    """The block in `slots` slots, from its first request to the end of its window.

    tokens per second = tokens stamped in the slot ÷ its length; in flight = time that requests spend in it ÷ its length
    """
    window = _window(block)
    assert window is not None
    start = min(record.sent_ns for record in records)
    edges = np.linspace(start, max(window[1], start + ns_of_s(0.001)), slots + 1)
    slot_s = seconds(float(edges[1] - edges[0]))
    stamps = np.array([record.sent_ns + event for record in records for event in record.event_ns], dtype=np.float64)
    weights = np.array([tokens for record in records for tokens in record.event_tokens], dtype=np.float64)
    arrived = np.histogram(stamps, edges, weights=weights)[0]
    sent = np.array([record.sent_ns for record in records], dtype=np.float64)
    ended = sent + np.array([record.end_ns for record in records], dtype=np.float64)
    inside = np.minimum(ended[:, None], edges[1:]) - np.maximum(sent[:, None], edges[:-1])
    spent_ns = np.clip(inside, 0, None).sum(axis=0)
    return Timeline(
        arm=block.arm,
        block=block.id,
        pair=block.pair,
        slot_s=slot_s,
        window_open_s=seconds(window[0] - start),
        tokens_per_s=tuple((arrived / slot_s).tolist()),
        in_flight=tuple((spent_ns / (edges[1] - edges[0])).tolist()),
        backlog=_backlog(block.backlog, slot_s, slots),
    )


def _backlog(by_second: Sequence[int], slot_s: float, slots: int) -> tuple[float, ...]:
    """The backlog at the middle of each slot, as of the second before."""
    return tuple(float(by_second[min(int((slot + 0.5) * slot_s), len(by_second) - 1)]) for slot in range(slots) if by_second)


def course_of(blocks: PerArm[tuple[Block, ...]], acceptance_by_pair: Mapping[int, float]) -> tuple[BlockSample, ...]:
    """The cell's blocks as points over the run, arm by arm in the order of pairs."""
    return tuple(
        BlockSample(
            arm=block.arm,
            block=block.id,
            pair=block.pair,
            acceptance_length=acceptance_by_pair.get(block.pair) if block.arm == "speculative" else None,
            read_lag_ms_p99=block.health.read_lag_ms_p99,
            send_delay_ms_p95=block.health.send_delay_ms_p95,
        )
        for arm in ARMS
        for block in sorted(blocks.of(arm), key=lambda one: (one.pair, one.order))
    )


def _window(block: Block) -> tuple[int, int] | None:
    if block.window_open_ns is None or block.window_close_ns is None or block.window_close_ns <= block.window_open_ns:
        return None
    return block.window_open_ns, block.window_close_ns


# Every percent, and the ends where tails live.
PROBABILITIES: tuple[float, ...] = (0.0, 0.001, 0.005, *(percent / 100 for percent in range(1, 100)), 0.995, 0.999, 1.0)
EXACT_UP_TO = 50_000
BINS_PER_DOUBLING = 2048
SMALLEST_SHARE = 1e-7  # of the largest value: what is smaller is drawn at 0 anyhow
DRAWN = ("ttft", "tpot", "itl", "chunk_gap", "pace")


def distributions_of(baseline: CellArrays, speculative: CellArrays) -> tuple[Distribution, ...]:
    """The distributions of both arms of one cell, baseline first; metrics without any sample are left out."""
    found = [
        _distribution(name, arm, columns) for name in DRAWN for arm, columns in zip(ARMS, (baseline, speculative), strict=True)
    ]
    return tuple(distribution for distribution in found if distribution is not None)


def _distribution(name: str, arm: ArmName, columns: CellArrays) -> Distribution | None:
    data = values_of(name, columns)
    assert isinstance(data, Samples)
    values = data.values[np.isfinite(data.values)]  # failed requests have no place on an axis; the error rate shows them
    if not len(values):
        return None
    drawn = _binned(values) if len(values) > EXACT_UP_TO else quantiles(values, PROBABILITIES)
    return Distribution(
        metric=name,
        unit="ms",
        arm=arm,
        n=len(values),
        probabilities=PROBABILITIES,
        values=tuple(drawn.tolist()),
    )


def _binned(values: Floats) -> Floats:
    """The quantiles of many values (n,), good to 0.02 %, by counting into bins even in the logarithm; both ends are exact.

    Sorting a million gaps of each arm and cell would take as long as all comparisons together, to draw a curve.
    """
    least, most = float(values.min()), float(values.max())
    floor = max(least, most * SMALLEST_SHARE)
    if floor >= most:
        return np.full(len(PROBABILITIES), most)
    places = (np.log2(np.maximum(values, floor) / floor) * BINS_PER_DOUBLING).astype(np.int64)
    rising = np.cumsum(np.bincount(places))
    ranks = np.round(np.array(PROBABILITIES) * (len(values) - 1)) + 1
    found: Floats = floor * 2 ** ((np.searchsorted(rising, ranks) + 0.5) / BINS_PER_DOUBLING)
    found[0], found[-1] = least, most
    return np.clip(found, least, most)
