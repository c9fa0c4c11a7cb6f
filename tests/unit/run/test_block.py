"""Open-loop requests are due at the same moments in both arms of a pair, and come as the scenario says."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
from scipy import stats

from specbench.model.scenario import Scenario
from specbench.plan.trials import Trial, cells_of, trials_of
from specbench.run.block import arrivals
from tests.support.scenarios import code

COUNT = 4_000


def trial_of(scenario: Scenario, arm: str = "baseline", pair: int = 0) -> Trial:
    """The trial of the first cell with a rate."""
    trials = trials_of(scenario, cells_of(scenario))
    return next(t for t in trials if t.cell.rate is not None and t.arm == arm and t.pair == pair)


def due(scenario: Scenario, trial: Trial) -> list[int]:
    """The first arrivals of that trial, in nanoseconds."""
    return [moment for moment in islice(arrivals(scenario, trial), COUNT) if moment is not None]


def test_poisson_arrivals_pass_a_test_of_fit() -> None:
    """Gaps between 4,000 arrivals at 20 requests a second are exponential with mean 50 ms, and follow no order."""
    scenario = code(("matrix.rate", "[20]"))
    gaps_s = np.diff([0, *due(scenario, trial_of(scenario))]) / 1e9

    assert stats.kstest(gaps_s, "expon", args=(0, 0.05)).pvalue > 0.01
    assert abs(np.corrcoef(gaps_s[1:], gaps_s[:-1])[0, 1]) < 0.05


def test_constant_arrivals_are_evenly_spaced() -> None:
    """One request every 50 ms, to the rounding of a nanosecond."""
    scenario = code(("matrix.rate", "[20]"), ("matrix.arrivals", "constant"))
    moments = due(scenario, trial_of(scenario))

    assert {later - earlier for earlier, later in pairwise(moments)} <= {49_999_999, 50_000_000, 50_000_001}


def test_both_arms_of_a_pair_get_the_same_arrivals_and_every_pair_its_own() -> None:
    """A burst that hits one arm hits the other."""
    scenario = code(("matrix.rate", "[20]"))
    baseline, speculative = (due(scenario, trial_of(scenario, arm)) for arm in ("baseline", "speculative"))

    assert baseline == speculative
    assert baseline != due(scenario, trial_of(scenario, pair=1))


@pytest.mark.parametrize("level", [1, 16])
def test_a_closed_loop_has_no_schedule(level: int) -> None:
    """Its requests leave when a stream is free."""
    scenario = code()
    trial = next(t for t in trials_of(scenario, cells_of(scenario)) if t.cell.concurrency == level)

    assert list(islice(arrivals(scenario, replace(trial)), 3)) == [None, None, None]
