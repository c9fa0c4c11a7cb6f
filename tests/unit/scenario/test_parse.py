"""A scenario is parsed once and frozen; whatever is wrong in it is one line with file, line and key."""

from pathlib import Path
from typing import Any

import pytest

from specbench.errors import ScenarioError
from specbench.model.scenario import Scenario, StartSd
from specbench.scenario.parse import Overrides, parse_scenario

CODE = Path("scenarios/code.yaml").read_text()
MINIMAL = """\
name: small
arms:
  baseline: {url: "http://127.0.0.1:1/v1"}
  speculative: {url: "http://127.0.0.1:2"}
workload:
  source: {corpus: python}
  bins:
    - {name: all, input_tokens: [8, 16], output_tokens: [8, 8]}
"""


def parsed(content: str, *settings: tuple[str, str], profile: str | None = None) -> Scenario:
    """The scenario that `content` describes."""
    return parse_scenario(content, "s.yaml", Overrides(profile=profile, settings=settings))


def problem(content: str, *settings: tuple[str, str]) -> str:
    """The one line that this content is refused with."""
    with pytest.raises(ScenarioError) as error:
        parsed(content, *settings)
    message = str(error.value)
    assert "\n" not in message
    assert int(error.value.exit_code) == 64
    return message


@pytest.mark.parametrize(
    ("settings", "limits"),
    [
        ({}, (90, 30, 90)),  # a block of the standard profile lasts 90 s at most
        ({"matrix.block.max_s": "2000"}, (120, 30, 600)),
        ({"matrix.block.max_s": "2000", "matrix.limits.total_s": "1000"}, (120, 30, 1000)),
        ({"matrix.limits.total_s": "20"}, (20, 20, 20)),
        ({"matrix.limits": "{first_token_s: 5, stall_s: 2.5}"}, (5, 2.5, 90)),
    ],
)
def test_the_limits_of_a_request_are_those_of_a_block_at_most(settings: dict[str, str], limits: tuple[float, ...]) -> None:
    """Until the first token, between two, in all: one set for both arms."""
    found = parsed(MINIMAL, *settings.items()).matrix.limits

    assert (found.first_token_s, found.stall_s, found.total_s) == limits


@pytest.mark.parametrize(
    ("content", "where", "named"),
    [
        (MINIMAL + "matrix: {limits: {first_token_s: 0}}\n", "s.yaml:9: matrix.limits.first_token_s: ", "0"),
        (MINIMAL + "matrix: {limits: {total_s: -3}}\n", "s.yaml:9: matrix.limits.total_s: ", "-3"),
        (MINIMAL + "matrix: {limits: {stall_s: 5s}}\n", "s.yaml:9: matrix.limits.stall_s: ", "'5s'"),
        (MINIMAL + "matrix: {limits: {first_token_s: 100}}\n", "s.yaml:9: matrix.limits.first_token_s: ", "max_s"),
        (MINIMAL + "matrix: {limits: {total_s: 20, stall_s: 25}}\n", "s.yaml:9: matrix.limits.stall_s: ", "total_s"),
        (MINIMAL.replace('1/v1"}', '1/v1", limits: {total_s: 9}}'), "s.yaml:3: arms.baseline: ", "matrix.limits"),
        (MINIMAL.replace('1:2"}', '1:2", limits: {total_s: 9}}'), "s.yaml:4: arms.speculative: ", "matrix.limits"),
        (MINIMAL + "limits: {total_s: 9}\n", "s.yaml:9: limits: ", "matrix.limits"),
        (MINIMAL + "matrix: {block: {limits: {total_s: 9}}}\n", "s.yaml:9: matrix.block.limits: ", "matrix.limits"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused_where_they_stand(content: str, where: str, named: str) -> None:
    """Zero, no number, longer than a block or the whole request, or one arm's alone: with the place where they belong."""
    message = problem(content)

    assert message.startswith(where)
    assert named in message


def test_a_minimal_scenario_gets_every_default() -> None:
    """URLs, a source and one bin are enough."""
    scenario = parsed(MINIMAL)

    assert scenario.profile == "standard"
    assert scenario.matrix.concurrency == (1, 4, 16)
    assert scenario.matrix.primary == 1
    assert scenario.matrix.pairs == 10
    assert (scenario.matrix.block.min_requests, scenario.matrix.block.min_s, scenario.matrix.block.max_s) == (30, 20, 90)
    assert scenario.baseline.engine == "openai"
    assert scenario.success.metric == "tpot_p50"
    assert scenario.success.improve_by == 0.05
    assert {rail.metric for rail in scenario.guardrails} >= {
        "tpot_p95",
        "pace_p95",
        "ttft_paired",
        "ttft_p95",
        "e2e_p95",
        "output_tps",
        "error_rate",
    }


@pytest.mark.parametrize(
    ("given", "sd", "df"), [("2%", 0.02, None), ("{sd: 1.5%, df: 7}", 0.015, 7), ("0%", 0.0, None), ("20%", 0.2, None)]
)
def test_how_far_starts_differ_is_stated_or_measured(given: str, sd: float, df: float | None) -> None:
    """`calibrate` prints both numbers; nothing given is 1 %."""
    assert parsed(CODE, ("matrix.start_sd", given)).matrix.start_sd == StartSd(sd=sd, df=df)
    assert parsed(CODE).matrix.start_sd == StartSd(sd=0.01)


def test_a_setting_beats_the_scenario_which_beats_the_profile() -> None:
    """--set matrix.pairs, then matrix.pairs, then --profile."""
    own = CODE.replace("  traffic: mixed\n", "  traffic: mixed\n  pairs: 7\n")

    assert parsed(CODE, profile="smoke").matrix.pairs == 4
    assert parsed(own, profile="smoke").matrix.pairs == 7
    assert parsed(own, ("matrix.pairs", "9"), profile="smoke").matrix.pairs == 9


def test_a_listed_guardrail_replaces_the_default_of_its_metric_and_the_others_stay() -> None:
    """code.yaml's own pace guardrail stands once."""
    rails = parsed(CODE.replace("worse_by_at_most: 10%", "worse_by_at_most: 12.5%")).guardrails

    assert [rail.margin for rail in rails if rail.metric == "pace_p95"] == [0.125]
    assert any(rail.metric == "tpot_p95" for rail in rails)


def test_defaults_off_leaves_only_what_is_listed() -> None:
    """`defaults: off` drops the default guardrails (and `off` is no boolean)."""
    rails = parsed(CODE + "defaults: off\n").guardrails

    assert {rail.metric for rail in rails} == {"pace_p95", "ttft_paired"}


def test_urls_from_the_command_line_replace_embedded_arms() -> None:
    """`--baseline URL` turns an embedded arm into that endpoint, its embedded options gone."""
    overrides = Overrides(baseline_url="http://127.0.0.1:1", speculative_url="http://127.0.0.1:2", model="m")
    scenario = parse_scenario(CODE, "s.yaml", overrides)

    assert (scenario.speculative.engine, scenario.speculative.url) == ("openai", "http://127.0.0.1:2")
    assert scenario.speculative.speculative is None
    assert (scenario.speculative.recognise, parsed(CODE).speculative.recognise) == (True, False)
    assert scenario.baseline.model == "m"


def test_numbers_in_other_spellings_are_numbers() -> None:
    """`1e3` and `1_000` mean 1000."""
    assert parsed(MINIMAL + "matrix: {rate: [1e3]}\n").matrix.rate == (1000.0,)
    assert parsed(MINIMAL + "seed: 1_000\n").seed == 1000


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  traffic: mixed", "  trafic: mixed", "s.yaml:19: matrix.trafic: unknown key; did you mean traffic?"),
        ("  traffic: mixed", "  traffic: some", "s.yaml:19: matrix.traffic: must be 'mixed' or 'separate' (it is 'some')"),
        (
            "  primary: 1\n",
            "  primary: 1\n  primary: 4\n",
            "s.yaml:22: matrix.primary: duplicate key, first at line 21; keep one",
        ),
        (
            "  primary: 1",
            "  start_sd: 21%",
            "s.yaml:21: matrix.start_sd.sd: lies outside 0% to 20%; engines whose starts differ by more need schedule: restart"
            " (it is '21%')",
        ),
        ("  primary: 1", "  start_sd: 1", "s.yaml:21: matrix.start_sd.sd: write a share with its unit, such as 5% (it is 1)"),
        (
            "  primary: 1",
            "  start_sd: {sd: 1%, df: 0}",
            "s.yaml:21: matrix.start_sd.df: must be greater than or equal to 1 (it is 0)",
        ),
        (
            "metric: ttft_paired",
            "metric: ttft_at_p50",
            "s.yaml:26: guardrails[1].metric: ttft_at_p50 is no guardrail any more; ttft_paired guards the median too, in blocks"
            " of any size",
        ),
        (
            "metric: ttft_paired, worse_by_at_most: 15%, floor_ms: 20",
            "metric: ttft_paired, slo: 300",
            "s.yaml:26: guardrails[1].slo: ttft_paired compares both arms, so it has no absolute limit; use ttft_p50 or ttft_p95",
        ),
        ("  primary: 1", "  primary: 2", "s.yaml:21: matrix.primary: 2 is not a configured level (1, 4, 16)"),
        ("streaming: true", "streaming: no", "s.yaml:11: workload.streaming: must be true or false, not 'no'"),
        (
            "streaming: true",
            "streaming: false",
            "s.yaml:11: workload.streaming: must be true, as latency per token needs a stream",
        ),
        ("weight: 3", "weight: 0", "s.yaml:13: workload.bins[0].weight: must be greater than 0 (it is 0)"),
        (
            "input_tokens: [16, 48]",
            "input_tokens: [48, 16]",
            "s.yaml:13: workload.bins[0].input_tokens: the first number is the lower end",
        ),
        ("input_tokens: [16, 48]", "input_tokens: [16]", "s.yaml:13: workload.bins[0].input_tokens"),
        ("improve_by: 5%", "improve_by: 5", "s.yaml:23: success.improve_by: write a share with its unit, such as 5%"),
        ("improve_by: 5%", "improve_by: 5 ms", "s.yaml:23: success.improve_by: write a share with its unit, such as 5%"),
        ("floor_ms: 0.5", "floor_ms: 0.5s", "s.yaml:25: guardrails[0].floor_ms: write a plain number of milliseconds"),
        ("pace_p95,", "pace_p59,", "s.yaml:25: guardrails[0].metric: no metric is called pace_p59; is pace_p95 meant?"),
        (
            "floor_ms: 0.5}",
            "floor_ms: 0.5, bins: [edit]}",
            "s.yaml:25: guardrails[0].bins: cells of mixed traffic are judged whole; set matrix.traffic to separate",
        ),
        ("concurrency: [1, 4, 16]", "concurrency: []", "s.yaml:20: matrix.concurrency: must not be empty"),
        (
            "concurrency: [1, 4, 16]",
            "concurrency: [1, four]",
            "s.yaml:20: matrix.concurrency[1]: must be a whole number, not 'four'",
        ),
        ("concurrency: [1, 4, 16]", "concurrency: [1, 1]", "s.yaml:20: matrix.concurrency: each level may stand once"),
        ("schedule: alternate", "schedule: sometimes", "s.yaml:22: matrix.schedule: must be 'alternate', 'simultaneous' or"),
        ("{engine: embedded}", "{engine: embeded}", "s.yaml:5: arms.baseline.engine: must be"),
        ("{engine: embedded}", "{engine: vllm}", "s.yaml:5: arms.baseline: needs a url"),
        ("{engine: embedded}", "{engine: vllm, launch: {}}", "s.yaml:5: arms.baseline.launch: needs a command, or a model"),
        (
            "{engine: embedded}",
            "{url: 'http://me:pw@host'}",
            "s.yaml:5: arms.baseline.url: must not hold a user name or password; name the environment variable of a key"
            " instead (api_key_env) (it is 'http://…@host')",
        ),
        ("{engine: embedded}", "{url: 'http://h:1,http://h:2'}", "s.yaml:5: arms.baseline.url: is no address"),
        ("{engine: embedded}", "{url: 'http://h', metrics_url: 'http://h:1, http://h:0'}", "baseline.metrics_url: is no address"),
        ("{engine: embedded}", "{url: 'http://h', metrics_url: 'http://h:1,http://u:p@h'}", "metrics_url: must not hold a user"),
        (
            "{engine: embedded}",
            "{url: 'http://h', options: {gpu_metrics_url: 'http://u:p@h'}}",
            "s.yaml:5: arms.baseline.options: gpu_metrics_url must not hold a user name",
        ),
        (
            "{engine: embedded}",
            "{url: 'http://h', headers: {X-Api-Key: k}}",
            "s.yaml:5: arms.baseline.headers: X-Api-Key looks like a secret",
        ),
        ("{engine: embedded}", "{url: 'http://h', headers: {X-Auth: k}}", "X-Auth looks like a secret"),
        (
            "{engine: embedded}",
            "{url: 'http://h/v1?key=sk-1'}",
            "s.yaml:5: arms.baseline.url: must not hold ? or #; name the environment variable of a key instead (api_key_env);"
            " an address has no query, it belongs to the path (path:, or --path) (it is 'http://h/v1?…')",
        ),
        (
            "{engine: embedded}",
            "{url: 'http://h', metrics_url: 'http://h/metrics?a=1&token=sk-1'}",
            "s.yaml:5: arms.baseline.metrics_url: holds what looks like a secret in its query, and scenarios are stored: use"
            " options.metrics_api_key_env (it is 'http://h/metrics?…')",
        ),
        ("{engine: embedded}", "{url: 'http://h', metrics_url: 'http://h?a=1'}", "must name the page that the query belongs to"),
        (
            "{engine: embedded}",
            "{url: 'http://h', options: {gpu_metrics_url: 'http://h/metrics?key=sk-1'}}",
            "arms.baseline.options: gpu_metrics_url holds what looks like a secret",
        ),
        (
            "{engine: embedded}",
            "{url: 'http://h', api_key_env: 'sk-123'}",
            "s.yaml:5: arms.baseline.api_key_env: must be the name of an environment variable, never a key itself",
        ),
        (
            "{engine: embedded}",
            "{url: 'http://h', extra_body: {a: [1e999]}}",
            "arms.baseline.extra_body: contains a number that is",
        ),
        ("improve_by: 5%", f"improve_by: {'9' * 400}%", "s.yaml:23: success.improve_by: must be a finite number"),
        (
            "  primary: 1\n",
            "  primary: 1\n  traffic_share: {'1': 1e999}\n",
            "s.yaml:22: matrix.traffic_share.1: must be a finite number (it is inf)",
        ),
        ("temperature: 0.8", "temperature: hot", "s.yaml:17: workload.sampling[1].temperature: must be a number, not 'hot'"),
        ("name: edit", "name: complete", "s.yaml:14: workload.bins[1].name: the name complete is used twice"),
        ("name: code\n", "name: a/b\n", "s.yaml:3: name: use letters from a to z, digits"),
        ("success: {", "success: 5 # {", "s.yaml:23: success: must be a mapping, `key: value` for each, not 5"),
        ("output_tokens: [32, 96]", "output_tokens: 32", "bins[0].output_tokens: must be two numbers, such as [32, 64], not 32"),
        ("[32, 96]", "[32, 64, 96]", "bins[0].output_tokens: must be two numbers, such as [32, 64], not [32, 64, 96]"),
        ("improve_by: 5%", "improve_by: 100%", "s.yaml:23: success.improve_by: tpot_p50 cannot fall by 100%"),
        (
            "pace_p95, worse_by_at_most: 10%",
            "output_tps, worse_by_at_most: 100%",
            "s.yaml:25: guardrails[0].worse_by_at_most: output_tps cannot fall by more than 100%",
        ),
        (
            "  primary: 1\n",
            "  primary: 1\n  traffic_share: {most: 0.5}\n",
            "matrix.traffic_share: most is not a configured level (1, 4, 16)",
        ),
        (
            "{engine: embedded}",
            "{url: 'http://h:99999'}",
            "s.yaml:5: arms.baseline.url: is no address: after http:// comes a host",
        ),
        ("{engine: embedded}", "{url: 'http://[::1'}", "s.yaml:5: arms.baseline.url: is no address"),
        ("{engine: embedded}", "{url: 'http://a b'}", "s.yaml:5: arms.baseline.url: is no address"),
        ("{engine: embedded}", "{url: 'http://h', headers: {X-A: ü}}", "s.yaml:5: arms.baseline.headers: 'X-A' cannot be sent"),
        ("source: {corpus: python}", "source: {}", "s.yaml:8: workload.source: name either a corpus or a dataset"),
        (
            "source: {corpus: python}",
            "source: {corpus: python, turns: each}",
            "workload.source.turns: says how a dataset",
        ),
        ("source: {corpus: python}", "source: {dataset: d, shape: excel}", "s.yaml:8: workload.source.shape: must be 'auto'"),
        ("source: {corpus: python}", "source: {dataset: d, keep: [stop]}", "s.yaml:8: workload.source.keep[0]: must be 'tools'"),
        ("name: edit, ", "name: edit, label: [code], ", "bins[1].label: needs workload.source.label"),
    ],
)
def test_a_fault_is_one_line_with_file_line_and_key(old: str, new: str, message: str) -> None:
    """Each kind of fault says where it stands and what to write instead."""
    assert old in CODE

    said = problem(CODE.replace(old, new, 1))
    assert message in said
    assert "sk-1" not in said


def test_a_setting_that_is_wrong_is_told_as_such() -> None:
    """Errors in --set name the key that was set."""
    assert "matrix.pairs: must be a whole number, not 'many'" in problem(CODE, ("matrix.pairs", "many"))
    assert "unknown key" in problem(CODE, ("matrix.pears", "3"))
    assert problem(CODE, ("workload.bins[9].weight", "3")).startswith(
        "--set workload.bins[9].weight: the scenario has no such place"
    )


@pytest.mark.parametrize(
    "key", ["...", "[]", "workload.bins[²].weight", "workload.bins[-1].weight", f"workload.bins[{'9' * 5000}]", "a." * 5000]
)
def test_a_key_that_names_no_place_is_refused_whatever_it_is_made_of(key: str) -> None:
    """One line that starts with the setting."""
    assert problem(CODE, (key, "3")).startswith(f"--set {key}: the scenario has no such place")


@pytest.mark.parametrize(
    ("arms", "overrides", "message"),
    [
        ("hello", Overrides(baseline_url="http://h"), "s.yaml:2: arms: must be a mapping for --baseline to change it"),
        ("[1]", Overrides(model="m"), "s.yaml:2: arms.baseline: must be a mapping for --model to change it"),
        ("{baseline: 5}", Overrides(model="m"), "s.yaml:2: arms.baseline: must be a mapping for --model to change it"),
    ],
)
def test_arms_that_are_no_mapping_are_told_whatever_the_command_line_changes(
    arms: str, overrides: Overrides, message: str
) -> None:
    """Before anything is put into them."""
    with pytest.raises(ScenarioError) as error:
        parse_scenario(f"name: s\narms: {arms}\n", "s.yaml", overrides)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"settings": (("matrix.concurrency", "4"),)}, "--set matrix.concurrency: must be a list, such as [4], not 4"),
        ({"settings": (("matrix", "{pairs: true}"),)}, "--set matrix: matrix.pairs: must be a whole number, not true"),
        ({"settings": (("matrix.pairs", "1e3"),)}, "must be a whole number without point and exponent, such as 1000, not 1000.0"),
        ({"settings": (("success.improve_by", "500%"),)}, "--set success.improve_by: tpot_p50 cannot fall by 500%"),
        (
            {"settings": (("matrix.pairs", " "),)},
            "--set matrix.pairs=: no value is given; for the default write matrix.p",
        ),
        ({"baseline_url": "localhost:8000"}, "--baseline: must start with http:// or https://"),
        ({"baseline_url": "http://h", "model": ""}, "--model: must not be empty; leave it out where one model is served"),
    ],
)
def test_what_the_command_line_gave_is_named_by_its_flag(overrides: dict[str, Any], message: str) -> None:
    """Also where the file has that key: its line says something else. A variable that is not set is no silent default."""
    with pytest.raises(ScenarioError) as error:
        parse_scenario(MINIMAL, "s.yaml", Overrides(**overrides))

    assert message in str(error.value)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("labels:", "s.yaml:1: labels: must be a mapping, `key: value` for each, not null"),
        ("guardrails: no", "s.yaml:1: guardrails: must be a list, not 'no'"),
        ("guardrails: {metric: x, cells: [true]}", "s.yaml:1: guardrails: must be a list, not {metric: 'x', cells: [true]}"),
    ],
)
def test_a_value_is_repeated_as_a_scenario_writes_it(key: str, message: str) -> None:
    """And not as Python does."""
    with pytest.raises(ScenarioError) as error:
        parse_scenario(f"{key}\n{MINIMAL}", "s.yaml", Overrides())

    assert str(error.value) == message


@pytest.mark.parametrize(
    "overrides",
    [
        Overrides(model="m\udcff"),
        Overrides(place=("r\udcff",)),
        Overrides(settings=(("labels.a", '"\\ud800"'),)),
        Overrides(settings=(("labels.\udcff", "a"),)),
        Overrides(settings=(("arms.baseline.headers.X-A", '"\\ud800"'),)),
    ],
)
def test_half_a_character_on_the_command_line_is_refused(overrides: Overrides) -> None:
    """No manifest could hold it; the line can be printed."""
    with pytest.raises(ScenarioError, match=r"contains an unpaired surrogate \('\\ud[8c][0f][0f]'\)") as error:
        parse_scenario(MINIMAL, "s.yaml", overrides)

    assert str(error.value).isascii()


def test_half_a_character_in_a_files_name_is_refused() -> None:
    """The name is stored too."""
    with pytest.raises(ScenarioError, match=r"the file's name contains an unpaired surrogate \('\\udcff'\); rename the file"):
        parse_scenario(MINIMAL, "s\udcff.yaml", Overrides())


def test_a_metrics_page_may_have_a_query() -> None:
    """A gateway's, or that of a Prometheus that federates."""
    page = "http://h/federate?match[]=vllm:num_requests_running"

    assert parsed(MINIMAL, ("arms.baseline.metrics_url", f'"{page}"')).baseline.metrics_url == page


def test_several_metrics_addresses_stand_in_one_text() -> None:
    """Replicas are separated by commas."""
    replicas = "http://127.0.0.1:1, http://127.0.0.1:2"

    assert parsed(MINIMAL, ("arms.baseline.metrics_url", f'"{replicas}"')).baseline.metrics_url == replicas


def test_a_guardrail_of_single_bins_goes_with_separate_traffic() -> None:
    """Each bin has cells of its own there."""
    rails = parsed(CODE.replace("floor_ms: 0.5}", "floor_ms: 0.5, bins: [edit]}"), ("matrix.traffic", "separate")).guardrails

    assert [rail.bins for rail in rails if rail.metric == "pace_p95"] == [("edit",), ("complete",)]


def test_a_guardrail_of_single_loads_leaves_the_default_for_the_others() -> None:
    """30 % at 16 streams, and the default's 15 % at 1 and 4."""
    rails = parsed(CODE.replace("worse_by_at_most: 15%", "worse_by_at_most: 30%, cells: [16]")).guardrails

    assert [(rail.margin, rail.cells) for rail in rails if rail.metric == "ttft_paired"] == [(0.30, (16.0,)), (0.15, (1.0, 4.0))]


def test_not_every_level_may_be_optional() -> None:
    """The primary one decides, named or not."""
    assert "the primary level 1 cannot be optional" in problem(CODE, ("matrix.optional", "[1, 4, 16]"))
    assert "the primary level 1 cannot be optional" in problem(MINIMAL + "matrix: {optional: [1, 4, 16]}\n")


def test_an_unknown_profile_names_those_that_exist() -> None:
    """The choice is told."""
    with pytest.raises(ScenarioError, match="there are smoke, standard, full"):
        parsed(CODE, profile="fast")


def test_every_shipped_scenario_parses() -> None:
    """What we ship is right."""
    shipped = sorted(Path("scenarios").glob("*.yaml"))

    assert [parse_scenario(path.read_text(), str(path), Overrides()).name for path in shipped] == [path.stem for path in shipped]


@pytest.mark.parametrize(
    ("key", "value", "carrier"),
    [
        ("arms.baseline.extra_body", "{api_key: open-sesame-1}", "api_key"),
        ("arms.baseline.extra_body", "{metadata: [{auth: {password: open-sesame-1}}]}", "password"),
        ("arms.speculative.extra_body", '{note: "Bearer open-sesame-1"}', "note"),
        ("arms.speculative.declare", "{access_token: open-sesame-1}", "access_token"),
        ("arms.speculative.speculative", "{method: ngram, api-key: open-sesame-1}", "api-key"),
        ("arms.baseline.options", "{secret: open-sesame-1}", "secret"),
        ("labels", "{token: open-sesame-1}", "token"),
        ("labels", "{team: sk-open-sesame-1-aaaaaaaa}", "team"),
        ("labels", "{token: [open-sesame-1]}", "token"),
    ],
)
def test_a_secret_in_a_field_is_refused_and_not_repeated(key: str, value: str, carrier: str) -> None:
    """Scenarios are stored with their runs: bodies, labels and declared facts as much as headers."""
    said = problem(CODE, (key, value))

    assert carrier in said
    assert "sesame" not in said


def test_what_only_resembles_a_secret_may_stand_in_a_field() -> None:
    """Counts of tokens, ends of text, keys of caches."""
    body = "{num_speculative_tokens: 4, eos_token: </s>, prompt_cache_key: team, schema: {password: {type: string}}}"

    assert parsed(CODE, ("arms.baseline.extra_body", body)).baseline.extra_body["eos_token"] == "</s>"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (("matrix.concurrency", str([*range(1, 5001)])), "matrix.concurrency: has 5000 entries, and there may be 100 at most"),
        (("matrix.rate", str([*range(1, 5001)])), "matrix.rate: has 5000 entries"),
        (("workload.sampling", str([{"name": f"s{n}", "temperature": 0} for n in range(500)])), "sampling: has 500 entries"),
        (("matrix.concurrency", "x" * 100_000), "matrix.concurrency: must be a list"),
    ],
)
def test_far_too_much_is_one_short_line(setting: tuple[str, str], said: str) -> None:
    """Thousands of loads would run for weeks; the line does not repeat them."""
    line = problem(CODE, setting)

    assert said in line
    assert len(line) < 300


def test_far_too_many_cells_are_one_short_line() -> None:
    """Loads by bins by settings, each list short enough by itself."""
    settings = (
        ("matrix.traffic", "separate"),
        ("matrix.concurrency", str([*range(1, 61)])),
        ("matrix.primary", "1"),
        ("workload.sampling", str([{"name": f"s{number}", "temperature": 0} for number in range(30)])),
    )

    assert "60 loads of 60 slices each are 3600 cells, and there may be 1000 at most" in problem(CODE, *settings)
