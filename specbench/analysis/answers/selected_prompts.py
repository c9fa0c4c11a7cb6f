"""Which prompts' answers are compared: so many of each sampling, spread evenly over cells and pairs, chosen by the seed alone.

What the answers look like has no part in it.
"""

from collections.abc import Collection, Hashable, Iterable
from hashlib import sha256
from typing import NamedTuple


class PromptPlace(NamedTuple):
    """One prompt of a run: its sampling, cell and pair, and its index in that."""

    sampling: str
    cell: str
    pair: int
    prompt: int


def selected_prompts(places: Collection[PromptPlace], most: int, seed: int) -> frozenset[PromptPlace]:
    """At most `most` of each sampling, from every pair of every cell as many as from any other, as far as it has them.

    What is selected from a part of the places and from others is selected from all of them: a run need not keep the rest.
    """
    by_sampling: dict[str, dict[tuple[str, int], list[PromptPlace]]] = {}
    for place in sorted(places, key=lambda place: _drawn(seed, *place)):
        by_sampling.setdefault(place.sampling, {}).setdefault((place.cell, place.pair), []).append(place)
    return frozenset(place for pairs in by_sampling.values() for place in _evenly(list(pairs.values()), most, seed))


def _evenly(pairs: list[list[PromptPlace]], most: int, seed: int) -> Iterable[PromptPlace]:
    """As many from the head of each list, and one more of some where that does not come out even."""
    level = 0
    while sum(min(len(pair), level + 1) for pair in pairs) <= most and level < max(map(len, pairs)):
        level += 1
    yield from (place for pair in pairs for place in pair[:level])
    over = sorted((pair[level] for pair in pairs if len(pair) > level), key=lambda place: _drawn(seed, *place[:3]))
    yield from over[: most - sum(min(len(pair), level) for pair in pairs)]


def _drawn(seed: int, *of: Hashable) -> bytes:
    """A number that stands for these values, the same in every run with that seed."""
    return sha256("/".join(map(str, (seed, *of))).encode()).digest()
