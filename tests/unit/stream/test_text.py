"""A looping answer is recognised by its end, and an ordinary one is not."""

import random

import pytest

from specbench.stream.record import is_looping

PROSE = "".join(random.Random(7).choices("etaoin shrdlu", k=800))


@pytest.mark.parametrize("piece", ["x", "0, ", "and so on. ", "The same sentence, about as long as a line of text can be. "])
def test_a_piece_over_and_over_is_a_loop(piece: str) -> None:
    """From a single character to a sentence."""
    assert is_looping("An introduction. " + piece * (700 // len(piece)))


@pytest.mark.parametrize("text", ["", "short", "ha" * 70, PROSE[:700], "abc " * 200 + PROSE[:160]])
def test_other_texts_are_not(text: str) -> None:
    """Too short to tell, without a period, or out of the loop again."""
    assert not is_looping(text)
