"""Distributions for drawing: shared probabilities, finite values, both arms."""

import numpy as np
import pytest

from specbench.analysis.shown import PROBABILITIES, distributions_of
from tests.support.records import a_record, blocks_of


def test_both_arms_share_their_probabilities_and_the_values_are_numpys() -> None:
    """From the smallest to the largest gap of all blocks together."""
    gaps = [[1.0, 2.0, 4.0, 8.0], [3.0, 5.0, 6.0, 7.0]]
    arm = [[a_record(np.cumsum([10.0, *held]).tolist())] for held in gaps]

    found = {
        (each.metric, each.arm): each for each in distributions_of(blocks_of("baseline", arm), blocks_of("speculative", arm))
    }

    drawn = found["chunk_gap", "speculative"]
    assert (drawn.n, drawn.unit, drawn.probabilities) == (8, "ms", PROBABILITIES)
    assert drawn.values == pytest.approx(np.quantile(np.concatenate(gaps), PROBABILITIES))
    assert (PROBABILITIES[0], PROBABILITIES[-1]) == (0.0, 1.0)
    assert list(PROBABILITIES) == sorted(set(PROBABILITIES))


def test_failed_requests_are_not_drawn_and_empty_metrics_are_left_out() -> None:
    """+inf has no place on an axis, and an arm without a value has no curve."""
    failing = blocks_of("speculative", [[a_record([5.0], outcome="stalled"), a_record([7.0])]])
    dead = blocks_of("baseline", [[a_record(outcome="connect_failed")]])

    found = {(each.metric, each.arm): each for each in distributions_of(dead, failing)}

    assert set(found) == {("ttft", "speculative")}
    assert set(found["ttft", "speculative"].values) == {7.0}


def test_a_curve_of_very_many_values_is_good_to_two_hundredths_of_a_percent() -> None:
    """Beyond 50,000 gaps the quantiles are counted, not sorted: within .02 % of numpy's, both ends exact, zeros included."""
    rng = np.random.default_rng(1)
    gaps = np.concatenate([np.zeros(300), rng.lognormal(2, 0.5, 60_000), [4000.0]])
    arm = blocks_of("baseline", [[a_record(np.cumsum([1.0, *rng.permutation(gaps)]).tolist())]], window_ms=(0.0, 1e9))

    (drawn,) = (each for each in distributions_of(arm, arm) if (each.metric, each.arm) == ("chunk_gap", "baseline"))

    expected = np.quantile(gaps, PROBABILITIES, method="nearest")
    assert drawn.n == 60_301
    assert drawn.values[2:] == pytest.approx(expected[2:], rel=2e-4, abs=1e-3)
    assert drawn.values[0] == 0.0
    assert drawn.values[-1] == pytest.approx(4000.0)
    assert list(drawn.values) == sorted(drawn.values)
