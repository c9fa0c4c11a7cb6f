"""`--aa` and `--swap` change what runs where, and nothing else; arms that do not allow it are refused in one line."""

import pytest

from specbench.errors import ScenarioError
from specbench.model.scenario import Design, Scenario
from specbench.scenario.parse import Overrides, parse_scenario

SCENARIO = """\
name: places
arms:
  baseline: BASELINE
  speculative: SPECULATIVE
workload:
  source: {corpus: python}
  bins: [{name: all, input_tokens: [8, 16], output_tokens: [8, 8]}]
"""
GPU1 = "{engine: vllm, url: 'http://gpu1:8000', api_key_env: KEY1, declare: {hardware: L4}}"
GPU2 = (
    "{engine: vllm, url: 'http://gpu2:8000', metrics_url: 'http://gpu2:9000', declare: {hardware: A10, speculation: on},"
    " extra_body: {draft: true}, speculative: {method: ngram, num_speculative_tokens: 4}}"
)
EMBEDDED = "{engine: embedded, options: {max_model_len: 4096}}"
DRAFTING = "{engine: embedded, speculative: {method: ngram, num_speculative_tokens: 4}, slow_by: 30%}"
LAUNCHED = "{engine: vllm, launch: {command: [serve, '{port}'], gpu: '0', port: 8001}}"
LAUNCHED_DRAFTING = "{engine: vllm, launch: {command: [serve, --draft, '{port}'], gpu: '1', port: 8002}}"


def parsed(baseline: str, speculative: str, design: Design = "plain", place: tuple[str, ...] = (), more: str = "") -> Scenario:
    """The scenario with these arms, run by this design."""
    text = SCENARIO.replace("BASELINE", baseline).replace("SPECULATIVE", speculative.replace("on}", "'on'}")) + more
    return parse_scenario(text, "s.yaml", Overrides(design=design, place=place))


def test_an_a_a_of_two_urls_asks_both_places_for_what_the_baseline_is_asked() -> None:
    """The second place keeps its address, its metrics and what is declared of its hardware."""
    scenario = parsed(GPU1, GPU2, "aa")
    arm = scenario.speculative

    assert scenario.design == "aa"
    assert scenario.baseline == parsed(GPU1, GPU2).baseline
    assert (arm.url, arm.metrics_url, arm.api_key_env) == ("http://gpu2:8000", "http://gpu2:9000", None)
    assert (arm.speculative, arm.extra_body, arm.declare) == (None, {}, {"hardware": "A10"})


def test_an_a_a_starts_the_baselines_engine_twice() -> None:
    """Embedded: the very same arm. Launched: the same command on the second arm's GPU and port."""
    embedded = parsed(EMBEDDED, DRAFTING, "aa")
    assert embedded.speculative == embedded.baseline

    launch = parsed(LAUNCHED, LAUNCHED_DRAFTING, "aa").speculative.launch
    assert launch is not None
    assert (launch.command, launch.gpu, launch.port) == (("serve", "{port}"), "1", 8002)


def test_an_a_a_needs_to_know_what_the_baseline_runs() -> None:
    """A URL does not say how to start its engine a second time."""
    with pytest.raises(ScenarioError, match="--aa: the baseline is a URL, but the speculative arm is started here"):
        parsed(GPU1, LAUNCHED, "aa")


def test_a_swap_runs_the_treatment_where_the_baseline_ran() -> None:
    """Addresses, keys and hardware stay with the place, bodies and speculation go with the arm."""
    scenario = parsed(GPU1, GPU2, "swap")
    before, after = scenario.baseline, scenario.speculative

    assert scenario.design == "swap"
    assert (before.url, before.metrics_url, before.api_key_env) == ("http://gpu2:8000", "http://gpu2:9000", None)
    assert (before.speculative, before.extra_body, before.declare) == (None, {}, {"hardware": "A10"})
    assert (after.url, after.metrics_url, after.api_key_env) == ("http://gpu1:8000", None, "KEY1")
    assert after.speculative == {"method": "ngram", "num_speculative_tokens": 4}
    assert (after.extra_body, after.declare) == ({"draft": True}, {"hardware": "L4", "speculation": "on"})


def test_a_swap_of_launched_engines_exchanges_gpu_and_port() -> None:
    """The commands stay with their arms."""
    scenario = parsed(LAUNCHED, LAUNCHED_DRAFTING, "swap")
    assert scenario.baseline.launch is not None
    assert scenario.speculative.launch is not None

    assert (scenario.baseline.launch.gpu, scenario.baseline.launch.port) == ("1", 8002)
    assert (scenario.speculative.launch.gpu, scenario.speculative.launch.command[1]) == ("0", "--draft")


@pytest.mark.parametrize(
    ("baseline", "speculative"),
    [
        (EMBEDDED, DRAFTING),
        (GPU1, GPU1),
        (GPU1, LAUNCHED),
        ("{url: 'http://localhost:8000'}", "{url: 'http://127.0.0.1:8000/v1'}"),
    ],
)
def test_arms_without_two_places_cannot_be_swapped(baseline: str, speculative: str) -> None:
    """Nothing would change, or nobody knows how to start what a URL serves."""
    with pytest.raises(ScenarioError, match="--swap: the arms cannot be swapped"):
        parsed(baseline, speculative, "swap")


@pytest.mark.parametrize(
    ("key", "flags", "place", "runs"),
    [
        ("", (), None, ()),
        ("place: same\n", (), "same", ()),
        ("place: aa-1\n", (), None, ("aa-1",)),
        ("place: [aa-1, reports/aa-2]\n", ("aa-1", "aa-3"), None, ("aa-1", "reports/aa-2", "aa-3")),
        ("place: aa-1\n", ("same",), "same", ("aa-1",)),
    ],
)
def test_earlier_runs_are_cited_by_key_or_flag(
    key: str, flags: tuple[str, ...], place: str | None, runs: tuple[str, ...]
) -> None:
    """`same` declares the places alike; every other word names a run."""
    scenario = parsed(GPU1, GPU2, place=flags, more=key)

    assert (scenario.place, scenario.place_runs) == (place, runs)


def test_an_a_a_is_what_others_cite() -> None:
    """A run named on its command line is refused; one that its scenario names for later runs stays, and is not read."""
    assert parsed(GPU1, GPU2, "aa", more="place: aa-1\n").place_runs == ("aa-1",)
    with pytest.raises(ScenarioError, match=r"^--place: an A/A run \(--aa\) cites no other run; omit --place$"):
        parsed(GPU1, GPU2, "aa", place=("aa-1",))


MEASURED = (
    "{engine: vllm, metrics_url: 'http://127.0.0.1:800N/metrics', options: {gpu_metrics_url: 'http://dcgm:9400', gpus: [N]},"
    " declare: {hardware: GPUN, speculation: 'HOW'}, launch: {command: [serve, HOW, '{port}'], gpu: 'N', port: 800N}}"
)
PLAIN0, DRAFTS1 = (MEASURED.replace("N", n).replace("HOW", how) for n, how in (("0", "off"), ("1", "on")))


@pytest.mark.parametrize(("design", "speculates"), [("aa", ("off", "off")), ("swap", ("off", "on"))])
def test_facts_of_a_place_stay_with_it_where_engines_are_started(design: Design, speculates: tuple[str, str]) -> None:
    """Which GPU is watched, where metrics are and what the machine is; what is declared of speculation goes with the engine."""
    scenario = parsed(PLAIN0, DRAFTS1, design)
    arms = (scenario.baseline, scenario.speculative)

    for arm, place in zip(arms, ("0", "1") if design == "aa" else ("1", "0"), strict=True):
        assert arm.launch is not None
        assert (arm.launch.gpu, arm.options["gpus"], arm.declare["hardware"]) == (place, [int(place)], f"GPU{place}")
        assert arm.metrics_url == f"http://127.0.0.1:800{place}/metrics"
    assert tuple(arm.declare["speculation"] for arm in arms) == speculates


@pytest.mark.parametrize("design", ["aa", "swap"])
def test_a_device_named_in_the_environment_is_refused(design: Design) -> None:
    """It would move with the command, and both runs would be of one place; the same device in both arms moves nothing."""

    def on(device: str) -> str:
        return LAUNCHED_DRAFTING.replace("gpu: '1'", f"env: {{HIP_VISIBLE_DEVICES: '{device}'}}")

    with pytest.raises(ScenarioError) as refused:
        parsed(on("0").replace("8002", "8001"), on("1"), design)
    assert f"--{design}: HIP_VISIBLE_DEVICES in arms.*.launch.env names a device" in str(refused.value)
    assert "launch.gpu" in str(refused.value)
    assert parsed(on("0").replace("8002", "8001"), on("0"), design).design == design
    assert parsed(on("0"), on("1")).design == "plain"


PLAIN = "{url: 'http://gpu1:8000', model: m}"


@pytest.mark.parametrize("other", ["http://gpu1:8000", "http://GPU1:8000/v1", "http://gpu1:8000/"])
def test_one_endpoint_that_is_asked_for_the_same_twice_is_refused(other: str) -> None:
    """Two arms need a difference; an A/A needs none."""
    twice = f"{{url: '{other}', model: m}}"

    with pytest.raises(ScenarioError, match="both arms are the same endpoint"):
        parsed(PLAIN, twice)
    assert parsed(PLAIN, twice, "aa").design == "aa"


@pytest.mark.parametrize(
    "apart",
    [
        "extra_body: {draft: true}",
        "path: /other/chat/completions",
        "headers: {x-arm: b}",
        "api_key_env: KEY2",
        "header_env: {x-k: K}",
    ],
)
def test_one_endpoint_that_can_tell_the_arms_apart_is_two_arms(apart: str) -> None:
    """By the body, the path, a header or the key, as gateways route."""
    assert parsed(PLAIN, f"{{url: 'http://gpu1:8000', model: m, {apart}}}").speculative.url == "http://gpu1:8000"


@pytest.mark.parametrize(("baseline", "speculative", "named"), [(PLAIN, DRAFTING, "speculative"), (EMBEDDED, PLAIN, "baseline")])
def test_a_url_beside_the_embedded_engine_is_refused(baseline: str, speculative: str, named: str) -> None:
    """Times of the one are virtual; an engine that a launch block starts is as real as a URL."""
    with pytest.raises(ScenarioError, match=f"arms.{named}: --{named} URL is missing"):
        parsed(baseline, speculative)
    assert parsed(PLAIN, LAUNCHED).speculative.launch is not None
