"""Real A/A runs, small: what `calibrate` does over sockets, end to end."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from specbench.calibrate.hardware_noise import describe_noise, measure_noise
from specbench.calibrate.live_runs import EFFECTS, Silent, over_sockets
from specbench.model.result import VerdictWord
from specbench.plan.power import describe_power
from specbench.plan.variance import spreads_in
from specbench.scenario.parse import Overrides, parse_scenario

SCENARIO = """
name: noise
arms:
  baseline: {engine: embedded}
  speculative: {engine: embedded, speculative: {method: draft_model, num_speculative_tokens: 4}}
workload:
  source: {corpus: python}
  bins:
    - {name: complete, input_tokens: [16, 32], output_tokens: [16, 24]}
matrix:
  concurrency: [2]
  pairs: 3
  block: {min_requests: 6, min_s: 0.5}
"""


@pytest.mark.slow
@pytest.mark.beside
def test_the_noise_floor_of_two_engines_feeds_the_plan(tmp_path: Path) -> None:
    """Speculation is left out of both arms, and the plan takes its spreads from the run that was made."""
    scenario = parse_scenario(SCENARIO, "noise.yaml", Overrides(profile="smoke"))
    result = measure_noise(scenario, tmp_path / "aa", Silent())

    assert result.endpoints.speculative.facts.get("speculation", "off") == "off"
    assert "tpot_p95" in describe_noise(scenario, result)
    assert "the A/A run aa" in describe_power(scenario, spreads_in(tmp_path / "aa"))


@pytest.mark.slow
@pytest.mark.beside
def test_a_campaigns_run_over_sockets_is_judged_again_from_its_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two pairs here. That an A/A is no verdict for or against is held, on a quiet machine, by the scenario `aa`."""
    monkeypatch.setitem(EFFECTS, "aa", replace(EFFECTS["aa"], pairs=2))
    asked = ("aa", 0, tmp_path / "sockets-aa-0000")
    outcome = over_sockets(*asked)
    requests = (tmp_path / "sockets-aa-0000" / "requests.jsonl").stat()

    assert outcome["verdict"] in get_args(VerdictWord)
    assert over_sockets(*asked) == outcome
    assert (tmp_path / "sockets-aa-0000" / "requests.jsonl").stat().st_mtime_ns == requests.st_mtime_ns
