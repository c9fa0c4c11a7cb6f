"""`--up-to` and `--rate-up-to` leave the lower levels, whatever else names the others; the command of a report parses."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specbench.cli.main import app
from specbench.errors import ScenarioError
from specbench.explain.reader_questions import confirmation
from specbench.model.result import LoadRange, Result
from specbench.model.scenario import Scenario
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.results import capped

SCENARIO = """\
name: code
arms:
  baseline: {engine: vllm, url: 'http://gpu1:8000'}
  speculative: {engine: vllm, url: 'http://gpu2:8000', declare: {hardware: L4}}
workload:
  source: {corpus: python}
  bins: [{name: all, input_tokens: [8, 16], output_tokens: [8, 8]}]
matrix:
  concurrency: [1, 4, 8, 16]
  rate: [0.5, 2.5, 5]
  optional: [8, 5]
  traffic_share: {1: 0.5, 4: 0.3, 16: 0.2}
guardrails:
  - {metric: ttft_p95, worse_by_at_most: 10%, cells: [1, 16]}
  - {metric: pace_p95, worse_by_at_most: 10%, cells: [16]}
  - {metric: error_rate, role: safety, worse_by_at_most: 1%, cells: [16]}
"""


def parsed(up_to: float | None = None, rate_up_to: float | None = None) -> Scenario:
    """The scenario up to those loads."""
    return parse_scenario(SCENARIO, "code.yaml", Overrides(up_to=up_to, rate_up_to=rate_up_to))


def test_levels_above_are_gone_wherever_they_stood() -> None:
    """Levels, optional ones and shares of the traffic; the other axis stays as it is."""
    matrix = parsed(up_to=4).matrix

    assert (matrix.concurrency, matrix.rate, matrix.primary) == ((1, 4), (0.5, 2.5, 5.0), 1.0)
    assert matrix.optional == (5.0,)
    assert matrix.traffic_share == {1.0: 0.5, 4.0: 0.3}
    assert (parsed(up_to=9, rate_up_to=2.5).matrix.concurrency, parsed(rate_up_to=2.5).matrix.rate) == ((1, 4, 8), (0.5, 2.5))


def test_guardrails_stay_as_they_were_asked() -> None:
    """A cited run then still has the same ones; a run-wide one of no level any more would have nothing to count."""
    whole, low = parsed().guardrails, parsed(up_to=4).guardrails

    assert [(rule.cells, rule.margin) for rule in whole if rule.metric == "error_rate"] == [
        ((16.0,), 0.01),
        ((1.0, 4.0, 0.5, 2.5), 0.005),
    ]
    assert low == tuple(rule for rule in whole if (rule.metric, rule.cells) != ("error_rate", (16.0,)))
    assert parsed(up_to=16).guardrails == whole


def test_the_text_has_the_same_hash() -> None:
    """It is of the file alone."""
    assert parsed(up_to=4).sha256 == parsed().sha256


@pytest.mark.parametrize(
    ("up_to", "rate_up_to", "message"),
    [
        (0.5, None, "--up-to 0.5: no level of matrix.concurrency is that low; there are: 1, 4, 8, 16"),
        (None, 0.1, "--rate-up-to 0.1: no level of matrix.rate is that low; there are: 0.5, 2.5, 5"),
    ],
)
def test_a_load_below_every_level_is_refused(up_to: float | None, rate_up_to: float | None, message: str) -> None:
    """One line that names the levels."""
    with pytest.raises(ScenarioError) as refused:
        parsed(up_to, rate_up_to)
    assert str(refused.value) == f"code.yaml: {message}"


@pytest.mark.parametrize(
    ("primary", "words", "flag"), [("8", {"up_to": 4.0}, "--up-to 4"), ("2.5", {"rate_up_to": 1.0}, "--rate-up-to 1")]
)
def test_the_primary_level_stays(primary: str, words: dict[str, float], flag: str) -> None:
    """Without it no gain could be shown."""
    text = SCENARIO.replace("optional: [8, 5]", f"primary: {primary}")
    with pytest.raises(ScenarioError) as refused:
        parse_scenario(text, "code.yaml", Overrides(**words))  # type: ignore[arg-type]  # mypy takes the words for every field
    assert str(refused.value) == f"code.yaml: {flag}: the primary level {primary}, which must show the gain, lies above"


def test_the_words_of_the_command_line_are_kept_for_asking_again() -> None:
    """In an order that parses; what may be secret is left out, profile and design stand elsewhere."""
    overrides = Overrides(
        profile="smoke",
        settings=(("matrix.pairs", "12"), ("arms.baseline.headers", "{X-Tenant: a}"), ("workload.bins[0].weight", "2")),
        baseline_url="http://gpu3:8000",
        model="m",
        place=("code-aa",),
        design="swap",
    )
    assert parse_scenario(SCENARIO, "code.yaml", overrides).flags == (
        *("--baseline", "http://gpu3:8000", "--model", "m", "--set", "matrix.pairs=12"),
        *("--set", "arms.baseline.headers=(left out)", "--set", "workload.bins[0].weight=2", "--place", "code-aa"),
    )
    assert parsed().flags == ()


def test_the_command_that_confirms_a_cap_is_taken_by_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario with optional levels, shares and guardrails of single levels: parsed, narrowed, and as the run was asked."""
    seen: list[Scenario] = []

    def stopped(scenario: Scenario, *_: object, **__: object) -> Result:
        seen.append(scenario)
        raise ScenarioError("far enough")

    monkeypatch.setattr("specbench.run.run.run", stopped)
    file = tmp_path / "my code.yaml"
    file.write_text(SCENARIO)
    flags = ("--speculative", "http://gpu3:8000", "--set", "matrix.block={min_s: 30}", "--place", "code-aa")
    by_rate = LoadRange(low=0.5, high=2.5, running_at_cap=None, by="rate", beyond=None, method="")
    result = replace(
        capped(),
        run=replace(capped().run, scenario=str(file), flags=flags),
        config=replace(capped().config, design="swap"),
        rate_range=by_rate,
    )

    program, *words = shlex.split(confirmation(result))
    done = CliRunner().invoke(app, words)

    assert program == "specbench"
    assert str(done.exception) == "far enough"
    (scenario,) = seen
    assert (scenario.matrix.concurrency, scenario.matrix.rate, scenario.matrix.optional) == ((1, 4), (0.5, 2.5), ())
    assert (scenario.profile, scenario.design, scenario.matrix.block.min_s) == ("standard", "swap", 30)
    assert (scenario.baseline.url, scenario.place_runs) == ("http://gpu3:8000", ("code-aa",))
    assert scenario.flags == flags
