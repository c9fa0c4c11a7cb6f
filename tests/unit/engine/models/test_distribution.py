"""Sampling settings and draws do what they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.engine.models.distribution import Shaping, TokenDistribution, draw, one_hot, probability, residual, shaped
from tests.support.engines import table_distribution

P = table_distribution({7: 5, 3: 3, 9: 2})
weights = st.dictionaries(st.integers(0, 400), st.floats(1e-6, 1.0), min_size=1, max_size=30)
shapings = st.builds(Shaping, st.sampled_from([0.0, 0.2, 0.7, 1.0, 2.0]), st.floats(0.05, 1.0), st.integers(0, 10))


def told(distribution: TokenDistribution) -> dict[int, float]:
    """Token to probability, rounded to what a reader can check."""
    return {token: round(p, 6) for token, p in zip(distribution.tokens, distribution.probabilities, strict=True)}


@pytest.mark.parametrize(
    ("shaping", "expected"),
    [
        (Shaping(), {7: 0.5, 3: 0.3, 9: 0.2}),
        (Shaping(0.0), {7: 1.0}),
        (Shaping(0.0, 0.1, 3), {7: 1.0}),
        (Shaping(0.5), {7: 0.657895, 3: 0.236842, 9: 0.105263}),  # squares: 25, 9, 4 of 38
        (Shaping(1.0, 1.0, 2), {7: 0.625, 3: 0.375}),
        (Shaping(1.0, 0.5), {7: 1.0}),  # 0.5 is reached by the first alone
        (Shaping(1.0, 0.51), {7: 0.625, 3: 0.375}),
        (Shaping(1.0, 0.8), {7: 0.625, 3: 0.375}),
        (Shaping(1.0, 0.6, 1), {7: 1.0}),
        (Shaping(1.0, 0.7, 2), {7: 0.625, 3: 0.375}),  # top_p counts within what top_k left
    ],
)
def test_settings_shape_the_distribution(shaping: Shaping, expected: dict[int, float]) -> None:
    """Temperature, then top_k, then top_p."""
    assert told(shaped(P, shaping)) == expected


def test_a_draw_falls_into_its_share() -> None:
    """Tokens share the unit interval, the most probable first."""
    assert [draw(P, u) for u in (0.0, 0.499, 0.5, 0.79, 0.81, 0.999999999)] == [7, 7, 3, 3, 9, 9]


def test_equally_probable_tokens_keep_their_order() -> None:
    """Greedy choice among equals takes the lower token, in every run."""
    assert shaped(table_distribution({5: 1, 2: 1, 8: 1}), Shaping(0.0)).tokens.tolist() == [2]


def test_the_residual_is_what_the_draft_left() -> None:
    """norm(max(0, p - q)), over the tokens that p has more of."""
    q = table_distribution({7: 2, 3: 6, 1: 2})

    assert told(residual(P, q)) == {7: 0.6, 9: 0.4}


def test_the_residual_of_a_best_guess_leaves_it_out() -> None:
    """With a one-hot q everything but the guess remains, in proportion."""
    assert told(residual(P, one_hot(7))) == {3: 0.6, 9: 0.4}


def test_equal_distributions_leave_themselves() -> None:
    """Nothing is left of p - p; a rejection that only rounding can cause still draws from p."""
    assert residual(P, P) is P


def test_what_is_not_listed_has_no_probability() -> None:
    """A token outside the support has probability 0."""
    assert (probability(P, 7), probability(P, 8)) == (0.5, 0.0)


@given(weights, shapings)
def test_shaping_keeps_a_distribution(table: dict[int, float], shaping: Shaping) -> None:
    """Probabilities are positive, descending, and sum to one, over some of the same tokens."""
    made = shaped(table_distribution(table), shaping)

    assert sum(made.probabilities) == pytest.approx(1.0)
    assert all(p > 0 for p in made.probabilities)
    assert list(made.probabilities) == sorted(made.probabilities, reverse=True)
    assert set(made.tokens) <= set(table)


@given(weights, weights, st.floats(0, 1, exclude_max=True))
def test_a_residual_draw_is_one_that_the_target_prefers(p: dict[int, float], q: dict[int, float], u: float) -> None:
    """Whatever is drawn after a rejection has more probability under the target than under the draft, unless they are equal."""
    target, draft = table_distribution(p), table_distribution(q)
    token = draw(residual(target, draft), u)

    assert probability(target, token) >= probability(draft, token) - 1e-12
