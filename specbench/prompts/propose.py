"""Bins for a dataset, from the lengths of its requests: bands that part short from long where the data part themselves. Pure.

On a logarithmic scale, up to three bands of prompts and in each up to two of answers; another cut must explain ten more points of
the variance. Ends lie where all but the outermost requests are, rounded outwards to two digits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

from specbench.model.scenario import Bin

MOST_INPUT, MOST_OUTPUT = 3, 2
CELLS = 64  # of the histogram on which cuts are sought: the best ones are exact there
GAIN = 0.10  # of the variance, which another cut must explain
LEAST_SHARE, LEAST_ROWS = 0.05, 200
OUTERMOST = (0.5, 99.5)  # percentiles, of prompts and of answers, so that about two in a hundred requests stay outside
OTHER = "other"
MOST_LABELS = 100  # that one bin names
STATED_OUTPUT = (32, 256)  # where nobody recorded how long answers are

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Requests that are binned by themselves: their labels (none: all), and how each bin's name begins."""

    name: str
    labels: tuple[str, ...]
    rows: NDArray[np.bool_]


def groups_of(label: NDArray[np.int64], labels: Sequence[str], most: int) -> tuple[RowGroup, ...]:
    """The labels with a bin of their own, the most frequent first; the others are one group together.

    Args:
        label: (n,) the place of each request's label in `labels`, −1 where it has none.
        most: how many groups there may be.
    """
    if not labels:
        return (RowGroup("", (), np.ones(len(label), dtype=bool)),)
    counts = np.bincount(label[label >= 0], minlength=len(labels))
    order = sorted(range(len(labels)), key=lambda place: (-counts[place], labels[place]))
    large = [place for place in order if counts[place] >= LEAST_SHARE * len(label)]
    rest = [place for place in order if place not in large]
    if len(large) + bool(rest) > most:
        large, rest = large[: max(0, most - 1)], [*large[max(0, most - 1) :], *rest]
    found = [RowGroup(_plain(labels[place]), (labels[place],), label == place) for place in large]
    if rest:
        named = rest[:MOST_LABELS]
        found.append(RowGroup(OTHER, tuple(labels[place] for place in named), np.isin(label, named)))
    return tuple(found)


def proposed_bins(
    before: Floats, after: Floats, groups: Sequence[RowGroup], most: int, output: tuple[int, int] | None = None
) -> tuple[Bin, ...]:
    """At most so many bins over these requests, all of one weight.

    Args:
        before, after: (n,) tokens of each prompt and its answer, the latter NaN where not known.
        output: the band of answers for all bins; None where the answers' own lengths decide.
    """
    room = max(1, most // len(groups))
    bins: list[Bin] = []
    for group in groups:
        inputs = _bands(before[group.rows], min(MOST_INPUT, room), len(before))
        for low, high in inputs:
            answers = after[group.rows & (before >= low) & (before <= high) & np.isfinite(after)]
            bands = [] if output else _bands(answers, min(MOST_OUTPUT, room // len(inputs)), len(before))
            for band in bands or [output or STATED_OUTPUT]:
                parts = (group.name, f"{low}-{high}", f"out{band[0]}-{band[1]}" if len(bands) > 1 else "")
                bins.append(
                    Bin(
                        name="-".join(filter(None, parts)),
                        input_tokens=(low, high),
                        output_tokens=band,
                        weight=1.0,
                        label=group.labels,
                    )
                )
    return tuple(bins)


def weighted(bins: Sequence[Bin], counts: Sequence[int]) -> tuple[Bin, ...]:
    """The bins with their shares of the requests inside, to two digits; a bin without any is left out."""
    total = sum(counts) or 1
    shares = [max(0.01, round(count / total, 2)) for count in counts]
    return tuple(replace(one, weight=share) for one, share, count in zip(bins, shares, counts, strict=True) if count)


def _bands(tokens: Floats, most: int, of_all: int) -> list[tuple[int, int]]:
    """Bands that follow upon each other and hold enough requests each; one where the data have no parts."""
    if not len(tokens):
        return []
    low = float(np.percentile(tokens, OUTERMOST[0], method="lower"))
    high = float(np.percentile(tokens, OUTERMOST[1], method="higher"))
    ends = (_rounded(low, floor), _rounded(high, ceil))
    cuts = [_rounded(2.0**cut, round) for cut in cuts_of(np.log2(np.maximum(tokens, 1.0)), max(1, most))]
    cuts = sorted({cut for cut in cuts if ends[0] < cut <= ends[1]})
    while cuts:
        edges = [ends[0], *cuts, ends[1] + 1]
        held = [int(((tokens >= start) & (tokens < stop)).sum()) for start, stop in pairwise(edges)]
        least = min(range(len(held)), key=held.__getitem__)
        if held[least] >= max(LEAST_ROWS, LEAST_SHARE * of_all):
            return [(start, stop - 1) for start, stop in pairwise(edges)]
        # It joins the smaller of its neighbours.
        beside = [place for place in (least - 1, least + 1) if 0 <= place < len(held)]
        del cuts[min(least, min(beside, key=held.__getitem__))]
    return [ends]


def cuts_of(values: Floats, most: int) -> list[float]:
    """Where to part these values into at most so many classes, so that each class varies least in itself (Fisher and Jenks)."""
    if most < 2 or float(values.max()) == float(values.min()):
        return []
    counts, edges = np.histogram(values, bins=CELLS)
    middle = (edges[:-1] + edges[1:]) / 2
    sums = [np.concatenate([[0.0], np.cumsum(counts * middle**power)]) for power in range(3)]
    start, stop = np.arange(CELLS + 1)[:, None], np.arange(CELLS + 1)[None, :]
    held, first, second = (one[stop] - one[start] for one in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.where((stop > start) & (held > 0), second - first**2 / np.maximum(held, 1.0), 0.0)
    within[stop <= start] = np.inf
    whole = float(within[0, CELLS])
    best, left = [], within[0]
    came_from: list[NDArray[np.int64]] = []
    explained = 0.0
    for _ in range(most - 1):
        if whole <= 0:
            break
        reached = left[:, None] + within
        came_from.append(reached.argmin(axis=0))
        left = reached.min(axis=0)
        now = 1 - float(left[CELLS]) / whole
        if now < explained + GAIN:
            break
        explained, best = now, _traced(came_from)
    return [float(edges[place]) for place in best]


def _traced(came_from: Sequence[NDArray[np.int64]]) -> list[int]:
    place, found = CELLS, []
    for places in reversed(came_from):
        place = int(places[place])
        found.append(place)
    return found[::-1]


def _rounded(value: float, how: Callable[[float], int]) -> int:
    """The number to two digits, by this rounding; at least 1."""
    step: int = 10 ** max(0, floor(log10(max(value, 1.0))) - 1)
    return max(1, int(how(value / step)) * step)


def _plain(label: str) -> str:
    """The label as part of a bin's name."""
    kept = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_.") else "_" for sign in label.strip())
    return kept.strip("_.")[:32] or "label"
