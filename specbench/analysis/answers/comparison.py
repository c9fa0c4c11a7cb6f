"""Two answers to one prompt: equal, or where they part. Pure; the baseline has not been asked about it yet."""

from collections.abc import Sequence
from itertools import takewhile

from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.result import PerArm

BY_IDS, BY_TEXT = "token_ids", "text"
HALF_CHARACTER = "\ufffd"
SAME_WORDS = 16
"""Characters that two answers have in common: if their first ids differ nevertheless, the ids are of different vocabularies."""


def compared(pair: KeptPair) -> ComparedAnswers:
    """What the two answers have in common, by token ids where those of both arms say it, else by text.

    Equal text is equal, whatever its ids: one text has several spellings in tokens. An answer that its limit cut off is compared
    up to its end, without the half character that it may end in.
    """
    answers = pair.answers
    equal = _equal(answers)
    by_ids = not equal and compares_by_ids(answers)
    if equal:
        at = None
    elif by_ids:
        at = len(common_ids(answers))
    else:
        at = len(common_text(answers))
    return ComparedAnswers(
        cell=pair.cell,
        pair=pair.pair,
        index=pair.index,
        bin=pair.bin,
        sampling=pair.sampling,
        temperature=pair.temperature,
        concurrency=pair.concurrency,
        by=BY_IDS if by_ids or (equal and _both_ids(answers) is not None) else BY_TEXT,
        equal=equal,
        tokens=PerArm(answers.baseline.tokens, answers.speculative.tokens),
        first_difference=at,
    )


def compares_by_ids(answers: PerArm[GeneratedAnswer]) -> bool:
    """Whether the place at which two unlike answers part is told by their token ids.

    It is not where an arm tells none, where the ids are alike although the texts are not (text was lost on its way), or where
    they are of different vocabularies.
    """
    both = _both_ids(answers)
    if both is None or both[0] == both[1]:
        return False
    prompts = answers.baseline.prompt_token_ids, answers.speculative.prompt_token_ids
    if None not in prompts and prompts[0] != prompts[1]:
        return False
    return bool(common_ids(answers)) or len(common_text(answers)) < SAME_WORDS


def common_ids(answers: PerArm[GeneratedAnswer]) -> tuple[int, ...]:
    """The token ids with which both answers begin; none where an arm tells no ids."""
    both = _both_ids(answers)
    return () if both is None else tuple(both[0][: _alike(*both)])


def common_text(answers: PerArm[GeneratedAnswer]) -> str:
    """The text with which both answers begin, cut back to whole characters."""
    before, after = _text(answers.baseline), _text(answers.speculative)
    return before[: _alike(before, after)].rstrip(HALF_CHARACTER)


def _equal(answers: PerArm[GeneratedAnswer]) -> bool:
    before, after = _text(answers.baseline), _text(answers.speculative)
    if before == after:
        return True
    shorter, longer = sorted((before, after), key=len)
    capped = answers.baseline if shorter is before else answers.speculative
    return capped.finish_reason == "length" and longer.startswith(shorter)


def _text(answer: GeneratedAnswer) -> str:
    """The text, without half a character at the end of an answer that its limit cut off."""
    return answer.text.rstrip(HALF_CHARACTER) if answer.finish_reason == "length" else answer.text


def _both_ids(answers: PerArm[GeneratedAnswer]) -> tuple[Sequence[int], Sequence[int]] | None:
    before, after = answers.baseline.token_ids, answers.speculative.token_ids
    return None if before is None or after is None else (before, after)


def _alike(one: Sequence[object], other: Sequence[object]) -> int:
    """How many places both have alike from the first."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))
