"""What a run keeps of two answers to one prompt: a line of `answers.jsonl`. No text but the examples'."""

from dataclasses import dataclass

from specbench.model.result import PerArm


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScores:
    """Means over the tokens of one answer, scored by the baseline as the request shaped its distribution.

    `surprise_nats`: log probability minus its expectation. `rank`: share of tokens that are the most probable one minus the
    probability of that. `outside`: share that the distribution cannot yield (a log probability of NaN or minus infinity counts).
    """

    tokens: int
    surprise_nats: float
    rank: float
    outside: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAnswers:
    """Two answers to one prompt. `cell` is None for prompts that were sent after the last pair, `pair` too.

    `first_difference`: the token (ids) or character (`by` text) at which they part, from 0; None where equal.
    `gap_nats`: there, the baseline's best log probability minus that of each arm's token; None where the baseline was not asked.
    `widest_gap_nats`: the same over all tokens of each arm's answer; None where the engine scores no given text.
    `scores`: None where not scored. `reason`: why the baseline's answer to a question is missing. `marks`: of prompts that were
    sent after the last pair alone; those of others stand in their records.
    """

    cell: str | None
    pair: int | None
    index: int
    bin: str
    sampling: str
    temperature: float
    concurrency: int | None
    by: str
    equal: bool
    tokens: PerArm[int]
    first_difference: int | None = None
    gap_nats: PerArm[float] | None = None
    widest_gap_nats: PerArm[float] | None = None
    scores: PerArm[TokenScores] | None = None
    reason: str | None = None
    marks: PerArm[tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerExample:
    """80 characters around a first difference, of both arms, and what the baseline thinks of each arm's token there."""

    cell: str | None
    index: int
    texts: PerArm[str]
    probabilities: PerArm[float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerComparison:
    """All that is known of a run's answers: what `answers.jsonl` holds.

    `ruler`: share of greedy positions at which the baseline, asked, puts its own token first; None where it was not asked.
    `unanswerable`: why the baseline cannot be asked at all (engine, refusal, misaligned), by question `greedy` or `sampled`.
    """

    compared: tuple[ComparedAnswers, ...]
    examples: tuple[AnswerExample, ...] = ()
    ruler: float | None = None
    unanswerable: tuple[tuple[str, str], ...] = ()
