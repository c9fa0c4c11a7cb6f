"""Literal comparisons of answers for tests of the rules. No test and no assertion lives here."""

from typing import Any

from specbench.model.answers.compared_answers import AnswerComparison, ComparedAnswers, TokenScores
from specbench.model.result import PerArm


def an_answer(baseline: float | None = None, speculative: float | None = None, **fields: Any) -> ComparedAnswers:
    """A greedy answer, equal in both arms; with margins in nats, one that differs with these."""
    differs = speculative is not None
    known: dict[str, Any] = {
        "cell": "c4",
        "pair": 0,
        "index": 0,
        "bin": "short",
        "sampling": "greedy",
        "temperature": 0.0,
        "concurrency": 4,
        "by": "token_ids",
        "equal": not differs,
        "tokens": PerArm(96, 96),
        "first_difference": 20 if differs else None,
        "gap_nats": PerArm(baseline, speculative) if differs else None,
    }
    return ComparedAnswers(**{**known, **fields})


def greedy_run(
    compared: int, clear: int = 0, *, clear_baseline: int = 0, near: int = 0, margin: float = 3.0, **fields: Any
) -> AnswerComparison:
    """So many greedy answers: of them clear ones of each arm by this margin, then near-ties, then equal ones."""
    answers = [an_answer(0.0, margin) for _ in range(clear)]
    answers += [an_answer(margin, 0.0) for _ in range(clear_baseline)]
    answers += [an_answer(0.1, 0.05) for _ in range(near)]
    answers += [an_answer() for _ in range(compared - len(answers))]
    return AnswerComparison(compared=tuple(answers), **{"ruler": 1.0, **fields})


def scores(surprise: float, rank: float = 0.0, outside: float = 0.0, tokens: int = 96) -> TokenScores:
    """The means of one answer."""
    return TokenScores(tokens=tokens, surprise_nats=surprise, rank=rank, outside=outside)


def a_sample(baseline: TokenScores, speculative: TokenScores, **fields: Any) -> ComparedAnswers:
    """Two sampled answers, scored."""
    known: dict[str, Any] = {
        "sampling": "sampled",
        "temperature": 0.8,
        "equal": False,
        "gap_nats": None,
        "scores": PerArm(baseline, speculative),
    }
    return an_answer(**{**known, **fields})


def marked(
    both: int, only_speculative: int = 0, only_baseline: int = 0, mark: str = "looping", prompts: int = 300
) -> list[PerArm[frozenset[str]]]:
    """The marks of so many prompts, of which some have this one in both answers, or in one arm's alone."""
    has, none = frozenset({mark}), frozenset[str]()
    found = [PerArm(has, has)] * both + [PerArm(none, has)] * only_speculative + [PerArm(has, none)] * only_baseline
    return found + [PerArm(none, none)] * (prompts - len(found))
