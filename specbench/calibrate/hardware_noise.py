"""The noise floor of the user's own hardware: an A/A run over two endpoints that should be alike, and what it makes unreachable.

Only what is asked of the run and what its result says in words; the run itself is `run/run.py`'s, the arithmetic
`plan/power.py`'s.
"""

from dataclasses import replace
from pathlib import Path

from specbench.explain.numbers import columns, tenths
from specbench.model.result import Result
from specbench.model.scenario import Scenario
from specbench.plan.power import power_of
from specbench.plan.variance import noise
from specbench.run.progress import RunProgress
from specbench.run.run import run
from specbench.scenario.experiment_design import apply_design
from specbench.scenario.parse import Overrides, parse_scenario

_NAME = "calibrate"
_EQUAL_ARMS = """
name: calibrate
arms:
  baseline: {}
  speculative: {}
workload:
  source: {corpus: python}
  bins:
    - {name: middle, input_tokens: [64, 256], output_tokens: [64, 128]}
  sampling:
    - {name: greedy, temperature: 0}
matrix:
  concurrency: [1, 4, 16]
answers: {check: off}
"""


def equal_arms(overrides: Overrides) -> Scenario:
    """A scenario for an A/A of the two URLs in `overrides`, where the user has none of their own."""
    return parse_scenario(_EQUAL_ARMS, _NAME, replace(overrides, design="aa"))


def measure_noise(scenario: Scenario, folder: Path, watcher: RunProgress) -> Result:
    """The result of the scenario as an A/A without speculation in either arm: whatever differs is noise, or the two places.

    `folder` is a run folder like any other, from which `plan` can take its spreads and which later runs can cite.
    """
    return run(without_speculation(scenario), folder, watcher)


def without_speculation(scenario: Scenario) -> Scenario:
    """The scenario as an A/A of its places in which no arm speculates."""
    plain = replace(scenario, baseline=replace(scenario.baseline, speculative=None))
    return replace(apply_design(plain, "aa"), name=f"{scenario.name}-aa")


def describe_noise(scenario: Scenario, result: Result) -> str:
    """What the A/A found, in lines: the smallest margin that each guardrail can have, and where equal arms were not equal."""
    found = noise(result)
    rows = [("cell", "metric", "noise floor", " asked")]
    for power in power_of(scenario, found):
        asked = "" if power.allowed is None else f"{tenths(power.allowed)}{' : within the noise' if power.is_lost else ''}"
        rows.append((power.cell, power.metric, tenths(power.floor), f" {asked}"))
    lines = [
        f"A/A of {result.endpoints.baseline.url} and {result.endpoints.speculative.url}: {result.verdict}",
        *columns(rows, (24, 14, -11, 0)),
    ]
    lines += [
        f"  the endpoints differ at {cell} in {metric} by {tenths(offset)} though neither speculates"
        for (cell, metric), offset in found.offsets.items()
        if metric in {power.metric for power in power_of(scenario, found)}
    ]
    return "\n".join(lines)
