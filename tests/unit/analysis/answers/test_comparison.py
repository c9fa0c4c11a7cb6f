"""Two answers to one prompt are equal, or part at a token or a character."""

from typing import Any

import pytest

from specbench.analysis.answers.comparison import common_ids, common_text, compared, compares_by_ids
from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.result import PerArm


def answer(text: str, ids: list[int] | None = None, finish: str = "stop", prompt: list[int] | None = None) -> GeneratedAnswer:
    """One answer."""
    return GeneratedAnswer(
        text=text,
        content=text,
        finish_reason=finish,
        token_ids=None if ids is None else tuple(ids),
        prompt_token_ids=None if prompt is None else tuple(prompt),
        tokens=len(text) if ids is None else len(ids),
    )


def of(baseline: GeneratedAnswer, speculative: GeneratedAnswer, **fields: Any) -> ComparedAnswers:
    """What the two have in common."""
    known: dict[str, Any] = {"cell": "c4", "pair": 1, "index": 7, "bin": "b", "sampling": "greedy", "temperature": 0.0}
    pair = KeptPair(**{**known, "concurrency": 4, "body": b"{}", "answers": PerArm(baseline, speculative), **fields})
    return compared(pair)


LONG = "sixteen characters are the same"


@pytest.mark.parametrize(
    ("baseline", "speculative", "by", "differs"),
    [
        (answer("abc", [1, 2, 3]), answer("abc", [1, 2, 3]), "token_ids", None),
        (answer("abc"), answer("abc", [1, 2, 3]), "text", None),
        (answer("abc", [1, 2, 3]), answer("abd", [1, 2, 4]), "token_ids", 2),
        (answer("abc"), answer("abd"), "text", 2),
        (answer("abc", [1, 2, 3]), answer("abd"), "text", 2),
        # One answer goes on where the other ends.
        (answer("ab", [1, 2]), answer("abc", [1, 2, 3]), "token_ids", 2),
        (answer("abc"), answer("ab"), "text", 2),
        # Equal text is equal, whatever its tokens.
        (answer("abc", [1, 2, 3]), answer("abc", [9, 3]), "token_ids", None),
        # Text that was lost on its way has the same ids.
        (answer("abc", [1, 2, 3]), answer("ac", [1, 2, 3]), "text", 1),
        # Empty answers.
        (answer(""), answer(""), "text", None),
        (answer("", []), answer("a", [1]), "token_ids", 0),
        (answer(""), answer("a"), "text", 0),
        # A limit cut both off, one inside a character; or one earlier in the text.
        (answer("ab\ufffd", finish="length"), answer("ab", finish="length"), "text", None),
        (answer("ab\ufffd", [1, 9], "length"), answer("abé", [1, 8], "length"), "token_ids", None),
        (answer("ab", finish="length"), answer("abc"), "text", None),
        (answer("ab"), answer("abc", finish="length"), "text", 2),
        (answer("", finish="length"), answer("abc"), "text", None),
        # Half a character in both, the other half unlike: the common text ends before it.
        (answer("ab\ufffdx"), answer("ab\ufffdy"), "text", 2),
        # Ids of other vocabularies, as the prompts tell, or the same text at their very beginning.
        (answer("abc", [1, 2, 3], prompt=[5]), answer("abd", [1, 4], prompt=[6]), "text", 2),
        (answer("abc", [1, 2, 3], prompt=[5]), answer("abd", [1, 4], prompt=[5]), "token_ids", 1),
        (answer(LONG + "a", [1, 2]), answer(LONG + "b", [7, 8]), "text", 31),
        (answer(" the", [1]), answer(" and", [2]), "token_ids", 0),
    ],
)
def test_where_two_answers_part(baseline: GeneratedAnswer, speculative: GeneratedAnswer, by: str, differs: int | None) -> None:
    """The same whichever arm said which, but for what only one of them says."""
    for found in (of(baseline, speculative), of(speculative, baseline)):
        assert (found.by, found.equal, found.first_difference) == (by, differs is None, differs)


def test_what_is_kept_of_a_pair() -> None:
    """Where it stood, and how long both were; nothing was asked yet."""
    assert of(answer("abc", [1, 2, 3]), answer("ab", [1, 2])) == ComparedAnswers(
        cell="c4",
        pair=1,
        index=7,
        bin="b",
        sampling="greedy",
        temperature=0.0,
        concurrency=4,
        by="token_ids",
        equal=False,
        tokens=PerArm(3, 2),
        first_difference=2,
    )


def test_the_common_beginning_of_a_question() -> None:
    """In ids where both tell them; in whole characters."""
    both = PerArm(answer("ab\ufffdx", [1, 2, 3]), answer("ab\ufffdy", [1, 2, 4]))

    assert (common_ids(both), common_text(both), compares_by_ids(both)) == ((1, 2), "ab", True)
    assert common_ids(PerArm(answer("a", [1]), answer("a"))) == ()
