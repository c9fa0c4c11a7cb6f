"""A launch block becomes the command that will run, and a schedule is refused where its arms do not allow it."""

import re
from pathlib import Path

import pytest

from specbench.errors import ScenarioError
from specbench.model.scenario import Launch, Scenario
from specbench.scenario.parse import Overrides, parse_scenario

SCENARIO = """\
name: launches
arms:
  baseline: BASELINE
  speculative: SPECULATIVE
workload:
  source: {corpus: python}
  bins: [{name: all, input_tokens: [8, 16], output_tokens: [8, 8]}]
matrix: {schedule: SCHEDULE}
"""
OWN = "{launch: {command: [serve, '{port}']}}"
URL = "{url: 'http://10.0.0.1:8000'}"


def parsed(baseline: str, speculative: str = OWN, schedule: str = "alternate", baseline_url: str | None = None) -> Scenario:
    """The scenario with these arms."""
    text = SCENARIO.replace("BASELINE", baseline).replace("SPECULATIVE", speculative).replace("SCHEDULE", schedule)
    return parse_scenario(text, "s.yaml", Overrides(baseline_url=baseline_url))


def test_a_command_of_ones_own_is_taken_as_it_stands() -> None:
    """Everything else has a default; an engine of no known kind is ready when it lists its models."""
    assert parsed(OWN).baseline.launch == Launch(
        command=("serve", "{port}"),
        env={},
        secrets=(),
        gpu=None,
        port=None,
        ready="/v1/models",
        timeout_s=600.0,
        log=None,
    )


def test_the_ready_made_command_serves_the_model_under_the_arms_name() -> None:
    """The arguments come last, so that they win where an engine takes the last of two flags."""
    arm = parsed("{engine: vllm, model: m, launch: {model: org/model, arguments: [--seed, '1'], gpu: '0'}}").baseline

    assert arm.model == "m"
    assert arm.launch is not None
    assert arm.launch.command[:5] == ("vllm", "serve", "org/model", "--served-model-name", "m")
    assert arm.launch.command[-2:] == ("--seed", "1")
    assert (arm.launch.ready, arm.launch.gpu) == ("/health", "0")


def test_a_url_from_the_command_line_takes_the_place_of_a_launch_block() -> None:
    """The engine is up already, so nothing is started."""
    arm = parsed(OWN, baseline_url="http://127.0.0.1:9").baseline

    assert (arm.url, arm.launch) == ("http://127.0.0.1:9", None)


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ("{engine: vllm}", "arms.baseline: needs a url, or a launch block"),
        ("{url: 'http://h', launch: {command: [a]}}", "arms.baseline.launch: a launched engine serves on this machine"),
        ("{engine: vllm, launch: {}}", "arms.baseline.launch: needs a command, or a model"),
        ("{engine: vllm, launch: {command: [a], model: m}}", "command is the whole command: leave out program, model"),
        ("{engine: tgi, launch: {model: m}}", "arms.baseline.launch: tgi has no ready-made command"),
        ("{engine: embedded, launch: {command: [a]}}", "specbench knows how to start the embedded engine"),
        ("{launch: {command: [a], env: {HF_TOKEN: x}}}", "HF_TOKEN looks like a secret"),
        ("{launch: {command: [a], secrets: ['hf_abc-123']}}", "must be the name of an environment variable"),
        ("{launch: {command: [a, --api-key, sk-1]}}", "arms.baseline.launch.command: --api-key contains a secret, and"),
        ("{launch: {command: [sh, -c, 'a --hf-token=hf_1']}}", "launch.command: --hf-token contains a secret"),
        (
            "{launch: {program: [env, VLLM_API_KEY=sk-1, vllm, serve], model: m}}",
            "launch.program: VLLM_API_KEY contains a secret",
        ),
        ("{engine: vllm, launch: {model: m, arguments: [--password=a]}}", "launch.arguments: --password contains a secret"),
        ("{launch: {command: [a], ready: 'http://h/health'}}", "arms.baseline.launch.ready"),
        ("{launch: {command: []}}", "arms.baseline.launch.command: must not be empty"),
        ("{launch: {command: [a]}, slow_by: 5%}", "slow_by and options are for the embedded engine"),
    ],
)
def test_a_fault_in_a_launch_block_is_one_line(arm: str, message: str) -> None:
    """With the key that holds it."""
    with pytest.raises(ScenarioError) as error:
        parsed(arm)

    assert message in str(error.value)
    assert str(error.value).startswith("s.yaml:3: ")


def test_an_engine_that_is_to_sleep_gets_what_vllm_needs_for_it() -> None:
    """The flag, and the variable that opens the routes; only vLLM can, and only between blocks that take turns."""
    sleeper = "{engine: vllm, launch: {model: m, sleep: true}}"
    launch = parsed(sleeper).baseline.launch

    assert launch is not None
    assert launch.sleep
    assert launch.command[-1] == "--enable-sleep-mode"
    assert launch.env == {"VLLM_SERVER_DEV_MODE": "1"}
    with pytest.raises(ScenarioError, match=r"launch\.sleep: only vLLM can sleep"):
        parsed("{engine: sglang, launch: {model: m, sleep: true}}")
    with pytest.raises(ScenarioError, match=r"arms\.baseline is to sleep between its blocks"):
        parsed(sleeper, OWN, "restart")


BLOCKS = re.findall(r"```yaml\n(arms:.*?)```", Path("docs/real-engines.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_the_documentation_parses(block: str) -> None:
    """What people copy works."""
    rest = SCENARIO.partition("workload:")[2].partition("matrix:")[0]

    assert parse_scenario(f"name: documented\n{block}workload:{rest}", "docs", Overrides()).name == "documented"


def test_the_documentation_has_blocks_to_copy() -> None:
    """So that the test above cannot pass on none."""
    assert len(BLOCKS) >= 5


def test_where_metrics_are_may_be_said_of_any_arm() -> None:
    """The options that tell of metrics are not the embedded engine's."""
    assert parsed("{url: 'http://h', options: {gpus: ['0']}}").baseline.options == {"gpus": ["0"]}


def test_restart_needs_engines_that_specbench_starts() -> None:
    """Nobody can restart a URL; embedded engines can be."""
    assert parsed("{engine: embedded}", "{engine: embedded}", "restart").matrix.schedule == "restart"
    with pytest.raises(ScenarioError, match=r"s.yaml:8: matrix.schedule: restart needs engines .* arms.speculative is a url"):
        parsed(OWN, URL, "restart")


def test_simultaneous_needs_two_engines() -> None:
    """One URL for both arms, whatever its spelling, would load one engine twice."""
    assert parsed(OWN, URL, "simultaneous").matrix.schedule == "simultaneous"
    with pytest.raises(ScenarioError, match="both arms have one url"):
        parsed(URL, "{url: 'http://10.0.0.1:8000/v1', extra_body: {a: 1}}", "simultaneous")
    with pytest.raises(ScenarioError, match="both arms have one url, however it is spelled"):
        parsed("{url: 'http://localhost:8000'}", "{url: 'http://127.0.0.1:8000/v1'}", "simultaneous")
