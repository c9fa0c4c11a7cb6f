"""The A/A of the user's own endpoints: what is asked of the run, and what its result says in words."""

from dataclasses import replace

from specbench.analysis.judge import judge
from specbench.calibrate.hardware_noise import describe_noise, equal_arms, without_speculation
from specbench.scenario.parse import Overrides
from tests.support.evidence import NONE, a_scenario, an_arm, evidence


def test_two_urls_make_a_scenario_without_speculation() -> None:
    """Both arms are taken as they are, with the default guardrails in the standard profile."""
    scenario = equal_arms(Overrides(baseline_url="http://10.0.0.1:8000", speculative_url="http://10.0.0.2:8000"))

    assert (scenario.baseline.url, scenario.speculative.url) == ("http://10.0.0.1:8000", "http://10.0.0.2:8000")
    assert scenario.baseline.speculative is scenario.speculative.speculative is None
    assert scenario.matrix.pairs == 10
    assert "tpot_p95" in {rule.metric for rule in scenario.guardrails}


def test_equal_endpoints_have_a_noise_floor_below_their_margins() -> None:
    """Each guardrail is named with its floor, and no endpoint differs."""
    scenario = a_scenario((4,))
    text = describe_noise(scenario, judge(evidence(NONE, scenario), "test"))

    assert "tpot_p95" in text
    assert "within the noise" not in text
    assert "the endpoints differ" not in text


def test_unequal_endpoints_are_named_and_leave_no_room_for_the_margin() -> None:
    """The second endpoint is 9 % slower though neither speculates: a margin of 10 % is within the noise."""
    scenario = a_scenario((4,))
    text = describe_noise(scenario, judge(evidence(replace(NONE, tpot=1.09), scenario), "test"))

    assert "the endpoints differ at c4 in tpot_p50 by" in text
    assert "10.0 % : within the noise" in text


def test_the_a_a_of_two_urls_is_one_that_later_runs_can_cite() -> None:
    """Its design says so, as `run --aa` does, and no arm of it speculates or asks for speculation."""
    drafting = replace(an_arm("http://10.0.0.2:8000", {"method": "ngram"}), extra_body={"speculative": True})
    made = without_speculation(a_scenario((4,), baseline=an_arm("http://10.0.0.1:8000"), speculative=drafting))

    assert (made.design, made.name, made.labels) == ("aa", "known-effects-aa", {})
    assert (made.speculative.url, made.speculative.speculative, made.speculative.extra_body) == ("http://10.0.0.2:8000", None, {})
