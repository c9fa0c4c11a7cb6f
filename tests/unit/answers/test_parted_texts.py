"""Of the tokens from which two texts may have been made, those count that put both arms nearest to the best one."""

import pytest

from specbench.answers.parted_texts import UNTOLD, Parting, fitting, parting
from specbench.model.result import PerArm
from specbench.telemetry.engines.rulers import NextToken

FOO, FOOBAR, BAR, BLANK = NextToken(" foo", -0.5), NextToken(" foobar", -0.75), NextToken(" bar", -3.0), NextToken(" ", -6.0)
BEST = (FOO, FOOBAR, BAR, BLANK)


def test_a_token_that_begins_another_one() -> None:
    """The baseline said ` foo` and `(`, the other arm ` foobar`: a near-tie here, though both may go on with ` foo`."""
    assert parting(BEST, PerArm("x foo(", "x foobar"), 1, 5) == Parting(PerArm(0.0, 0.25), FOO)


def test_two_spellings_of_what_is_alike_are_no_difference() -> None:
    """Both say ` foobar` and part behind it: that one may have said ` foo` and `bar` says nothing of what follows."""
    assert parting(BEST, PerArm(" foobar(", " foobar)"), 0, 7) == Parting(None, FOO)


def test_a_clear_difference_stays_one() -> None:
    """` bar` lies 2.5 nats behind; that both may begin with a blank takes nothing from it."""
    assert parting(BEST, PerArm(" foo(", " bar("), 0, 1) == Parting(PerArm(0.0, 2.5), BLANK)


def test_a_token_that_is_none_of_the_best() -> None:
    """It lies a nat behind the last of them, and nothing is common."""
    assert fitting(BEST, "quite", 0) == [UNTOLD]
    assert parting(BEST, PerArm(" foo", "quite"), 0, 0) == Parting(PerArm(0.0, 6.5), None)


@pytest.mark.parametrize(
    ("baseline", "speculative", "gaps"),
    [(" foo", "", PerArm(0.0, 0.25)), ("", " foo", PerArm(0.25, 0.0)), ("", " bar", PerArm(0.0, 2.5))],
)
def test_an_answer_that_has_ended(baseline: str, speculative: str, gaps: PerArm[float]) -> None:
    """How probable its end was is not told: it is the least that it can be, none where the other arm's token is not the best."""
    assert parting(BEST, PerArm(baseline, speculative), 0, 0) == Parting(gaps, None)


def test_a_special_token_without_text_fits_nothing() -> None:
    """An end of the answer is told as an empty text."""
    assert fitting((NextToken("", -0.1), FOO), " foo", 0) == [FOO]
