"""What a histogram's buckets say of its observations: shares over an edge, and between which edges a quantile lies.

Nothing is interpolated: between two edges a histogram says nothing, and with an engine's usual edges an interpolated quantile is
half as large again as the true one, or shows a change of a fifth as one of a hundredth.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf

from specbench.model.live.live_period import BucketCounts

_MOST_EDGES = 24


def mean(counts: BucketCounts) -> float | None:
    """The exact mean of what was observed; None where nothing was."""
    return counts.sum / counts.count if counts.count > 0 else None


def share_over(counts: BucketCounts, edge: float) -> float | None:
    """The exact share of the observations above this edge; None where it is no edge, or nothing was observed."""
    if counts.count <= 0 or edge not in counts.edges:
        return None
    return 1 - counts.up_to[counts.edges.index(edge)] / counts.count


def bracket(counts: BucketCounts, quantile: float) -> tuple[float, float] | None:
    """The edges (low, high] between which the quantile lies; high is infinite above every edge, None where nothing was observed.

    The quantile is the smallest value at or below which at least that share of the observations lies.
    """
    if counts.count <= 0:
        return None
    low = 0.0
    for edge, up_to in zip(counts.edges, counts.up_to, strict=True):
        if up_to >= quantile * counts.count:
            return low, edge
        low = edge
    return low, inf


def neighbours(edges: Sequence[float], value: float) -> tuple[float | None, float | None]:
    """The nearest of these rising edges at or below and at or above the value; None where there is none."""
    below, above = bisect_right(edges, value), bisect_left(edges, value)
    return edges[below - 1] if below else None, edges[above] if above < len(edges) else None


def added(parts: Iterable[BucketCounts]) -> BucketCounts | None:
    """All observations of these histograms together, of those alone whose edges are the last one's; None without any."""
    listed = [part for part in parts if part.count > 0]
    alike = [part for part in listed if part.edges == listed[-1].edges]
    if not alike:
        return None
    up_to = tuple(map(sum, zip(*(part.up_to for part in alike), strict=True)))
    return BucketCounts(
        edges=alike[-1].edges, up_to=up_to, count=sum(part.count for part in alike), sum=sum(part.sum for part in alike)
    )


def variation(one: BucketCounts, other: BucketCounts) -> float | None:
    """How far two distributions over the same buckets lie apart (total variation): 0 alike, 1 disjoint; None where unknown."""
    if one.edges != other.edges or one.count <= 0 or other.count <= 0:
        return None
    return sum(abs(a - b) for a, b in zip(_shares(one), _shares(other), strict=True)) / 2


def share_outside(counts: BucketCounts, low: float, high: float) -> float | None:
    """The share of the observations surely below `low` or above `high`, both widened to the next edge; None without any."""
    if counts.count <= 0:
        return None
    below, above = neighbours(counts.edges, low)[0], neighbours(counts.edges, high)[1]
    under = 0.0 if below is None else counts.up_to[counts.edges.index(below)]
    over = 0.0 if above is None else counts.count - counts.up_to[counts.edges.index(above)]
    return (under + over) / counts.count


def resolving_edges(low: float, high: float, margin: float, also: Iterable[float]) -> tuple[float, ...]:
    """Edges fine enough to tell a change of `margin`: geometric from .8 × low to 1.3 × high, with these limits, at most so many.

    Each is 1 + margin ÷ 2 times the one before, or more where that would be too many.
    """
    first, last, kept = 0.8 * low, 1.3 * high, sorted({*also})
    step, room = 1 + margin / 2, max(_MOST_EDGES - len(kept), 2)
    if first * step ** (room - 1) < last:
        step = (last / first) ** (1 / (room - 1))
    made = [first]
    while made[-1] < last * (1 - 1e-9) and len(made) < room:
        made.append(made[-1] * step)
    return tuple(sorted({float(f"{edge:.3g}") for edge in (*made, *kept)}))


def _shares(counts: BucketCounts) -> list[float]:
    ends = [0.0, *counts.up_to, counts.count]
    return [(after - before) / counts.count for before, after in pairwise(ends)]
