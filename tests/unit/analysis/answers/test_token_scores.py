"""Scores of given tokens are those of the distribution that the request shaped; what is not told lies outside."""

from math import exp, isfinite, log

import pytest

from specbench.analysis.answers.token_scores import RequestShape, first_share, gap_nats, token_scores, widest_gap_nats
from specbench.model.answers.token_probabilities import TokenProbabilities

THREE = ((1, log(0.6)), (2, log(0.3)), (3, log(0.1)))


def at(token: int, log_p: float | None = None) -> TokenProbabilities:
    """A place with three tokens of 60, 30 and 10 %, at which this one stands."""
    return TokenProbabilities(token=token, log_p=dict(THREE).get(token, log_p), best=THREE)


def test_a_gap_is_what_the_best_token_has_more() -> None:
    """0 where the best one stands, ln 2 at the second; one that is not told lies a nat behind the last of the best."""
    assert gap_nats(at(1)) == 0.0
    assert gap_nats(at(2)) == pytest.approx(log(2))
    zero = TokenProbabilities(token=5, log_p=-0.1, best=((5, -0.1), (0, -0.9)))
    assert gap_nats(zero, 0) == pytest.approx(0.8)  # a token's id may be 0
    assert gap_nats(at(1), 9) == pytest.approx(log(6) + 1)
    assert gap_nats(at(9)) == 99  # its own probability was told, and is 0 or no number
    assert gap_nats(at(9, log(0.001))) == pytest.approx(log(600))
    assert gap_nats(at(1), 3) == pytest.approx(log(6))
    assert widest_gap_nats([at(1), at(3), at(2)]) == pytest.approx(log(6))


def test_nothing_told_is_no_gap() -> None:
    """A place without any number says nothing."""
    silent = TokenProbabilities(token=1, log_p=None, best=())

    assert gap_nats(silent) is None
    assert widest_gap_nats([silent]) is None


def test_the_share_of_first_places() -> None:
    """Two of four tokens are the best ones; of none there is no share; tokens of equal probability are both first."""
    tied = TokenProbabilities(token=2, log_p=-0.7, best=((1, -0.7), (2, -0.7)))

    assert first_share([at(1), at(2), at(3), tied]) == 0.5
    assert first_share([]) is None


def test_scores_by_hand() -> None:
    """At temperature 1 the surprise of the best token is ln .6 + entropy, its rank 1 - .6; nothing lies outside."""
    entropy = -(0.6 * log(0.6) + 0.3 * log(0.3) + 0.1 * log(0.1))
    found = token_scores([at(1)], RequestShape(temperature=1.0))

    assert found is not None
    assert found.surprise_nats == pytest.approx(log(0.6) + entropy)
    assert found.rank == pytest.approx(0.4)
    assert (found.tokens, found.outside) == (1, 0.0)


@pytest.mark.parametrize(
    "shape",
    [
        RequestShape(temperature=1.0),
        RequestShape(temperature=0.7),
        RequestShape(temperature=1.3, top_k=2),
        RequestShape(temperature=1.0, top_p=0.8),
        RequestShape(temperature=0.8, top_p=0.95, top_k=3),
    ],
)
def test_tokens_drawn_as_the_request_asked_have_mean_zero(shape: RequestShape) -> None:
    """The scores of the three tokens, weighed by how often each is drawn, add up to nothing."""
    weights = [exp(log_p / shape.temperature) for _, log_p in THREE][: shape.top_k]
    if shape.top_p is not None:
        reached = [sum(weights[: count + 1]) / sum(weights) for count in range(len(weights))]
        weights = weights[: 1 + next(place for place, share in enumerate(reached) if share >= shape.top_p)]
    found = [token_scores([at(token)], shape) for token in range(1, len(weights) + 1)]
    drawn = [weight / sum(weights) for weight in weights]

    assert sum(share * one.surprise_nats for share, one in zip(drawn, found, strict=True) if one) == pytest.approx(0, abs=1e-9)
    assert sum(share * one.rank for share, one in zip(drawn, found, strict=True) if one) == pytest.approx(0, abs=1e-9)
    assert [one.outside for one in found if one] == [0.0] * len(weights)


@pytest.mark.parametrize(
    ("shape", "token"),
    [
        (RequestShape(temperature=1.0, top_k=1), 2),
        (RequestShape(temperature=1.0, top_p=0.5), 2),
        (RequestShape(temperature=1.0, top_p=0.85), 3),
        (RequestShape(temperature=1.0), 9),
    ],
)
def test_a_token_that_the_request_rules_out_lies_outside(shape: RequestShape, token: int) -> None:
    """Beyond top_k, beyond top_p, or not among those told."""
    found = token_scores([at(token)], shape)

    assert found is not None
    assert found.outside == 1.0
    assert found.surprise_nats < 0


@pytest.mark.parametrize(
    "place",
    [
        TokenProbabilities(token=1, log_p=None, best=THREE[1:]),  # its own was NaN or minus infinity
        TokenProbabilities(token=1, log_p=None, best=()),  # all were
    ],
)
def test_a_token_without_a_number_lies_outside(place: TokenProbabilities) -> None:
    """And its score is a number all the same."""
    found = token_scores([place], RequestShape(temperature=1.0))

    assert found is not None
    assert found.outside == 1.0
    assert isfinite(found.surprise_nats)
    assert isfinite(found.rank)


def test_greedy_and_empty_answers_have_no_scores() -> None:
    """At temperature 0 there is no distribution to draw from."""
    assert token_scores([at(1)], RequestShape(temperature=0.0)) is None
    assert token_scores([], RequestShape(temperature=1.0)) is None
