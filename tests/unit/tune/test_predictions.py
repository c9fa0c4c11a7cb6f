"""What runs at one depth predict of others stands beside the measurement, screens, and never picks."""

from dataclasses import replace
from math import exp

import pytest

from specbench.model.result import OtherDepth, Result
from specbench.model.tuning.tune_values import Candidate
from specbench.tune.predictions import (
    PredictedDepths,
    better_untried,
    predicted_depths,
    predicted_ratio,
    screen_of,
    screening_logs,
)
from tests.support.result_parts import a_cell
from tests.support.results import a_result


def _candidate(depth: int, method: str = "draft_model") -> Candidate:
    return Candidate(name=f"{method}-{depth}", depth=depth, speculative={"method": method, "num_speculative_tokens": depth})


def _run(here: float, others: dict[int, float | None], streams: int = 1) -> Result:
    """A run whose TPOT is so many times the baseline's, and what it predicts of other depths."""
    cell = a_cell(streams, here)
    told = tuple(OtherDepth(depth, 2.0, ratio) for depth, ratio in others.items())
    cell = replace(cell, factors=replace(cell.factors, tpot_ratio=here), other_depths=told)
    return a_result("HOLD", (cell,), ())


ONE, TWO, FOUR, EIGHT = map(_candidate, (1, 2, 4, 8))
RUNS = {
    "draft_model-8": _run(0.56, {1: 0.66, 2: 0.57, 4: 0.49, 3: 0.51, 5: None}),
    "draft_model-4": _run(0.48, {1: 0.65, 2: 0.56, 8: 0.55}),
}


def _sources(streams: float = 1) -> tuple[PredictedDepths, ...]:
    return predicted_depths((ONE, TWO, FOUR, EIGHT), RUNS, "[('method', 'draft_model')]", streams)


@pytest.mark.parametrize(("candidate", "ratio"), [(ONE, 0.66), (TWO, 0.57), (FOUR, 0.49), (EIGHT, 0.55)])
def test_the_deepest_other_run_predicts(candidate: Candidate, ratio: float) -> None:
    """Depth 8 says what 1, 2 and 4 bring; of 8 itself depth 4 does, so that no figure is predicted from itself."""
    assert predicted_ratio(candidate, _sources()) == ratio


def test_what_no_run_tells_is_not_predicted() -> None:
    """Depth 5 has no step cost; another load and another method have no run."""
    assert predicted_ratio(_candidate(5), _sources()) is None
    assert _sources(streams=4) == ()
    assert predicted_depths((_candidate(4, "ngram"),), RUNS, "[('method', 'ngram')]", 1) == ()


def test_an_untried_depth_that_should_do_better_is_named() -> None:
    """Beside a pick of depth 2 at .57, depths 3 at .51 and 4 at .49 are named; those that were tried are not."""
    assert better_untried(TWO, _sources(), [1, 2, 8], 0.02) == (3, 4)
    assert better_untried(TWO, _sources(), [1, 2, 4, 8], 0.02) == (3,)
    assert better_untried(TWO, _sources(), [1, 2, 4, 8], 0.2) == ()
    assert better_untried(None, _sources(), [1, 2, 4, 8], 0.02) == (3,)
    assert better_untried(TWO, (), [1], 0.02) == ()


def test_a_prediction_is_held_against_what_was_measured_beside_it() -> None:
    """The deepest run predicts .85 and .93 of depths 2 and 4, which took 1.11 and 1.19: depth 3 at .88 is no gain over none."""
    sources = (
        PredictedDepths(8, {8: 1.58, 1: 0.83, 2: 0.85, 3: 0.88, 4: 0.93}),
        PredictedDepths(4, {4: 1.19}),
        PredictedDepths(2, {2: 1.11}),
        PredictedDepths(1, {1: 1.03}),
    )

    assert better_untried(None, sources, [1, 2, 4, 8], 0.02) == ()
    assert better_untried(None, sources[:1], [8], 0.02) == (1, 2, 3, 4)


def test_the_screen_starts_the_deepest_of_each_method() -> None:
    """Of seven depths one, of two methods two; six depths of one method, and one depth of each, need none.

    What is predicted is the time per token, so that a tune by another metric has no screen.
    """
    seven = tuple(map(_candidate, (1, 2, 3, 4, 5, 6, 8)))
    lookup = (_candidate(2, "ngram"), _candidate(4, "ngram"))

    assert screen_of(seven, "tpot_p50") == frozenset({"draft_model-8"})
    assert screen_of((ONE, FOUR, *lookup), "tpot_p50") == frozenset({"draft_model-4", "ngram-4"})
    assert [screen_of(few, "tpot_p50") for few in (seven[:6], (FOUR, lookup[1]))] == [None, None]
    assert screen_of(seven, "output_tps") is None


def test_the_screen_knows_what_ran_and_what_is_predicted() -> None:
    """Depth 8 is measured and the others are predicted; of depth 5 and of lookup, which did not run, nothing is known."""
    tried = (ONE, FOUR, _candidate(5), EIGHT, _candidate(2, "ngram"))
    known = screening_logs(tried, {"draft_model-8": RUNS["draft_model-8"]}, [1.0])

    assert {name: round(exp(log), 2) for name, log in known[1.0].items()} == {
        "off": 1.0,
        "draft_model-1": 0.66,
        "draft_model-4": 0.49,
        "draft_model-8": 0.56,
    }
