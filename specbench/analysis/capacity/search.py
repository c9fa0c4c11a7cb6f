"""Which rate a search tries next: it doubles, bisects, and then puts blocks around the crossing. It knows only what was measured.

The limits are taken together: a rate holds where every one of them does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from specbench.analysis.capacity.crossing import crossing_of, held_and_missed, surely_missed
from specbench.model.capacity.capacity_values import BlockShare, ServiceLimit

CLOSE = 1.25  # a bracket no wider than this is searched by blocks inside it
AROUND = (0.94, 1.06, 0.88, 1.12, 0.97, 1.03, 0.91, 1.09)  # of the running estimate
MOST_PROBES = 24
AT_LOWEST = 3  # blocks at the lowest rate, where they do not say that it is missed


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBounds:
    """Where a search begins, the rate below which it does not go, and how many blocks it puts around the crossing."""

    first: float
    lowest: float
    blocks: int


@dataclass(frozen=True, slots=True)
class RateBlock:
    """One block of the search: its rate, and its share within each limit, in the order of the limits."""

    rate: float
    shares: tuple[BlockShare, ...]

    @property
    def fit(self) -> bool:
        """Whether the client could drive it."""
        return all(one.fit for one in self.shares)

    def holds(self, limits: Sequence[ServiceLimit]) -> bool:
        """Whether every limit held; a block that the client could not drive did not."""
        return all(one.fit and one.in_time >= limit.share * one.requests for one, limit in zip(self.shares, limits, strict=True))


def next_rate(bounds: SearchBounds, limits: Sequence[ServiceLimit], blocks: Sequence[RateBlock]) -> float | None:
    """The rate of the next block; None where the search has ended.

    Args:
        blocks: Those measured so far, in their order.
    """
    if blocks and _tried_again(blocks, len(blocks) - 1):
        return blocks[-1].rate
    blocks = _counted(blocks)
    probes = _probes(bounds, limits, blocks)
    held, missed = _bracket(limits, probes)
    if len(probes) == len(blocks) and not _close(held, missed):
        return _probe(bounds, limits, blocks, held, missed)
    if held is None or missed is None or len(blocks) - len(probes) >= bounds.blocks:
        return None
    return _middle(limits, blocks) * AROUND[(len(blocks) - len(probes)) % len(AROUND)]


def is_probe(bounds: SearchBounds, limits: Sequence[ServiceLimit], blocks: Sequence[RateBlock]) -> bool:
    """Whether the next block still looks for the bracket, and may be shorter."""
    blocks = _counted(blocks)
    probes = _probes(bounds, limits, blocks)
    return len(probes) == len(blocks) and not _close(*_bracket(limits, probes))


def _counted(blocks: Sequence[RateBlock]) -> list[RateBlock]:
    """The blocks without those that were tried again because the client did not keep up."""
    return [block for place, block in enumerate(blocks) if not _tried_again(blocks, place)]


def _tried_again(blocks: Sequence[RateBlock], place: int) -> bool:
    """Whether this block says nothing of its rate: the client did not keep up, as may happen once by chance."""
    return not blocks[place].fit and not any(one.rate == blocks[place].rate and not one.fit for one in blocks[:place])


def _probes(bounds: SearchBounds, limits: Sequence[ServiceLimit], blocks: Sequence[RateBlock]) -> Sequence[RateBlock]:
    """The blocks that looked for the bracket: all up to the one that closed it."""
    for count in range(1, len(blocks) + 1):
        if _close(*_bracket(limits, blocks[:count])):
            return blocks[:count]
    return blocks


def _bracket(limits: Sequence[ServiceLimit], blocks: Sequence[RateBlock]) -> tuple[float | None, float | None]:
    """The highest rate that held, and the lowest that did not; of two that contradict each other, the other way round."""
    held = max((block.rate for block in blocks if block.holds(limits)), default=None)
    missed = min((block.rate for block in blocks if not block.holds(limits)), default=None)
    if held is not None and missed is not None and held > missed:
        return missed, held
    return held, missed


def _close(held: float | None, missed: float | None) -> bool:
    return held is not None and missed is not None and missed / held <= CLOSE


def _probe(
    bounds: SearchBounds,
    limits: Sequence[ServiceLimit],
    blocks: Sequence[RateBlock],
    held: float | None,
    missed: float | None,
) -> float | None:
    if len(blocks) >= MOST_PROBES:
        return None
    if missed is None:
        return bounds.first if held is None else 2 * held
    if held is not None:
        return sqrt(held * missed)
    if missed / 2 >= bounds.lowest:
        return missed / 2
    at_lowest = [block for block in blocks if block.rate <= bounds.lowest]
    shares = [[block.shares[place] for block in at_lowest if block.fit] for place in range(len(limits))]
    settled = any(one and surely_missed(one, limit.share) for one, limit in zip(shares, limits, strict=True))
    return None if settled or len(at_lowest) >= AT_LOWEST else bounds.lowest


def _middle(limits: Sequence[ServiceLimit], blocks: Sequence[RateBlock]) -> float:
    """The lowest crossing of the limits, as far as the blocks say; beyond the highest or lowest rate where all of them agree."""
    return min(_crossing(limit, [block.shares[place] for block in blocks]) for place, limit in enumerate(limits))


def _crossing(limit: ServiceLimit, blocks: Sequence[BlockShare]) -> float:
    found = crossing_of(blocks, limit).rate
    if found is not None:
        return found
    rates = [block.rate for block in blocks]
    held, missed = held_and_missed([block for block in blocks if block.fit], limit.share)
    if held is None:
        return (missed or min(rates)) / CLOSE
    return held * CLOSE if missed is None else sqrt(held * missed)
