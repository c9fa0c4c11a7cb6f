"""Content events grouped into engine steps, and which of their stamps are only upper bounds. Pure.

Where the engine's rule says that an event is a step, it is one, however fast; only an event that brought no token by an exact
count belongs to the step before it (SGLang and LMDeploy split one output into a reasoning and an answer event). Where the rule
says that an event is one token, a verified batch is one step of several events. llama.cpp stamps each event with the moment at
which its batch was sampled, if asked: events of one moment are one step, exactly. Else events no further apart than `burst_ns`
from the one before are, as a batch is written in one go; a busy machine may cut it in two.
"""

from collections.abc import Sequence
from itertools import groupby, pairwise

from specbench.model.records import StreamFormat


def engine_timestamps(sampled_ms: Sequence[float | None]) -> tuple[float, ...] | None:
    """When the engine had sampled each event's token, by its own clock; None where an event does not tell, or time went back."""
    told = tuple(moment for moment in sampled_ms if moment is not None)
    return told if len(told) == len(sampled_ms) and all(later >= earlier for earlier, later in pairwise(told)) else None


def steps_of_moments(moments: Sequence[float]) -> tuple[int, ...] | None:
    """How many consecutive content events each step holds, told by the engine's clock; None where every event is a step."""
    sizes = tuple(len(list(batch)) for _, batch in groupby(moments))
    return None if len(sizes) == len(moments) else sizes


def step_sizes(times_ns: Sequence[int], tokens: Sequence[int], rule: StreamFormat) -> tuple[int, ...] | None:
    """How many consecutive content events each step holds; None where every event is a step.

    Args:
        times_ns: (n_events,) arrival times, not falling.
        tokens: (n_events,) tokens of each event by an exact count.
    """
    sizes: list[int] = []
    for place, time_ns in enumerate(times_ns):
        if place and _joins(time_ns - times_ns[place - 1], tokens[place], rule):
            sizes[-1] += 1
        else:
            sizes.append(1)
    return None if len(sizes) == len(times_ns) else tuple(sizes)


def censored(times_ns: Sequence[int], sizes: Sequence[int] | None) -> tuple[int, ...]:
    """Indices of the content events that a later step's event was read with: their time is only an upper bound.

    The kernel merges what waits and stamps it with its last segment, so of several steps under one stamp only the last step
    is timed.
    """
    found: list[int] = []
    start = 0
    for size in sizes if sizes is not None else (1,) * len(times_ns):
        end = start + size
        if end < len(times_ns) and times_ns[end] == times_ns[end - 1]:
            found.extend(place for place in range(start, end) if times_ns[place] == times_ns[end])
        start = end
    return tuple(found)


def _joins(gap_ns: int, tokens: int, rule: StreamFormat) -> bool:
    if rule.event_is_step:
        return tokens == 0
    return rule.burst_ns is not None and gap_ns <= rule.burst_ns
