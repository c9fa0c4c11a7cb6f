"""What happened over time: inside one block of each arm, and from block to block of the run. Drawn, never judged.

Nothing is compared here, and steadiness is tested elsewhere, over all blocks.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from specbench.model.records import Block, RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS
from specbench.model.shown import BlockSample, Timeline
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
    )


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
