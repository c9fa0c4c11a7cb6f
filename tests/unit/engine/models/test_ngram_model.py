"""The language model is the interpolation that its docstring states."""

import numpy as np
import pytest

from specbench.engine.models.distribution import Shaping, probability
from specbench.engine.models.ngram_model import LanguageModel, count_successors

TEXT = np.array([1, 2, 3, 1, 2, 3, 1, 2, 4], dtype=np.uint64)
TAIL = ((5, 0.75), (3, 0.25))


def model(doubt: float = 1.0) -> LanguageModel:
    """Contexts of one and two tokens over the text, and a tail of two tokens."""
    return LanguageModel([count_successors(TEXT, length, 1, 48) for length in (1, 2)], TAIL, doubt)


def test_two_contexts_and_the_tail_are_blended() -> None:
    """After (1, 2): 3 twice, 4 once, two different ones; the same after (2); under both the tail.

    p(3 | 2) = (2 + 2 * 0.25) / 5 = 0.5, so p(3 | 1, 2) = (2 + 2 * 0.5) / 5.
    """
    p = model().next_token([1, 2])

    assert probability(p, 3) == pytest.approx((2 + 2 * (2 + 2 * 0.25) / 5) / 5)
    assert probability(p, 4) == pytest.approx((1 + 2 * (1 / 5)) / 5)
    assert probability(p, 5) == pytest.approx(2 / 5 * 2 / 5 * 0.75)
    assert sum(p.probabilities) == pytest.approx(1.0)


def test_an_unseen_context_falls_back() -> None:
    """A context that the text lacks is shortened; where nothing matches, the tail alone remains."""
    assert model().next_token([9, 2]) == model().next_token([2])
    assert dict(zip(*(model().next_token([9]).tokens, [0.75, 0.25]), strict=True)) == dict(TAIL)


def test_only_the_last_tokens_count() -> None:
    """What lies before the longest context changes nothing."""
    assert model().next_token([7, 7, 1, 2]) == model().next_token([1, 2])


def test_a_short_context_is_not_mistaken_for_one_with_a_zero_token() -> None:
    """A context of one token and the same with token 0 before it are remembered apart."""
    text = np.array([0, 1, 2, 6, 1, 4], dtype=np.uint64)
    lm = LanguageModel([count_successors(text, length, 1, 48) for length in (1, 2)], TAIL)

    assert probability(lm.next_token([1]), 4) == probability(lm.next_token([1]), 2)
    assert probability(lm.next_token([0, 1]), 2) > probability(lm.next_token([0, 1]), 4)


def test_doubt_trusts_counts_less() -> None:
    """Doubt 3 weighs what lies below a context three times as much: p(3 | 2) = (2 + 6 * 0.25) / 9."""
    assert probability(model(doubt=3.0).next_token([9, 2]), 3) == pytest.approx((2 + 6 * 0.25) / 9)


def test_settings_are_applied_to_the_same_distribution() -> None:
    """Asking with settings gives the shaped distribution, asking again without them the plain one."""
    lm = model()

    assert lm.next_token([1, 2], Shaping(0.0)).tokens.tolist() == [3]
    assert len(lm.next_token([1, 2]).tokens) == 3
