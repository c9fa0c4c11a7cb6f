"""Acceptance: three sources, best first, and numbers that must not be mistaken for one another."""

from math import sqrt

import numpy as np
import pytest

from specbench.analysis.metrics.acceptance import acceptance_length, acceptance_of, alpha
from specbench.analysis.metrics.speculation_counts import PER_REQUEST
from specbench.analysis.stats.paired import t_quantile
from specbench.model.records import RequestRecord, SpeculationCounts
from tests.support.goldens import same_text
from tests.support.records import a_record, blocks_of


def _counted(rounds: int, drafted: int | None, accepted: int, positions: tuple[int, ...] | None = None) -> SpeculationCounts:
    return SpeculationCounts(rounds=rounds, drafted=drafted, accepted=accepted, per_position=positions)


def _request(acceptance: SpeculationCounts | None, bin_name: str = "short") -> RequestRecord:
    return a_record([10.0, 20.0, 30.0], [1, 3, 2], acceptance=acceptance, bin=bin_name)


def test_length_rate_and_alpha_are_three_numbers() -> None:
    """M-06 with positions: 110 of 200 drafted tokens kept in 50 rounds is rate .55, length 3.2, alpha 110 ÷ (110 + 38)."""
    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(50, 200, 110, (42, 32, 24, 12)))]]))

    assert summary.source == PER_REQUEST
    assert summary.length == pytest.approx(3.2)
    assert summary.rate == pytest.approx(0.55)
    assert summary.alpha == pytest.approx(110 / 148)
    assert summary.rejection_frequency == pytest.approx(38 / 50)
    assert summary.per_position == pytest.approx((0.84, 0.64, 0.48, 0.24))
    assert summary.conditional == pytest.approx((0.84, 32 / 42, 0.75, 0.5))


def test_counts_of_two_engines_add_before_they_divide() -> None:
    """M-01: 96 of 240 is .40 and 2.20 tokens a round, not the mean of two rates."""
    blocks = [[_request(_counted(60, 180, 90, (55, 25, 10)))], [_request(_counted(20, 60, 6, (5, 1, 0)))]]

    summary = acceptance_of(blocks_of("speculative", blocks))

    assert summary.rate == pytest.approx(0.40)
    assert summary.length == pytest.approx(2.20)
    assert summary.per_position == pytest.approx((0.750, 0.325, 0.125))


def test_rounds_and_requests_may_weigh_alike_or_not() -> None:
    """90 rounds of one request keep 1 token each, 10 of another keep 3: 2.2 a round, and 3.0 for the mean of the two."""
    blocks = [[_request(_counted(90, 360, 90)), _request(_counted(10, 40, 30))]]

    summary = acceptance_of(blocks_of("speculative", blocks))

    assert (summary.length, summary.length_by_request) == (2.2, 3.0)


def test_where_nothing_was_accepted_every_round_ended_in_a_rejection() -> None:
    """Drafts of uneven length leave nothing open: a whole round has an accepted token, and there is none."""
    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(100, 100, 0, (0, 0, 0)))]]))

    assert (summary.length, summary.alpha, summary.rejection_frequency) == (1.0, 0.0, 1.0)


def test_a_tree_has_no_alpha() -> None:
    """More drafted tokens than positions: several candidates stood in one place."""
    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(10, 60, 20, (10, 10)))]]))

    assert summary.alpha is None
    assert summary.reason is not None
    assert "chains" in summary.reason


def test_counts_per_position_that_miss_some_requests_give_no_alpha() -> None:
    """One of two requests told no positions: their sum falls short of the accepted tokens, and so would alpha's denominator."""
    requests = [_request(_counted(10, 40, 20, (8, 6, 4, 2))), _request(_counted(10, 40, 20))]

    summary = acceptance_of(blocks_of("speculative", [requests]))

    assert (summary.length, summary.alpha, summary.per_position) == (3.0, None, None)
    assert summary.reason is not None
    same_text("positions of some requests", summary.reason)


def test_drafts_of_very_uneven_length_have_no_alpha() -> None:
    """Ten rounds drafted 20 of 40 possible tokens: how many were accepted whole cannot be told from these counts."""
    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(10, 20, 15, (8, 4, 2, 1)))]]))

    assert summary.alpha is None
    assert summary.reason is not None
    same_text("drafts of uneven length", summary.reason)


def test_a_few_short_drafts_leave_alpha_known() -> None:
    """Two tokens missing of 400: alpha lies between 220 ÷ 296 and 220 ÷ 294."""
    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(100, 398, 220, (84, 64, 48, 24)))]]))

    assert summary.alpha == pytest.approx(220 / 295)


def test_the_interval_is_that_of_a_ratio_over_blocks() -> None:
    """Five blocks: se = sqrt(sum (a - r d)^2 ÷ (n (n - 1))) ÷ mean d, with t of 4 degrees of freedom."""
    rounds, accepted = np.array([50.0, 40, 60, 55, 45]), np.array([110.0, 70, 140, 120, 95])
    blocks = [[_request(_counted(int(d), None, int(a)))] for d, a in zip(rounds, accepted, strict=True)]

    summary = acceptance_of(blocks_of("speculative", blocks))

    ratio = accepted.sum() / rounds.sum()
    reach = t_quantile(0.975, 4) * sqrt(((accepted - ratio * rounds) ** 2).sum() / 20) / rounds.mean()
    assert (summary.length_low, summary.length_high) == pytest.approx((1 + ratio - reach, 1 + ratio + reach))


def test_one_observation_has_no_interval() -> None:
    """A single request in a single block has a length and no spread to judge it by."""
    summary = acceptance_of(blocks_of("speculative", [[_request(_counted(50, 200, 110))]]))

    assert summary.length == pytest.approx(3.2)
    assert (summary.length_low, summary.length_high) == (None, None)


def test_alpha_and_length_by_pair_are_those_of_each_pair() -> None:
    """The metrics hold one value a pair, which comparisons and guardrails read."""
    blocks = [[_request(_counted(50, 200, 110, (42, 32, 24, 12)))], [_request(_counted(10, 40, 40, (10, 10, 10, 10)))]]
    columns = blocks_of("speculative", blocks)

    assert acceptance_length(columns).by_unit().tolist() == pytest.approx([3.2, 5.0])
    assert alpha(columns).by_unit().tolist() == pytest.approx([110 / 148, 1.0])
