"""How many requests of each block were within each limit. Failures are misses; what our own client cut is left out."""

from collections.abc import Sequence

import numpy as np

from specbench.analysis.arrays.cell_arrays import FAILED, WITHOUT_LATENCY, CellArrays, arrays_of
from specbench.analysis.arrays.samples import Samples
from specbench.analysis.integrity.generator_limits import CENSORED_SHARE, CPU_SHARE, LATE_MS, LATEST_BLOCK, merged_reads
from specbench.analysis.metrics.latency import e2e, tpot, ttft
from specbench.model.capacity.capacity_values import BlockShare, ServiceLimit
from specbench.model.records import Block, RequestRecord

TIMES = {"ttft": ttft, "tpot": tpot, "e2e": e2e}
FAILURES = "error_rate"


def shares_of(
    blocks: Sequence[Block], records: Sequence[RequestRecord], limits: Sequence[ServiceLimit]
) -> tuple[tuple[BlockShare, ...], ...]:
    """For each limit, the share of every block that had a rate and a window, in the order of the run."""
    by_block = _by_block(blocks, records, limits)
    return tuple(tuple(one[place] for one in by_block) for place in range(len(limits)))


def _by_block(
    blocks: Sequence[Block], records: Sequence[RequestRecord], limits: Sequence[ServiceLimit]
) -> list[tuple[BlockShare, ...]]:
    of_block: dict[str, list[RequestRecord]] = {block.id: [] for block in blocks}
    for record in records:
        if record.block in of_block:
            of_block[record.block].append(record)
    measured = [block for block in blocks if block.rate is not None and block.window_open_ns is not None]
    return [block_shares(block, of_block[block.id], limits) for block in sorted(measured, key=lambda block: block.order)]


def block_shares(block: Block, records: Sequence[RequestRecord], limits: Sequence[ServiceLimit]) -> tuple[BlockShare, ...]:
    """The share of one block within each limit."""
    columns = arrays_of([block], records)
    fit = is_fit(block, records)
    return tuple(BlockShare(block.id, block.rate or 0.0, *_counted(columns, limit), fit) for limit in limits)


def is_fit(block: Block, records: Sequence[RequestRecord]) -> bool:
    """Whether the client was in time: requests left when they were due, its core had room, and events were read one by one."""
    health = block.health
    late = (health.send_delay_ms_p95 or 0.0) > LATEST_BLOCK * LATE_MS
    busy = (health.cpu_share or 0.0) > CPU_SHARE
    merged = merged_reads(records, {block.id: (block.window_open_ns, block.window_close_ns)})
    read_late = (merged.share or 0.0) > CENSORED_SHARE
    return not (block.in_flight_limit_reached or late or busy or read_late)


def _counted(columns: CellArrays, limit: ServiceLimit) -> tuple[int, int]:
    """How many requests count, and how many of them were within the limit."""
    if limit.metric == FAILURES:
        counted = columns.started_inside() & columns.is_outcome(FAILED | WITHOUT_LATENCY | {"ok"})
        return int(counted.sum()), int((counted & columns.is_outcome({"ok"})).sum())
    samples: Samples = TIMES[limit.metric.rpartition("_p")[0]](columns)
    return len(samples.values), int(np.count_nonzero(samples.values <= limit.limit))
