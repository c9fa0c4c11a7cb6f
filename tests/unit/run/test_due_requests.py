"""Open-loop requests are due at the same moments in both arms of a pair; the backlog is what was due and had not been sent."""

import random
from array import array
from dataclasses import replace
from itertools import count, islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from specbench.load.fleet.dealing import Dealer
from specbench.load.messages import RequestJob
from specbench.model.scenario import LoadRamp, Scenario
from specbench.plan.trials import Trial, cells_of, ramp_trials, trials_of
from specbench.run.due_requests import arrivals, backlog_by_second, rising
from specbench.run.early_stopping import EarlyStopping
from tests.support.scenarios import code

COUNT = 4_000
S = 1_000_000_000


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


@pytest.mark.parametrize("seed", range(1, 21))
def test_what_two_workers_are_dealt_is_the_poisson_process_that_was_drawn(seed: int) -> None:
    """Both parts together pass a test of fit, and each holds every other moment, so that nothing is thinned."""
    scenario = replace(code(("matrix.rate", "[20]")), seed=seed)
    drawn = due(scenario, trial_of(scenario))[:1000]
    dealer = Dealer([8, 8], open_loop=True)
    dealer.take(RequestJob(index=index, body=b"", arrival_ns=moment) for index, moment in enumerate(drawn))
    dealt: tuple[list[int], list[int]] = ([], [])
    for worker, job in dealer.deals():
        dealt[worker].append(job.arrival_ns or 0)

    assert dealt == (drawn[::2], drawn[1::2])
    assert stats.kstest(np.diff([0, *sorted([*dealt[0], *dealt[1]])]) / 1e9, "expon", args=(0, 0.05)).pvalue > 0.01


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


def test_a_rise_is_a_poisson_process_whose_rate_grows() -> None:
    """From nothing to 100 a second over 20 s, then 10 s at the top: 2,000 requests, a fourth of the rise's in its first half."""
    rise = LoadRamp(to=100.0, over_s=20.0, hold_s=10.0)
    moments = [moment / 1e9 for moment in rising(rise, random.Random(1))]
    early, risen = (sum(moment < until for moment in moments) for until in (10.0, 20.0))

    assert len(moments) == pytest.approx(2000, abs=5 * 2000**0.5)
    assert risen == pytest.approx(1000, abs=5 * 1000**0.5)
    assert early == pytest.approx(250, abs=5 * 250**0.5)
    assert moments == sorted(moments)
    assert moments[-1] < 30.0


def test_rises_come_after_all_that_is_judged_a_pair_for_each_pair() -> None:
    """Both arms get the same arrivals, each leads by turns, and looks do not wait for them."""
    scenario = code(("matrix.ramp", "{to: 20, over_s: 2, hold_s: 1}"), ("matrix.pairs", "2"))
    rises = ramp_trials(scenario)
    before, after = (due(scenario, trial) for trial in rises[:2])

    assert [trial.block_id for trial in rises] == [
        "ramp/p00/baseline", "ramp/p00/speculative", "ramp/p01/speculative", "ramp/p01/baseline"
    ]  # fmt: skip
    assert rises[0].order == len(trials_of(scenario, cells_of(scenario)))
    assert before == after
    assert 0 < len(before) < 80
    assert EarlyStopping(Path("absent"), budget=2).settled(rises) is True


@pytest.mark.parametrize(
    ("sent_s", "backlog"),
    [
        ([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], (0, 0, 0, 0)),
        ([0.5, 1.5, 2.5], (0, 1, 2, 3)),
        ([2.5, 2.5, 2.5, 2.5, 2.5], (0, 2, 4, 1)),
    ],
)
def test_the_backlog_counts_what_waits(sent_s: list[float], backlog: tuple[int, ...]) -> None:
    """Two requests a second from a half on, without end; sent at once, half as often, or all together after 2.5 s."""
    due = (S * number // 2 for number in count(1))
    sent = array("q", [7 * S + int(moment * S) for moment in sent_s])

    assert backlog_by_second(due, 7 * S, sent, 10 * S) == backlog
