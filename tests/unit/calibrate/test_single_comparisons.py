"""Campaigns of single comparisons: what they return, and that large effects are seen."""

import pytest

from specbench.calibrate import single_comparisons
from specbench.calibrate.campaigns import CAMPAIGNS


@pytest.mark.parametrize("scenario", ["icc-0.3", "shared-4", "several-tokens"])
def test_coverage_says_for_each_metric_whether_its_interval_holds_the_truth(scenario: str) -> None:
    """Short blocks here; most of 15 intervals hold it, and none is missing."""
    found = [single_comparisons.covers(scenario, 400, index) for index in range(3)]

    assert all(set(outcome) == set(single_comparisons.COVERED) for outcome in found)
    assert sum(held for outcome in found for held in outcome.values()) >= 11


def test_a_slowdown_of_a_fifth_is_seen_in_every_guardrail_and_passes_no_limit_below_it() -> None:
    """One cell of the standard profile; `ttft_p95` may grow by 40 %."""
    found = single_comparisons.POWER_RUNS["slower-20"](0)

    assert all(one["harm"] for one in found.values())
    assert {metric for metric, one in found.items() if one["pass"]} <= {"ttft_p95"}


def test_a_true_change_at_the_margin_seldom_passes() -> None:
    """5 % less throughput against a margin of 5 % passes about one time in twenty; here at most 4 of 20."""
    assert sum(single_comparisons.POWER_RUNS["edge-5"](index)["output_tps"]["pass"] for index in range(20)) <= 4


def test_a_pilot_on_a_noisy_machine_names_more_pairs_than_it_has() -> None:
    """What ten pairs could not settle needs more, and with enough of them it passes."""
    outcomes = [single_comparisons.need(index) for index in range(3)]

    assert all(outcome["told"] is None or outcome["told"] > 10 for outcome in outcomes)
    assert any(max(single_comparisons.NEED_GRID) in outcome["passes"] for outcome in outcomes)


def test_every_coverage_scenario_has_its_campaign() -> None:
    """In blocks of 2,000 steps, at least 400 of each."""
    counts = {campaign.name: campaign.count for campaign in CAMPAIGNS}

    assert all(counts[f"covers-{name}-2000"] >= 400 for name in single_comparisons.SCENARIOS)
