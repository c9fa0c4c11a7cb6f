"""What a result says of the answers of both arms, in numbers. No import of a result: it is a part of one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyCounts:
    """How greedy answers compare. `near_ties` differ, clearly for neither arm.

    `clear`: speculative ones that part where the baseline is sure; `clear_baseline`: those of its own that it contradicts as
    clearly when asked. `unknown`: they differ, and the baseline was not asked, or did not answer.
    """

    compared: int
    equal: int
    near_ties: int
    clear: int
    clear_baseline: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyAtLoad:
    """How greedy answers compare at one load: `concurrency`, or else `cell`; both None for prompts sent after the last pair."""

    concurrency: int | None
    cell: str | None
    counts: GreedyCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledShift:
    """By how much the sampled answers of one setting differ, in means over prompts, speculative minus baseline.

    `surprise_nats` a token with its standard error; `detectable_nats` would have been found 9 times in 10. `p`: two-sided, of the
    clearest of the three differences, all tests counted.
    """

    sampling: str
    prompts: int
    surprise_nats: float
    surprise_se: float
    rank: float
    outside: float
    detectable_nats: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkCounts:
    """How many of the prompts that both arms answered have a mark in one arm's answer alone, and in the baseline's at all."""

    mark: str
    answers: int
    only_speculative: int
    only_baseline: int
    baseline: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExample:
    """Two answers around their first difference, and how probable the baseline finds each arm's token there."""

    cell: str | None
    index: int
    baseline: str
    speculative: str
    baseline_probability: float | None
    speculative_probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswers:
    """What is known of the answers. `clear_nats`: from which margin on a difference is clear.

    `widest_near_tie_nats`: the largest margin below it; `median_first_difference`: the token or character at which half of the
    answers that differ have parted. None where nothing was compared.
    """

    greedy: GreedyCounts | None = None
    clear_nats: float | None = None
    widest_near_tie_nats: float | None = None
    median_first_difference: float | None = None
    by_load: tuple[GreedyAtLoad, ...] = ()
    sampled: tuple[SampledShift, ...] = ()
    marks: tuple[MarkCounts, ...] = ()
    examples: tuple[ShownExample, ...] = ()
