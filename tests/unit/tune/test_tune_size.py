"""How many starts, blocks and minutes a tune takes, from the fewest series to the most."""

from dataclasses import replace

import pytest

from specbench.explain.tuning.tune_sentences import planned, start_assumed, start_measured
from specbench.model.tuning.tune_values import Candidate, TuneRules
from specbench.tune.tune_size import starts_of, tune_size
from tests.support.evidence import a_scenario
from tests.support.goldens import same_text

RULES = TuneRules(metric="tpot_p50", within=0.02, sure=0.9, series=4, blocks=3, primary=1)


def _depths(*depths: int, method: str = "draft_model") -> tuple[Candidate, ...]:
    return tuple(
        Candidate(name=f"{method}-{depth}", depth=depth, speculative={"method": method, "num_speculative_tokens": depth})
        for depth in depths
    )


def test_a_series_starts_the_baseline_and_each_candidate_once() -> None:
    """Four candidates at three loads: 10 starts in two series, 20 in four, each with 9 blocks of 22.5 s and 2 min to start."""
    size = tune_size(a_scenario([1, 4, 16]), _depths(1, 2, 4, 8), RULES)

    assert (size.starts, size.blocks) == ((10, 20), (90, 180))
    assert size.minutes == pytest.approx((10 * (120 + 9 * 22.5) / 60, 20 * (120 + 9 * 22.5) / 60))
    same_text("assumed", planned("code", size.candidates, size.starts, size.blocks, size.minutes), start_assumed(size.start_s))


def test_a_measured_start_takes_the_place_of_the_assumed_one() -> None:
    """Without the 2 minutes it is the blocks alone."""
    size = tune_size(a_scenario([1]), _depths(4), RULES, 0.0)

    assert size.minutes == pytest.approx((4 * 3 * 22.5 / 60, 8 * 3 * 22.5 / 60))
    same_text("measured", start_measured(67.5, size.minutes))


def test_where_the_fewest_series_are_the_most_one_number_is_given() -> None:
    """Two series at most are two series, as at least two are needed."""
    size = tune_size(a_scenario([1]), _depths(1, 2, 4), replace(RULES, series=2))

    assert size.starts == (8, 8)
    same_text("planned, one number", planned("code", size.candidates, size.starts, size.blocks, size.minutes))
    same_text("measured, one number", start_measured(200.0, (26.6, 27.4)))


def test_a_screen_starts_the_deepest_of_each_method_first() -> None:
    """Two methods with three depths each: 3 starts, then the baseline with one candidate at the fewest, with all six at most."""
    two = (*_depths(1, 2, 4), *_depths(2, 4, 8, method="ngram"))

    assert starts_of(two, RULES) == (3 + 2 * 2, 3 + 4 * 7)
    assert starts_of(_depths(1, 2, 3, 4, 5, 6, 8), RULES) == (2 + 2 * 2, 2 + 4 * 8)
    assert starts_of(_depths(1, 2, 3, 4, 5, 6), RULES) == (2 * 7, 4 * 7)
    assert starts_of((*_depths(4), *_depths(4, method="ngram")), RULES) == (2 * 3, 4 * 3)
