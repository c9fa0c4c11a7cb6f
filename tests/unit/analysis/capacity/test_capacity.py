"""From the facts of a search to what is said of it."""

from dataclasses import replace

import pytest

from specbench.analysis.capacity.capacity_result import capacity_of
from specbench.model.capacity.capacity_values import CapacityResult, ServiceLimit
from specbench.model.records import RunData
from tests.support.evidence import a_scenario
from tests.support.goldens import same_text
from tests.support.searches import PLAN, a_search, around

PRICED = a_scenario(labels={"price_per_hour": "2.5", "currency": "EUR", "gpus": "8"})


def result_of(evidence: RunData) -> CapacityResult:
    assert evidence.manifest.capacity is not None
    return capacity_of(evidence, evidence.manifest.capacity, "0.1.0")


def test_the_capacity_lies_where_95_percent_are_in_time() -> None:
    found = result_of(a_search(around(4.0), around(6.0)))
    assert found.arms.baseline.rate == pytest.approx(4.0, rel=0.03)
    assert found.arms.speculative.rate == pytest.approx(6.0, rel=0.03)
    assert found.ratio == pytest.approx(1.5, rel=0.001)
    assert found.arms.baseline.binding == "ttft_p95"
    assert found.arms.baseline.output_tokens_mean == 10


def test_fewer_machines_are_said_where_the_ranges_do_not_meet() -> None:
    found = result_of(a_search(around(4.0), around(6.0), scenario=PRICED))
    assert found.comparison == "fewer"
    same_text("fewer machines", *found.sentences)
    assert found.machines.baseline is not None
    assert found.machines.baseline.cost_month is not None
    assert found.machines.baseline.cost_month.low == found.machines.baseline.fewest * 730 * 8 * 2.5


def test_more_machines_are_said_of_an_arm_that_serves_less() -> None:
    found = result_of(a_search(around(6.0), around(4.0)))
    assert found.comparison == "more"
    same_text("more machines", *found.sentences)


def test_no_change_of_machines_is_said_where_the_ranges_meet() -> None:
    found = result_of(a_search(around(4.0), around(4.1)))
    assert found.comparison == "no_difference"
    same_text("no difference", *found.sentences)
    assert not any("become" in sentence for sentence in found.sentences)


def test_an_arm_that_misses_at_every_rate_cannot() -> None:
    found = result_of(a_search({1.0: 150, 0.5: 150, 0.25: 150}, around(6.0)))
    assert (found.arms.baseline.end, found.comparison) == ("no_rate", "only_speculative")
    assert found.machines.baseline is None
    same_text("the baseline cannot", *found.sentences)


def test_the_lowest_crossing_binds() -> None:
    slower = ServiceLimit("tpot_p95", 10.0, 0.95)
    both = replace(PLAN, limits=(*PLAN.limits, slower))
    found = result_of(a_search(around(4.0), around(4.0), both))
    assert (found.arms.baseline.end, found.arms.baseline.binding) == ("no_rate", "tpot_p95")
    looser = replace(PLAN, limits=(*PLAN.limits, ServiceLimit("tpot_p95", 16.0, 0.95)))
    found = result_of(a_search(around(4.0), around(4.0), looser))
    assert (found.arms.baseline.end, found.arms.baseline.binding) == ("found", "ttft_p95")


def test_other_limits_are_bracketed_by_the_same_blocks() -> None:
    found = result_of(a_search(around(4.0), around(4.0))).arms.baseline.brackets
    by_limit = {one.limit: (one.held, one.missed) for one in found}
    assert by_limit[600.0] == (5.0, None)  # late ones come after 600 ms
    assert by_limit[400.0][0] == pytest.approx(3.88)
    assert by_limit[400.0][1] == pytest.approx(4.12)


def test_failed_requests_are_misses() -> None:
    evidence = a_search(around(4.0), around(4.0))
    failed = tuple(
        replace(record, outcome="stalled", event_ns=(), event_tokens=()) if record.index < 30 else record
        for record in evidence.records
    )
    assert result_of(replace(evidence, records=failed)).arms.baseline.end == "no_rate"


def test_requests_outside_the_window_do_not_count() -> None:
    evidence = a_search(around(4.0), around(4.0))
    early = tuple(replace(record, scheduled_ns=0) if record.index < 30 else record for record in evidence.records)
    assert result_of(replace(evidence, records=early)).arms.baseline.requests == 9 * 170


def test_a_search_that_was_cut_off_says_so() -> None:
    evidence = replace(a_search({1.0: 0, 2.0: 0}, {}), finished=None, problems=("arms.speculative: the engine died",))
    found = result_of(evidence)
    assert found.comparison == "not_known"
    same_text("cut off", *found.sentences)


def test_the_same_facts_give_the_same_result() -> None:
    evidence = a_search(around(4.0), around(6.0))
    assert result_of(evidence) == result_of(replace(evidence, records=tuple(reversed(evidence.records))))
