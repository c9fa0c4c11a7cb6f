"""Content events grouped into engine steps, which of their stamps are only upper bounds, and what their tokens look like. Pure.

Steps: where the engine's rule says that an event is a step, it is one, however fast; only an event that brought no token by an
exact count belongs to the step before it (SGLang and LMDeploy split one output into a reasoning and an answer event). Where the
rule says that an event is one token, a verified batch is one step of several events. llama.cpp stamps each event with the moment
at which its batch was sampled, if asked: events of one moment are one step, exactly. Else events no further apart than `burst_ns`
from the one before are, as a batch is written in one go; a busy machine may cut it in two.

Tokens: where events hold several, it is a stream interval, hidden tokens, or drafts that were accepted. An engine that accepts
drafts brings several tokens in the time of one, in numbers that vary by chance from step to step, and with as much text for each
token. A server that collects tokens takes as much longer as it collects, or brings what its clock allows; hidden tokens have no
text, and usage counts them; a fixed interval does not vary. Only a stream that names its tokens and shows all marks of drafts is
called so: another may still speculate, and then somebody has to say so.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from math import sqrt
from statistics import mean, median, pvariance

from specbench.model.records import Grouping, StreamFormat, TokenSource

EXACT: tuple[TokenSource, ...] = ("token_ids", "running_usage", "engine_counts", "logprobs")
"""Sources that tell how many tokens one event holds."""

BY_TOKEN: tuple[TokenSource, ...] = ("token_ids", "logprobs")
"""Sources that name each token of an event: it was shown. Usage counts hidden ones too."""

SEVERAL = 1.2
"""Tokens per event on average from which events are said to hold several."""

FEWEST = 10
"""Inner events, below which no pattern is seen."""

FEWEST_SIZES = 3
"""Drafts bring sizes of three kinds at least, single tokens among them: two kinds may be an interval and what it left over."""

TEXT_SHARE = 0.75
"""Text for each token of larger events, as a share of that of single tokens; hidden tokens have none."""

CHANGES = 0.5
"""Changes of size from event to event, as a share of what sizes in random order show; stretches of an interval change less."""

TOGETHER = 4
VARIES_ON = 0.4
"""Variance of the sum of four events, as a share of what four independent ones have: what a clock collects adds up alike."""

EVEN_SHARE = 0.9
NEARLY_EVEN = 0.2


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


def grouping_of(tokens: Sequence[int], pieces: Sequence[str], times_ns: Sequence[int], source: TokenSource | None) -> Grouping:
    """What the tokens of an answer's events look like; the first and the last event are left out.

    Args:
        tokens: (n_events,) tokens of each event, `pieces` their text, `times_ns` when they came.
        source: where the tokens are known from; only some tell how many a single event holds.
    """
    inner = tokens[1:-1]
    if not inner or source is None or source == "events":
        return "unclear"
    if sum(inner) < SEVERAL * len(inner) and max(inner) < FEWEST_SIZES:
        return "single"
    if source not in EXACT:
        return "unclear"
    if is_even(inner):
        return "interval"
    texts = [len(piece) for piece in pieces[1:-1]]
    if (share := _for_each_token(inner, texts)) is not None and share < TEXT_SHARE:
        return "hidden"
    gaps = [later - earlier for earlier, later in pairwise(times_ns)][: len(inner)]
    shown = source in BY_TOKEN and share is not None and len(inner) >= FEWEST and _sizes(inner) >= FEWEST_SIZES
    return "drafts" if shown and _irregular(inner) and _in_one_step(inner, gaps) else "unclear"


def is_even(sizes: Sequence[int]) -> bool:
    """Whether these are all the same number but for an odd one out, or large and nearly the same."""
    middle = median(sizes)
    if middle < 2:
        return False
    same = sum(size == middle for size in sizes)
    near = sum(abs(size - middle) <= NEARLY_EVEN * middle for size in sizes)
    return max(same, near if middle >= 1 / NEARLY_EVEN else 0) >= EVEN_SHARE * len(sizes)


def _for_each_token(tokens: Sequence[int], texts: Sequence[int]) -> float | None:
    """Text for each token of the larger events ÷ text of the single tokens; None where one of them has none."""
    single = [text for size, text in zip(tokens, texts, strict=True) if size == 1]
    larger = [(size, text) for size, text in zip(tokens, texts, strict=True) if size > 1]
    if not any(single) or not larger:
        return None
    return sum(text for _, text in larger) / sum(size for size, _ in larger) / mean(single)


def _sizes(tokens: Sequence[int]) -> int:
    """How many sizes occur more than once, single tokens among them; 0 where these do not."""
    often = [size for size, count in Counter(tokens).items() if count > 1]
    return len(often) if 1 in often else 0


def _irregular(tokens: Sequence[int]) -> bool:
    """Whether sizes follow each other by chance: no stretches of one size, and no large one because a small one went before."""
    counts = Counter(tokens)
    changes = sum(later != earlier for earlier, later in pairwise(tokens)) / (len(tokens) - 1)
    by_chance = 1 - sum((count / len(tokens)) ** 2 for count in counts.values())
    sums = [sum(tokens[start : start + TOGETHER]) for start in range(len(tokens) - TOGETHER + 1)]
    return changes >= CHANGES * by_chance and pvariance(sums) >= VARIES_ON * TOGETHER * pvariance(tokens)


def _in_one_step(tokens: Sequence[int], gaps_ns: Sequence[int]) -> bool:
    """Whether larger events take about as long as single tokens: nearer to one step than to as many steps as they have tokens."""
    single = [gap for size, gap in zip(tokens, gaps_ns, strict=True) if size == 1]
    larger = [(size, gap) for size, gap in zip(tokens, gaps_ns, strict=True) if size > 1]
    if not single or not larger or median(single) <= 0:
        return False
    return median(gap for _, gap in larger) < sqrt(mean(size for size, _ in larger)) * median(single)


def _joins(gap_ns: int, tokens: int, rule: StreamFormat) -> bool:
    if rule.event_is_step:
        return tokens == 0
    return rule.burst_ns is not None and gap_ns <= rule.burst_ns
