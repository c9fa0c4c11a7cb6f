"""An earlier run shows two places alike only where it is of the same places, the same work, and came out as it must."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specbench.analysis.hosts.equivalence import place_by_address
from specbench.analysis.hosts.previous_run_checks import citation, places_of, unlike_treatment
from specbench.analysis.judge import judge
from specbench.arms.previous_runs import check_previous_runs, previous_runs
from specbench.errors import ScenarioError
from specbench.model.guardrails import effective_guardrails
from specbench.model.previous_runs import PreviousRun
from specbench.model.records import Manifest, RunData
from specbench.model.result import Result
from specbench.model.scenario import Design, Guardrail, Launch, Scenario, Success
from specbench.report import result_json
from specbench.store import MANIFEST, RESULT, pretty
from tests.support.evidence import NONE, Effect, a_manifest, a_scenario, an_arm, evidence, with_guardrails
from tests.support.goldens import same_text

GPU1, GPU2, GPU3 = "http://gpu1:8000/v1", "http://gpu2:8000", "http://gpu3:8000"
DRAFTS = {"method": "ngram", "num_speculative_tokens": 4}
RULE = Guardrail(  # closer than the default of its metric
    metric="tpot_p95", role="guardrail", margin=0.05, floor=0.0, slo=None, required=True, cells=None, bins=None
)
WINS, LOSES, SAME = Effect(tpot=0.6), Effect(tpot=1.5), NONE


def scenario(first: str = GPU1, second: str = GPU2, design: Design = "plain", **changes: Any) -> Scenario:
    """A comparison of two URLs at 1 and 4 streams; in an A/A the second place speculates no more than the first."""
    arms: dict[str, Any] = {
        "baseline": an_arm(first),
        "speculative": an_arm(second, None if design == "aa" else DRAFTS),
    }
    return a_scenario([1, 4], design=design, **(arms | changes))


def ran(asked: Scenario, effect: Effect, seed: int = 7) -> tuple[RunData, Result]:
    """A finished run and its result."""
    run = evidence(effect, asked, seed=seed, requests=24)
    return run, judge(run, "0")


def cite(earlier: tuple[RunData, Result], asked: Scenario, cited: str = "earlier") -> PreviousRun:
    """What the later run's manifest holds of the earlier one."""
    return citation(cited, earlier[0].manifest, earlier[1], a_manifest(asked))


def judged_citing(earlier: PreviousRun, asked: Scenario, effect: Effect, seed: int = 8) -> Result:
    """The later run's result."""
    run = evidence(effect, asked, seed=seed, requests=24)
    return judge(replace(run, manifest=replace(run.manifest, previous_runs=(earlier,))), "0")


def test_an_a_a_that_found_nothing_lets_the_gain_count() -> None:
    """HOLD for two places without it, PROMOTE with it, and ROLLBACK where speculation harms; the result says by which run."""
    found = cite(ran(scenario(design="aa"), SAME), scenario())

    assert (found.kind, found.verdict, found.problem) == ("aa", "HOLD", None)
    assert found.checked == (
        "complete",
        "valid",
        "places",
        "design",
        "engine",
        "model",
        "hardware",
        "workload",
        "cells",
        "asked",
        "result",
    )
    assert ran(scenario(), WINS)[1].reasons[0].code == "place_not_controlled"
    result = judged_citing(found, scenario(), WINS)
    assert result.verdict == "PROMOTE"
    same_text("alike by an A/A", *(note for note in result.notes if "earlier" in note))
    assert judged_citing(found, scenario(), LOSES).verdict == "ROLLBACK"


def test_an_a_a_speaks_of_its_places_in_either_order() -> None:
    """Which of two equal arms was called the baseline is all one; a port left out is the scheme's own."""
    earlier = ran(scenario("http://GPU2:80/v1", "http://gpu1:8000", design="aa"), SAME)

    assert cite(earlier, scenario(GPU1, "http://gpu2")).problem is None


@pytest.mark.parametrize(
    ("name", "earlier", "later"),
    [
        ("another place", scenario(GPU1, GPU3, "aa"), scenario()),
        ("no A/A and no swap", scenario(), scenario()),
        (
            "another engine",
            scenario(design="aa"),
            scenario(baseline=replace(an_arm(GPU1), engine="sglang"), speculative=replace(an_arm(GPU2), engine="sglang")),
        ),
        ("another workload", scenario(design="aa"), scenario(workload=replace(scenario().workload, route="completions"))),
        ("one load missing", scenario(design="aa"), scenario(matrix=a_scenario([1, 4, 16]).matrix)),
        ("another speculation", scenario(GPU2, GPU1, "swap"), scenario(speculative=an_arm(GPU2, {"method": "eagle3"}))),
    ],
)
def test_a_run_of_something_else_shows_nothing(name: str, earlier: Scenario, later: Scenario) -> None:
    """And the place stays in doubt, with that sentence."""
    found = cite(ran(earlier, SAME if earlier.design == "aa" else WINS), later)

    assert found.problem is not None
    result = judged_citing(found, later, WINS)
    assert (result.verdict, result.reasons[0].code) == ("HOLD", "place_not_controlled")
    (sentence,) = (text for text in (*(r.message for r in result.reasons), *result.notes) if found.problem in text)
    same_text(name, found.problem, sentence)


TIGHT = replace(scenario(), guardrails=effective_guardrails((RULE,), True, "natural"))
LOOSE_AA = replace(scenario(design="aa"), guardrails=effective_guardrails((replace(RULE, margin=0.30),), True, "natural"))


@pytest.mark.parametrize(
    ("earlier", "later", "problem"),
    [
        (scenario(design="aa", success=Success(metric="output_tps", improve_by=0.05)), scenario(), "gain in another metric"),
        (scenario(design="aa", success=Success(metric="tpot_p50", improve_by=0.5)), scenario(), "a larger gain"),
        (scenario(design="aa", success=Success(metric="tpot_p50", improve_by=0.03)), scenario(), None),
        (
            scenario(design="aa", matrix=a_scenario([1, 4], primary=4.0).matrix),
            scenario(),
            "gain in another cell",
        ),
        (LOOSE_AA, scenario(), "tpot_p95 guarded less"),
        (replace(LOOSE_AA, guardrails=TIGHT.guardrails), scenario(), None),
        (scenario(design="aa"), TIGHT, "tpot_p95 guarded less"),
        (
            replace(LOOSE_AA, guardrails=effective_guardrails((replace(RULE, floor=9.0),), True, "natural")),
            scenario(),
            "tpot_p95 guarded less",
        ),
        (
            replace(LOOSE_AA, guardrails=effective_guardrails((replace(RULE, cells=(1.0,)),), True, "natural")),
            scenario(),
            "tpot_p95 guarded less",
        ),
        (
            replace(LOOSE_AA, guardrails=effective_guardrails((replace(RULE, margin=None, slo=50.0),), True, "natural")),
            scenario(),
            "tpot_p95 guarded less",
        ),
        (with_guardrails(scenario(design="aa"), replace(RULE, cells=(1.0,))), scenario(), None),  # the default guards the rest
        (
            scenario(design="aa", matrix=replace(a_scenario([1, 4]).matrix, rate=(2.0,))),
            scenario(),
            "pace_p95 guarded less",  # it judged pace at 2 requests a second alone
        ),
        (
            scenario(design="aa", matrix=replace(a_scenario([1, 4]).matrix, rate=(2.0,))),
            scenario(matrix=replace(a_scenario([1, 4]).matrix, rate=(2.0,))),
            None,
        ),
        (scenario(design="aa"), scenario(matrix=replace(a_scenario([1, 4]).matrix, rate=(2.0,), optional=(2.0,))), None),
    ],
)
def test_an_a_a_must_have_been_asked_at_least_as_much(earlier: Scenario, later: Scenario, problem: str | None) -> None:
    """The same gain or a smaller one in the same cell, and each guardrail of this run, as close, wherever it holds."""
    found = cite(ran(earlier, SAME), later).problem

    assert (found is None) == (problem is None)
    if problem is not None:
        same_text(problem, found or "")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"success": Success(metric="tpot_p50", improve_by=0.10)}, "swap: another gain"),
        ({"guardrails": LOOSE_AA.guardrails}, "swap: other margins"),
        ({"guardrails": TIGHT.guardrails}, "swap: other margins"),
    ],
)
def test_a_swap_must_have_been_asked_the_same(changes: dict[str, Any], problem: str) -> None:
    """Findings by other margins cannot be read together."""
    same_text(problem, cite(ran(scenario(GPU2, GPU1, "swap", **changes), WINS), scenario()).problem or "")


def started(*command: str, **env: str) -> Launch:
    """How an engine is started."""
    return Launch(command=command, env=env, secrets=(), gpu=None, port=None, ready="/", timeout_s=1.0, log=None)


def drafting(depth: int) -> Manifest:
    """The comparison, whose speculative endpoint tells how it drafts."""
    return a_manifest(scenario(), baseline={}, speculative={"speculation_config": f"eagle3, {depth} tokens"})


def test_a_swap_must_be_of_the_same_treatment_as_it_was_started_and_told() -> None:
    """A scenario of URLs does not say how its engines draft; the engines may, and a command does."""
    assert unlike_treatment(drafting(4), drafting(4)) is None
    assert unlike_treatment(a_manifest(scenario()), drafting(4)) is None
    same_text("swap: another depth", unlike_treatment(drafting(4), drafting(8)) or "")

    def launched(launch: Launch) -> Manifest:
        return a_manifest(scenario(speculative=replace(an_arm(None, DRAFTS), launch=launch)))

    first = launched(started("serve", "--draft", "4", CUDA_VISIBLE_DEVICES="0"))
    assert unlike_treatment(first, launched(started("serve", "--draft", "4", CUDA_VISIBLE_DEVICES="1"))) is None
    other = unlike_treatment(first, launched(started("serve", "--draft", "8")))
    same_text("swap: another command", other or "")
    assert unlike_treatment(first, launched(started("serve", "--draft", "4", DRAFT="8"))) == other


@pytest.mark.parametrize(
    ("baseline", "speculative", "one_place"),
    [
        (None, None, True),
        (None, "http://127.0.0.1:8000", True),
        ("http://localhost:8000", "http://[::1]:8001", True),
        (GPU1, GPU1, True),
        (None, GPU1, False),
        (GPU1, None, False),
        (GPU1, "http://127.0.0.1:8000", False),
        ("http://gpu1:8000", "http://gpu1:8001", False),
    ],
)
def test_one_place_is_this_machine_or_one_url(baseline: str | None, speculative: str | None, one_place: bool) -> None:
    """An engine that is started here and one elsewhere stand in two places."""
    asked = a_scenario([1], baseline=an_arm(baseline), speculative=an_arm(speculative))

    assert place_by_address(a_manifest(asked)) is one_place


ONE, OTHER = "http://127.0.0.1:8000", "http://localhost:8001"


@pytest.mark.parametrize(
    ("count", "baseline", "speculative", "one_place"),
    [
        (0, {}, {}, True),  # no accelerator, so the processors are the place
        (1, {}, {}, True),
        (2, {}, {}, False),
        (None, {}, {}, False),  # the folder of an older version does not tell
        (2, {"gpu": "GPU-1"}, {"gpu": "GPU-1"}, True),
        (None, {"gpu": "GPU-1"}, {"gpu": "GPU-1"}, True),
        (2, {"gpu": "GPU-1"}, {"gpu": "GPU-2"}, False),
        (0, {"gpu": "GPU-1"}, {"gpu": "GPU-2"}, False),
        (2, {"gpu": "GPU-1"}, {}, False),
    ],
)
def test_two_urls_of_this_machine_are_one_place_on_one_accelerator(
    count: int | None, baseline: dict[str, str], speculative: dict[str, str], one_place: bool
) -> None:
    """They say the same one, or the machine has no two."""
    asked = a_scenario([1], baseline=an_arm(ONE), speculative=an_arm(OTHER))
    manifest = replace(a_manifest(asked, baseline=baseline, speculative=speculative), accelerators=count)

    assert place_by_address(manifest) is one_place
    assert place_by_address(replace(manifest, scenario=replace(asked, place="same")))


def test_two_accelerators_of_one_machine_hold_a_win_and_are_named() -> None:
    """Whether they are two, or nobody says."""
    asked = a_scenario([1], baseline=an_arm(ONE), speculative=an_arm(OTHER))
    run = evidence(WINS, asked, requests=24)

    def held(count: int | None, **gpus: str) -> Result:
        facts = {arm: {"gpu": gpu} for arm, gpu in gpus.items()}
        return judge(replace(run, manifest=replace(a_manifest(asked, **facts), accelerators=count)), "0")

    two, untold, old = held(2, baseline="GPU-1", speculative="GPU-2"), held(2), held(None)

    assert {(found.verdict, found.reasons[0].code) for found in (two, untold, old)} == {("HOLD", "place_not_controlled")}
    same_text("accelerators", *(found.reasons[1].message for found in (two, untold, old)))


@pytest.mark.parametrize(
    ("first", "second", "one_place"),
    [
        (started("serve"), started("serve"), True),  # both take the default
        (started("serve", CUDA_VISIBLE_DEVICES="0"), started("serve", CUDA_VISIBLE_DEVICES="0"), True),
        (started("serve", CUDA_VISIBLE_DEVICES="0"), started("serve", CUDA_VISIBLE_DEVICES="1"), False),
        (replace(started("serve"), gpu="0"), replace(started("serve"), gpu="1"), False),
    ],
)
def test_engines_that_are_started_on_two_accelerators_stand_in_two_places(first: Launch, second: Launch, one_place: bool) -> None:
    """An A/A or a swap of the two shows them alike."""
    asked = a_scenario([1], baseline=replace(an_arm(), launch=first), speculative=replace(an_arm(), launch=second))
    manifest = replace(a_manifest(asked), accelerators=2)

    assert place_by_address(manifest) is one_place
    assert (len(set(places_of(manifest))) == 1) is one_place


def _partial(run: RunData) -> RunData:
    return replace(run, finished=None)


def _late(run: RunData) -> RunData:
    return replace(run, blocks=tuple(replace(b, health=replace(b.health, cpu_share=0.97)) for b in run.blocks))


@pytest.mark.parametrize(
    ("name", "effect", "change"),
    [
        ("A/A: partial", SAME, _partial),
        ("A/A: invalid", SAME, _late),
        ("A/A: a slower place", replace(NONE, tpot=1.3), None),
        ("A/A: a faster place", replace(NONE, tpot=0.7), None),
        ("A/A: failures", replace(NONE, fails=0.2), None),
        ("A/A: open", replace(NONE, tpot=0.97, noise=0.3), 4),
    ],
)
def test_an_a_a_that_ended_otherwise_shows_nothing(
    name: str, effect: Effect, change: Callable[[RunData], RunData] | int | None
) -> None:
    """A slower second place, a faster one, or one that fails; and a run that is no evidence at all."""
    noisy = replace(NONE, noise=effect.noise)
    pairs = change if isinstance(change, int) else 10
    run = evidence(effect, scenario(design="aa", matrix=a_scenario([1, 4], pairs=pairs).matrix), requests=24, baseline=noisy)
    run = change(run) if callable(change) else run
    found = citation("earlier", run.manifest, judge(run, "0"), a_manifest(scenario()))

    same_text(name, found.problem or "")
    assert judged_citing(found, scenario(), WINS).reasons[0].code == "place_not_controlled"


def told(asked: Scenario, baseline: str, speculative: str, model: str = "m") -> Manifest:
    """A manifest whose endpoints tell their hardware."""
    manifest = a_manifest(asked, baseline={"hardware": baseline}, speculative={"hardware": speculative})
    return replace(manifest, endpoints=tuple(replace(endpoint, model=model) for endpoint in manifest.endpoints))


def test_another_model_or_another_machine_at_an_address_shows_nothing() -> None:
    """A machine is looked for at its own place, whichever arm stood there."""
    run, result = ran(scenario(GPU2, GPU1, design="aa"), SAME)
    then = told(run.manifest.scenario, "A10", "L4")

    assert citation("a", then, result, told(scenario(), "L4", "A10")).problem is None
    same_text("another machine", citation("a", then, result, told(scenario(), "L4", "L40")).problem or "")
    same_text("another model", citation("a", then, result, told(scenario(), "L4", "A10", "n")).problem or "")


def test_the_same_effect_with_the_arms_exchanged_lets_it_count() -> None:
    """Speculation wins wherever it runs, and both runs together put the places within the margins; either may cite the other."""
    found = cite(ran(scenario(GPU2, GPU1, "swap"), WINS), scenario())
    assert (found.kind, found.problem, found.checked[-2:]) == ("swap", None, ("treatment", "asked"))
    assert judged_citing(found, scenario(), WINS).verdict == "PROMOTE"

    back = cite(ran(scenario(), WINS), scenario(GPU2, GPU1, "swap"))
    assert judged_citing(back, scenario(GPU2, GPU1, "swap"), WINS).verdict == "PROMOTE"


@pytest.mark.parametrize(
    ("here", "there", "doubt"),
    [
        (Effect(tpot=0.6), Effect(tpot=1.5), "swap: harm there"),
        (Effect(tpot=0.9), Effect(tpot=0.5), "swap: unlike places"),
        (Effect(tpot=0.93), Effect(tpot=0.97), "swap: less there"),
    ],
)
def test_an_effect_that_stays_with_the_place_is_the_places(here: Effect, there: Effect, doubt: str) -> None:
    """The gain is gone where the arms are exchanged, or much smaller: 0.9 and 0.5 are 0.67 of speculation and 1.34 of place."""
    found = cite(ran(scenario(GPU2, GPU1, "swap"), there), scenario())
    result = judged_citing(found, scenario(), here)

    assert found.problem is None
    assert result.reasons[0].code == "place_not_controlled"
    same_text(doubt, result.reasons[1].message)


def test_one_sound_citation_among_several_is_enough() -> None:
    """The others still say why they show nothing."""
    good = cite(ran(scenario(design="aa"), SAME), scenario())
    bad = replace(good, cited="other", problem="it was left unfinished")
    run = evidence(WINS, scenario(), requests=24)
    result = judge(replace(run, manifest=replace(run.manifest, previous_runs=(bad, good))), "0")

    assert result.verdict == "PROMOTE"
    same_text("two citations", *(note for note in result.notes if "(r1)" in note))


def test_cited_runs_are_found_by_path_or_beside_the_run_and_a_lost_one_says_so(tmp_path: Path) -> None:
    """What is read goes into the manifest, so that the folder alone can be judged again."""
    run, result = ran(scenario(design="aa"), SAME)
    (tmp_path / "aa-1").mkdir()
    (tmp_path / "aa-1" / MANIFEST).write_bytes(pretty(run.manifest))
    here = a_manifest(scenario(place_runs=("aa-1", str(tmp_path / "aa-1"), "gone")))

    unjudged = previous_runs(here, tmp_path / "new")[0].problem
    assert unjudged is not None
    assert "there is no result here; make one with: specbench analyze" in unjudged
    (tmp_path / "aa-1" / RESULT).write_bytes(result_json(result))
    beside, by_path, gone = previous_runs(here, tmp_path / "new")
    assert beside.problem is None
    assert by_path == replace(beside, cited=str(tmp_path / "aa-1"))
    assert gone.problem == f"no such run at gone or {tmp_path / 'gone'}"
    (tmp_path / "aa-1" / MANIFEST).write_text('{"format_version": 7}')
    assert "has format version 7" in (previous_runs(here, tmp_path / "new")[0].problem or "")


def test_a_lost_citation_is_refused_before_load_and_an_a_a_reads_none(tmp_path: Path) -> None:
    """In one line that says where it was looked for; what is there but cannot be read is refused as well."""
    with pytest.raises(ScenarioError) as lost:
        check_previous_runs(scenario(place_runs=("gone",)), tmp_path / "new")
    assert f"place: run gone: no such run at gone or {tmp_path / 'gone'}" in str(lost.value)
    assert "\n" not in str(lost.value)
    with pytest.raises(ScenarioError, match=r"place: run a{300}: a{300}: cannot be read \(File name too long\); fix"):
        check_previous_runs(scenario(place_runs=("a" * 300,)), tmp_path / "new")
    check_previous_runs(scenario(design="aa", place_runs=("gone",)), tmp_path / "new")
    assert previous_runs(a_manifest(scenario(design="aa", place_runs=("gone",))), tmp_path / "new") == ()

    run, result = ran(scenario(design="aa"), SAME)
    (tmp_path / "aa-1").mkdir()
    (tmp_path / "aa-1" / MANIFEST).write_bytes(pretty(run.manifest))
    with pytest.raises(ScenarioError, match="make one with: specbench analyze"):
        check_previous_runs(scenario(place_runs=("aa-1",)), tmp_path / "new")
    (tmp_path / "aa-1" / RESULT).write_bytes(result_json(result))
    check_previous_runs(scenario(place_runs=("aa-1",)), tmp_path / "new")
