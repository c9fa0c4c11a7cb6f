"""An arm that drafts nothing in the whole run says nothing about speculation; who says so, and who is not asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.explain.labels import SPECULATION_FLAGS
from specbench.explain.verdict import headline
from specbench.model.records import Block, RequestRecord, RunData, SpeculationCounts, Telemetry
from specbench.model.result import Result
from specbench.model.scenario import Scenario
from specbench.report import render
from specbench.report.formats.policy import policy_of
from specbench.telemetry import ENGINES
from tests.support.evidence import NONE, Effect, a_manifest, a_scenario, an_arm, evidence
from tests.support.goldens import same_text

METHOD = {"method": "ngram", "num_speculative_tokens": 4}
URLS = {"baseline": an_arm("http://127.0.0.1:8000"), "speculative": an_arm("http://127.0.0.1:8001")}
SILENT = replace(NONE, fields={"acceptance": None})  # every step brings one token, and nobody tells of drafts
COLLECTED = replace(SILENT, tokens_per_step=2)
FASTER = replace(SILENT, tpot=0.8)


def two_urls(**changes: Any) -> Scenario:
    """Two endpoints of which the scenario says nothing more."""
    return a_scenario([4], pairs=6, baseline=URLS["baseline"], speculative=URLS["speculative"], **changes)


def run(effect: Effect, scenario: Scenario | None = None, says: str | None = None, source: str = "read", **told: Any) -> RunData:
    """A run of which the endpoint says this, on or off."""
    found = evidence(effect, scenario or two_urls(), baseline=SILENT, requests=20, **told)
    manifest = found.manifest
    if says is not None:
        first, second = manifest.endpoints
        facts, sources = {**second.facts, "speculation": says}, {**second.sources, "speculation": source}
        manifest = replace(manifest, endpoints=(first, replace(second, facts=facts, sources=sources)))
    return replace(found, manifest=manifest)


def counting(rounds: int, drafted: int) -> Any:
    """An engine that tells these counts of each block."""

    def tell(block: Block, records: Sequence[RequestRecord]) -> Telemetry:
        return Telemetry(acceptance=SpeculationCounts(rounds=rounds, drafted=drafted, accepted=0, per_position=None))

    return tell


def found(evidence_of_run: RunData) -> tuple[str, str]:
    """The verdict and the first reason's code."""
    result = judge(evidence_of_run, "0")
    return result.verdict, result.reasons[0].code


def is_found(evidence_of_run: RunData) -> bool:
    """Whether the run is INVALID for this before all."""
    return found(evidence_of_run) == ("INVALID", "not_speculating")


def test_an_engine_that_counts_no_draft_does_not_speculate() -> None:
    """By its counters or by its answers, whether a method is declared or not, and whatever the figures show."""
    declared = replace(two_urls(), speculative=replace(URLS["speculative"], speculative=METHOD))

    assert is_found(run(SILENT, telling=counting(0, 0)))
    assert is_found(run(NONE))
    assert is_found(run(FASTER, telling=counting(0, 0)))
    assert is_found(run(NONE, declared))
    assert is_found(run(SILENT, declared, says="on", telling=counting(0, 0)))


def test_an_endpoint_that_says_so_does_not_speculate_unless_drafts_are_counted() -> None:
    """Its own word before load, or the scenario's for one arm; counts of the run weigh more."""
    assert is_found(run(SILENT, says="off"))
    assert is_found(run(COLLECTED, says="off"))
    assert is_found(run(SILENT, says="off", source="declared"))
    assert not is_found(run(SILENT, says="off", telling=counting(5, 20)))


def test_where_nothing_tells_one_token_a_step_and_no_gain_say_so() -> None:
    """A gain, or a step of two tokens, may come of drafts that nobody tells of."""
    assert is_found(run(SILENT))
    assert is_found(run(SILENT, says="on", source="declared"))
    assert not is_found(run(FASTER))
    assert not is_found(run(COLLECTED))
    assert not is_found(run(SILENT, says="on"))


def test_a_gain_at_any_load_is_enough() -> None:
    """Engines draft at low load and not at high."""
    loads = replace(two_urls(), matrix=a_scenario([1, 4], pairs=6).matrix)

    assert not is_found(evidence({"c1": FASTER, "c4": SILENT}, loads, baseline=SILENT, requests=20))
    assert is_found(evidence({"c1": SILENT, "c4": SILENT}, loads, baseline=SILENT, requests=20))


def test_events_whose_tokens_nobody_counted_show_nothing() -> None:
    """Each was taken for one token: that is no sign of one token a step."""
    guessed = replace(SILENT, fields={"acceptance": None, "token_source": "events"})

    assert not is_found(run(guessed))


def test_an_a_a_and_arms_that_are_declared_plain_are_not_asked() -> None:
    """Whatever differs there is something else. One arm that declares it alone is asked."""
    plain = {name: replace(arm, declare={"speculation": "off"}) for name, arm in URLS.items()}

    assert not is_found(run(NONE, two_urls(design="aa")))
    assert not is_found(run(NONE, a_scenario([4], pairs=6, baseline=an_arm(), speculative=an_arm())))
    assert not is_found(run(NONE, replace(two_urls(), baseline=plain["baseline"], speculative=plain["speculative"])))
    assert is_found(run(NONE, replace(two_urls(), speculative=plain["speculative"])))


def test_loads_at_which_the_schedule_switches_it_off_say_nothing() -> None:
    """Such a run shows what is there: the declared schedule at work."""
    off = replace(two_urls(), speculative=replace(URLS["speculative"], speculative={**METHOD, "off_from": 2}))

    assert not is_found(run(NONE, off))


def test_safety_comes_first() -> None:
    """What breaks the service is rolled back, whatever was to be tested."""
    assert found(run(replace(NONE, fails=0.5))) == ("ROLLBACK", "unsafe")


def result_of(scenario: Scenario, engine: str) -> Result:
    """The result of a run that drafts nothing on such an engine."""
    manifest = a_manifest(scenario)
    endpoints = tuple(replace(one, engine=engine, facts={**one.facts, "engine": engine}) for one in manifest.endpoints)
    return judge(replace(run(NONE, scenario), manifest=replace(manifest, endpoints=endpoints)), "0")


def test_the_sentence_names_the_flag_of_the_engine_and_where_to_look() -> None:
    """For each kind of arm; every engine has its row."""
    started = a_scenario([4], pairs=6, speculative=replace(an_arm(), slow_by=0.1))

    assert SPECULATION_FLAGS.keys() == ENGINES.keys()
    same_text("a url of vLLM", headline(result_of(two_urls(), "vllm")))
    same_text("a url of an unknown engine", headline(result_of(two_urls(), "openai")))
    same_text("an engine that is started", headline(result_of(started, "embedded")))


@pytest.mark.parametrize("output", ["text", "markdown", "junit", "html", "annotations"])
def test_every_output_leads_with_it(output: str) -> None:
    """And no policy lets any traffic through."""
    result = judge(run(NONE), "0")
    words = " ".join(str(render(result, output)).split())

    assert headline(result).partition(":")[0] in words
    assert (policy_of(result)["verdict"], policy_of(result)["enable"], result.exit_code) == ("INVALID", [], 30)
