"""What a plan says that it can see, it sees as often as it says."""

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.stats.paired import t_quantile, t_tail
from specbench.errors import ScenarioError
from specbench.model.scenario import StartSd
from specbench.plan.power import Power, check_margins, describe_power, power_of, stated_prior
from specbench.plan.variance import PairVariance
from tests.support.evidence import a_scenario, with_guardrails
from tests.support.judging import a_guardrail

STARTED = a_scenario((4,))  # one start of each engine, which differ by 1 %
FOUR = replace(STARTED, matrix=replace(STARTED.matrix, start_sd=StartSd(sd=0.0)))


def power_at(metric: str, spread: float, **known: float) -> Power:
    """The power of ten pairs for this metric at 4 streams."""
    key = ("c4", metric)
    spreads = PairVariance(
        {key: spread},
        "a test",
        {key: known["value"]} if "value" in known else {},
        {key: known["offset"]} if "offset" in known else {},
    )
    return next(power for power in power_of(FOUR, spreads) if power.metric == metric)


def test_ten_pairs_detect_what_the_table_of_t_says() -> None:
    """(1.8331 + 0.8834) · 0.1 / √10 on the log scale; for throughput as a loss."""
    reach = (1.833113 + 0.883404) * 0.1 / sqrt(10)

    assert power_at("tpot_p95", 0.1).detects == pytest.approx(exp(reach) - 1, abs=1e-6)
    assert power_at("output_tps", 0.1).detects == pytest.approx(1 - exp(-reach), abs=1e-6)


def test_what_is_detected_is_detected_in_four_of_five_runs() -> None:
    """Simulated pairs with the stated harm: found at 5 %, and shown past a limit of 10 % at the level of seven tests."""
    power = power_at("tpot_p95", 0.05)
    draws = np.random.default_rng(3).normal(0.0, 0.05, (4000, 10))

    def found(harm: float, limit: float, level: float) -> list[bool]:
        t = (draws.mean(axis=1) + log(1 + harm) - log(1 + limit)) / (draws.std(axis=1, ddof=1) / sqrt(10))
        return [t_tail(float(value), 9) < level for value in t]

    both = [a and b for a, b in zip(found(power.proves, 0.0, 0.05 / 7), found(power.proves, 0.1, 0.05), strict=True)]
    assert np.mean(found(power.detects, 0.0, 0.05)) == pytest.approx(0.8, abs=0.03)
    assert np.mean(both) == pytest.approx(0.8, abs=0.06)  # t + t is the usual approximation, a little rough far out


def test_one_start_of_each_engine_is_in_what_a_plan_sees() -> None:
    """With pairs that scatter by 1 % alone, two starts of 1 % each are most of the error; lengths of answers know no start."""
    key = ("c4", "tpot_p95")
    bare, started = (power_of(scenario, PairVariance({key: 0.01}, "a test"))[0] for scenario in (FOUR, STARTED))

    assert bare.floor == pytest.approx(exp(1.833113 * 0.01 / sqrt(10)) - 1, abs=1e-6)
    assert started.floor == pytest.approx(exp(1.645 * sqrt(1e-5 + 2e-4)) - 1, rel=0.01)
    assert started.proves > 0.1 + started.detects
    assert bare.pairs_for_5 == 3
    assert power_of(FOUR, PairVariance({key: 0.1}, "a test"))[0].pairs_for_5 is not None


@given(st.floats(0.005, 0.5), st.floats(1.01, 4.0))
def test_a_larger_spread_sees_less_and_harm_of_all_tests_takes_more(spread: float, factor: float) -> None:
    """What is detected, proven and lost in noise all grow with the spread; a family of tests proves less than one."""
    small, large = power_at("output_tps", spread), power_at("output_tps", factor * spread)

    assert 0 < small.floor < small.detects < small.proves < 1
    assert small.floor < large.floor
    assert small.detects < large.detects
    assert (small.pairs_for_5 or 101) <= (large.pairs_for_5 or 101)


def test_the_pairs_for_five_percent_find_five_percent() -> None:
    """Fewer spread needs fewer; what nobody will run is not named."""
    few, many, never = (power_at("tpot_p95", spread).pairs_for_5 for spread in (0.02, 0.06, 1.0))

    assert few is not None
    assert many is not None
    assert few < many
    assert never is None
    assert (t_quantile(0.95, many - 1) + t_quantile(0.8, many - 1)) * 0.06 / sqrt(many) <= log(1.05)


def test_a_margin_within_the_noise_is_refused_with_the_noise_named() -> None:
    """Ten pairs with a spread of .3 leave equal arms 19 % apart: a margin of 10 % is refused, one of 30 % is not."""
    spreads = PairVariance({("c4", "tpot_p95"): 0.3}, "the A/A run r1")

    with pytest.raises(ScenarioError, match=r"tpot_p95 allows 10\.0 %, but at c4 equal arms differ by up to 19\.0 %"):
        check_margins(FOUR, spreads)
    check_margins(with_guardrails(FOUR, a_guardrail("tpot_p95", 0.30)), spreads)


def test_each_cell_is_held_to_the_margin_that_is_asked_of_it() -> None:
    """A wide one at 16 streams, the default's 10 % at 4; both are counted once among the tests."""
    scenario = with_guardrails(a_scenario((4, 16)), a_guardrail("tpot_p95", 0.30, cells=(16.0,)))
    spreads = PairVariance({("c4", "tpot_p95"): 0.1, ("c16", "tpot_p95"): 0.3}, "the A/A run r1")

    assert [(power.cell, power.allowed) for power in power_of(scenario, spreads)] == [("c4", 0.10), ("c16", 0.30)]
    check_margins(scenario, spreads)


def test_an_offset_of_equal_endpoints_counts_as_noise() -> None:
    """Endpoints that differ by 8 % without speculation leave no room for a margin of 10 %."""
    assert not power_at("tpot_p95", 0.05).is_lost
    assert power_at("tpot_p95", 0.05, offset=log(1.08)).is_lost


def test_a_floor_in_milliseconds_widens_the_margin_where_the_value_is_known() -> None:
    """0.5 ms of 2 ms is 25 %: noise of 19 % is no reason to refuse then."""
    assert power_at("tpot_p95", 0.3).allowed == 0.10
    assert power_at("tpot_p95", 0.3, value=2.0).allowed == 0.25
    assert not power_at("tpot_p95", 0.3, value=2.0).is_lost


def test_cells_that_decide_nothing_are_left_out_and_metrics_without_a_margin_too() -> None:
    """One row per required cell for the success metric and each default guardrail."""
    scenario = a_scenario((1, 4))
    found = power_of(scenario, stated_prior(scenario))

    assert {power.cell for power in found} == {"c1", "c4"}
    assert [power.metric for power in found if power.cell == "c4"] == [
        "tpot_p50",
        "tpot_p95",
        "pace_p95",
        "ttft_paired",
        "ttft_p95",
        "e2e_p95",
        "output_tps",
        "completed_rps",
    ]


@pytest.mark.parametrize("metric", ["error_rate", "preemptions"])
def test_shares_and_counts_are_not_held_against_a_spread_of_ratios(metric: str) -> None:
    """A margin of 1 point is not 1 %: no row, no refusal, and no part in the error that the tests of ratios share."""
    scenario = with_guardrails(a_scenario((1, 4)), a_guardrail(metric, 0.01))
    spreads = PairVariance({(cell, name): 0.05 for cell in ("c1", "c4") for name in (metric, "tpot_p95")}, "the A/A run r1")

    assert {power.metric for power in power_of(scenario, spreads)} == {"tpot_p95"}
    assert power_of(scenario, spreads) == power_of(a_scenario((1, 4)), spreads)
    assert metric not in {name for _, name in stated_prior(scenario).of}
    check_margins(scenario, spreads)


def test_the_description_says_where_its_numbers_come_from_and_what_five_percent_would_take() -> None:
    """Every cell is alike under the prior and printed once; a run's own cells are printed each."""
    scenario = a_scenario((1, 4))
    by_prior = describe_power(scenario, stated_prior(scenario))
    by_run = describe_power(scenario, PairVariance({("c1", "tpot_p95"): 0.05, ("c4", "tpot_p95"): 0.08}, "the pairs of run r1"))

    assert "a stated prior" in by_prior
    assert by_prior.count("tpot_p95  ") == 1
    assert "5 % everywhere needs" in by_prior
    assert by_run.count("tpot_p95  ") == 2
    assert "the pairs of run r1" in by_run
    assert all(len(line) <= 80 for line in [*by_prior.splitlines(), *by_run.splitlines()])


def test_cells_that_the_earlier_run_lacked_are_named() -> None:
    """A run at 4 streams tells nothing of 1."""
    text = describe_power(a_scenario((1, 4)), PairVariance({("c4", "tpot_p95"): 0.05}, "the pairs of run r1"))

    assert "unknown: c1" in text


def test_nothing_known_is_said_and_no_number_is_made_up() -> None:
    """A pilot whose blocks were too short leaves nothing."""
    assert "run a pilot" in describe_power(FOUR, PairVariance({}, "the pilot r1"))


def test_short_blocks_are_warned_of() -> None:
    """2 s are 100 steps of the assumed 20 ms, too few; 20 s are enough, unless an earlier run measured steps of 50 ms."""
    block = replace(FOUR.matrix.block, min_s=2.0)
    short = replace(FOUR, matrix=replace(FOUR.matrix, block=block))
    slow = PairVariance({("c4", "tpot_p95"): 0.05}, "the pairs of run r1", {("c4", "step_time"): 50.0})

    assert "blocks hold about 100 engine steps (20 ms each, assumed)" in describe_power(short, stated_prior(short))
    assert "engine steps" not in describe_power(FOUR, stated_prior(FOUR))
    assert "blocks hold about 400 engine steps (50 ms each, measured)" in describe_power(FOUR, slow)
