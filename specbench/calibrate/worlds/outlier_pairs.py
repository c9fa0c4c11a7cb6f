"""Pairs with a block that is unlike the others of its own arm: what a run would have to measure once more (docs/adr/0026)."""

from collections.abc import Sequence
from math import log

import numpy as np

from specbench.model.records import Block, RequestRecord

BEYOND = 5.0  # robust standard deviations from the median of the arm's blocks
_SD_OF_MAD = 1.4826  # of a normal distribution


def outlier_pairs(blocks: Sequence[Block], records: Sequence[RequestRecord]) -> set[tuple[str, int]]:
    """The cell and the number of each pair in which either arm's median time per token lies far from its arm's others."""
    times: dict[str, list[float]] = {block.id: [] for block in blocks}
    for record in records:
        if len(record.event_ns) > 1:
            span = record.event_ns[-1] - record.event_ns[0]
            times[record.block].append(span / (sum(record.event_tokens) - record.event_tokens[0]))
    levels = {block.id: log(float(np.median(times[block.id]))) for block in blocks if times[block.id]}
    found = set()
    for cell, arm in {(block.cell, block.arm) for block in blocks}:
        ours = [block for block in blocks if (block.cell, block.arm) == (cell, arm) and block.id in levels]
        middle = float(np.median([levels[block.id] for block in ours]))
        sd = _SD_OF_MAD * float(np.median([abs(levels[block.id] - middle) for block in ours]))
        found |= {(cell, block.pair) for block in ours if sd > 0 and abs(levels[block.id] - middle) > BEYOND * sd}
    return found
