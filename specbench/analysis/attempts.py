"""Which try at each pair of blocks counts, where an interrupted run measured some of them anew.

The choice knows nothing of the figures: the first try whose blocks of both arms came to their end, whoever ended the others.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from specbench.model.records import Block, RunData
from specbench.model.scenario import ARMS


def is_complete(blocks: Sequence[Block]) -> bool:
    """Whether these blocks of one try at a pair are all that it takes: one of each arm, none void, and no engine died."""
    return {block.arm for block in blocks} == set(ARMS) and all(
        block.engine_exit is None and not is_void(block) for block in blocks
    )


def is_void(block: Block) -> bool:
    """Whether a block counts for nothing, as the workers that drove it did not hold."""
    return block.fleet is not None and block.fleet.void is not None


def by_attempt(blocks: Sequence[Block]) -> dict[tuple[str, int], dict[int, list[Block]]]:
    """The blocks of each pair, by cell and pair and then by attempt."""
    found: dict[tuple[str, int], dict[int, list[Block]]] = {}
    for block in blocks:
        found.setdefault((block.cell, block.pair), {}).setdefault(block.attempt, []).append(block)
    return found


def counted_blocks(blocks: Sequence[Block], killed: Collection[str] = ()) -> tuple[Block, ...]:
    """The blocks of the attempt of each pair that counts, in the order in which they were given.

    One in which an engine died of itself always counts, or else a run could be resumed until none does. `killed`: ids of blocks
    whose engine was ended from outside, which another attempt stands in for. Where no attempt is complete, the latest counts. A
    void block never does.
    """
    blocks = [block for block in blocks if not is_void(block)]
    chosen = {pair: _chosen(attempts, killed) for pair, attempts in by_attempt(blocks).items()}
    return tuple(block for block in blocks if chosen[block.cell, block.pair] == block.attempt)


def counted(evidence: RunData, killed: Collection[str] = ()) -> RunData:
    """The evidence with one attempt of each pair, chosen as `counted_blocks` does."""
    kept = counted_blocks(evidence.blocks, killed)
    if len(kept) == len(evidence.blocks):
        return evidence
    return replace(evidence, blocks=kept, void_blocks=(*evidence.void_blocks, *filter(is_void, evidence.blocks)))


def _chosen(attempts: dict[int, list[Block]], killed: Collection[str]) -> int:
    deadly = [
        attempt
        for attempt, blocks in attempts.items()
        if any(block.engine_exit is not None and block.id not in killed for block in blocks)
    ]
    complete = [attempt for attempt, blocks in attempts.items() if is_complete(blocks)]
    return min(deadly or complete, default=max(attempts))
