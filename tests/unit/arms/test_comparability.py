"""What refuses a run before load, by its design, and what is only said."""

from dataclasses import replace

import pytest

from specbench.arms.comparability import check_comparable, fairness_notes, proxy_notes
from specbench.errors import RefusedError
from specbench.model.records import Endpoint
from specbench.model.scenario import ArmName, Design, Scenario
from specbench.telemetry.endpoint_facts import with_sources
from tests.support.evidence import a_scenario, an_arm

URLS = {"baseline": "http://gpu1:8000", "speculative": "http://gpu2:8000"}


def told(arm: ArmName, speculation: str | None) -> Endpoint:
    """An endpoint that says whether it speculates, or does not say."""
    facts, sources = with_sources({"model": "m"} | ({} if speculation is None else {"speculation": speculation}), {})
    return Endpoint(arm=arm, url=URLS[arm], model="m", engine="vllm", engine_version=None, facts=facts, sources=sources)


def both(baseline: str | None, speculative: str | None) -> tuple[Endpoint, Endpoint]:
    """Both endpoints."""
    return told("baseline", baseline), told("speculative", speculative)


def scenario(design: Design) -> Scenario:
    """Two URLs, run by this design."""
    return a_scenario([1], baseline=an_arm(URLS["baseline"]), speculative=an_arm(URLS["speculative"]), design=design)


@pytest.mark.parametrize(
    ("design", "speculates", "message"),
    [
        ("aa", ("off", "on"), "arms.speculative: http://gpu2:8000 speculates, but an A/A (--aa) runs the baseline in both arms"),
        ("aa", ("on", "off"), "arms.baseline: http://gpu1:8000 speculates, but an A/A (--aa) runs the baseline in both arms"),
        ("swap", ("on", "off"), "arms.baseline: http://gpu1:8000 still speculates, but --swap needs the arms exchanged"),
        ("swap", ("off", "off"), "arms.speculative: http://gpu2:8000 does not speculate, but --swap needs the arms exchanged"),
    ],
)
def test_engines_that_do_not_fit_the_design_are_refused(design: Design, speculates: tuple[str, str], message: str) -> None:
    """In one line that says what to serve where."""
    with pytest.raises(RefusedError) as refused:
        check_comparable(both(*speculates), scenario(design))

    assert message in str(refused.value)
    assert "run again" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("design", "speculates"),
    [("plain", ("off", "on")), ("plain", ("on", "on")), ("aa", ("off", "off")), ("aa", (None, None)), ("swap", ("off", "on"))],
)
def test_engines_that_fit_or_do_not_say_are_measured(design: Design, speculates: tuple[str | None, str | None]) -> None:
    """What nobody tells refuses nothing."""
    check_comparable(both(*speculates), scenario(design))


@pytest.mark.parametrize("design", ["aa", "swap"])
def test_one_endpoint_for_both_arms_may_speculate_in_any_design(design: Design) -> None:
    """Its arms differ by what their requests ask for, so what the endpoint can do says nothing of an arm."""
    url = URLS["baseline"]
    shared = replace(scenario(design), baseline=an_arm(url), speculative=an_arm(f"{url}/v1"))

    check_comparable(both("on", "on"), shared)


def test_an_a_a_says_what_it_did_not_read() -> None:
    """A scenario names the runs of its places for the comparison, not for the A/A that is to become one."""
    notes = fairness_notes(replace(scenario("aa"), place_runs=("aa-1", "aa-2")), both("off", "off"))

    assert "An A/A cites no other run, so `place:` was not read (aa-1, aa-2)." in notes


def test_a_run_says_its_design_and_what_it_could_not_see() -> None:
    """An A/A of endpoints that keep silent leaves it to the user to serve the baseline at both."""
    notes = fairness_notes(scenario("aa"), both("off", None))

    assert "This run is an A/A: both arms run the baseline, so every difference is noise or the hosts'." in notes
    assert any(note.startswith("http://gpu2:8000 does not report whether it speculates. Make sure") for note in notes)
    assert "The arms are swapped: the speculative arm runs where the baseline ran." in fairness_notes(
        scenario("swap"), both("off", "on")
    )
    assert not any("A/A" in note or "place" in note for note in fairness_notes(scenario("plain"), both("off", "on")))


def test_a_proxy_on_the_way_is_said() -> None:
    """At the start of the run and in its notes; a direct way needs no word."""
    direct, other = both("off", "on")
    proxied = replace(other, facts=other.facts | {"proxy": "squid:3128"})
    sentence = "arms.speculative: http://gpu2:8000 is reached by the proxy squid:3128: times include it"

    assert proxy_notes(proxied) == (sentence,)
    assert proxy_notes(replace(other, facts=other.facts | {"proxy": "none"})) == proxy_notes(direct) == ()
    assert sentence in fairness_notes(scenario("plain"), (direct, proxied))


@pytest.mark.parametrize("other", ["off", None])
def test_a_baseline_that_speculates_alone_is_refused_with_the_exchanged_command(other: str | None) -> None:
    """The arms stand the wrong way round: the command of this very run with the addresses exchanged."""
    flags = ("--baseline", URLS["baseline"], "--speculative", URLS["speculative"], "--set", "seed=2")
    with pytest.raises(RefusedError) as refused:
        check_comparable(both("on", other), replace(scenario("plain"), flags=flags))

    assert (
        "specbench run known-effects.yaml --profile standard --baseline http://gpu2:8000 --speculative http://gpu1:8000"
        " --set seed=2" in str(refused.value)
    )
    assert ('declare speculation: "on"' in str(refused.value)) == (other is None)


def test_arms_of_a_file_are_exchanged_in_the_file() -> None:
    """An engine that is started here has no address to exchange."""
    started = replace(scenario("plain"), speculative=an_arm())
    with pytest.raises(RefusedError, match=r"exchange the arms in known-effects\.yaml"):
        check_comparable(both("on", "off"), started)


BODIES = {"top_p": 0.5, "seed": 3, "chat_template_kwargs": {"thinking": True, "depth": 2}}


def asked_otherwise(*accepted: str) -> Scenario:
    """The speculative arm's requests hold more."""
    plain = scenario("plain")
    return replace(plain, speculative=replace(plain.speculative, extra_body=BODIES), accept_differences=accepted)


@pytest.mark.parametrize(
    ("accepted", "left"),
    [
        ((), "their requests differ in chat_template_kwargs, seed, top_p"),
        (("seed", "chat_template_kwargs"), "their requests differ in top_p"),
        (("model",), "their requests differ in chat_template_kwargs, seed, top_p"),
    ],
)
def test_requests_that_differ_are_refused_unless_accepted_by_name(accepted: tuple[str, ...], left: str) -> None:
    """Before load, as unequal facts are, and by names alone: what a body holds may be private."""
    with pytest.raises(RefusedError) as refused:
        check_comparable(both("off", "on"), asked_otherwise(*accepted))

    assert left in str(refused.value)
    assert "0.5" not in str(refused.value)


@pytest.mark.parametrize("accepted", [("extra_body",), ("extra_body.seed", "top_p", "chat_template_kwargs")])
def test_requests_whose_differences_are_accepted_are_measured_and_named(accepted: tuple[str, ...]) -> None:
    """The note says which; no name of them is called needless."""
    agreed = asked_otherwise(*accepted)

    check_comparable(both("off", "on"), agreed)
    notes = fairness_notes(agreed, both("off", "on"))
    assert any("chat_template_kwargs, seed, top_p" in note for note in notes)
    assert not any("do not exist" in note for note in notes)
