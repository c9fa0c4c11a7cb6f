"""Campaigns of real runs: the whole main job, embedded engines and load generator included, over real sockets and in real time.

Each runs in a short profile. What it measured is kept and judged anew where the rules have changed since: real time is dear.
What its verdict should have been is `targets.py`'s.
"""

import shutil
from functools import partial
from pathlib import Path

from specbench.analyze import analyze
from specbench.calibrate.verdicts import Outcome, summary_of
from specbench.errors import DataError
from specbench.model.asked import Scenario
from specbench.run import run
from specbench.scenario.parse import Overrides, parse_scenario
from specbench.store import FINISHED, read_manifest

# Four pairs of blocks of 3 s, as the smoke profile, so that twenty of each effect take no more than half an hour.
_SCENARIO = """
name: sockets-{name}
seed: {seed}
arms:
  baseline: {baseline}
  speculative: {speculative}
workload:
  source: {{corpus: python}}
  bins:
    - {{name: complete, input_tokens: [32, 64], output_tokens: [32, 48]}}
  sampling:
    - {{name: sampled, temperature: 0.8}}
matrix:
  concurrency: {levels}
  pairs: 4
  block: {{min_requests: 12, min_s: 3}}
"""
_PLAIN = "{engine: embedded}"
_SLOWER_20 = "{engine: embedded, slow_by: 20%}"
_SLOWER_33 = "{engine: embedded, slow_by: 33.3%}"  # beside it a plain engine takes 25 % less
_DRAFTING = "{engine: embedded, speculative: {method: draft_model, num_speculative_tokens: 4}}"


class Silent:
    """A watcher that tells nothing."""

    def say(self, message: str) -> None:
        """Nothing."""

    def start(self, blocks: int) -> None:
        """Nothing."""

    def block(self, done: int, description: str) -> None:
        """Nothing."""


def over_sockets(name: str, baseline: str, speculative: str, levels: str, index: int, facts: Path) -> Outcome:
    """The verdict of one real run of two embedded engines, with the campaign's number for a seed.

    The run's folder is `facts`; one that holds a whole run of this very scenario is judged, whatever version measured it: who
    wants it measured anew deletes it.
    """
    text = _SCENARIO.format(name=name, seed=index, baseline=baseline, speculative=speculative, levels=levels)
    scenario = parse_scenario(text, f"sockets-{name}", Overrides(profile="smoke"))
    if _is_whole(facts, scenario):
        return summary_of(analyze(facts))
    shutil.rmtree(facts, ignore_errors=True)
    return summary_of(run(scenario, facts, Silent()))


def _is_whole(facts: Path, scenario: Scenario) -> bool:
    try:
        return (facts / FINISHED).exists() and read_manifest(facts).scenario == scenario
    except DataError:
        return False


RUNS = {
    "aa": partial(over_sockets, "aa", _PLAIN, _PLAIN, "[4]"),
    "slower": partial(over_sockets, "slower", _PLAIN, _SLOWER_20, "[4]"),
    "faster": partial(over_sockets, "faster", _SLOWER_33, _PLAIN, "[4]"),
    "capped": partial(over_sockets, "capped", _PLAIN, _DRAFTING, "[1, 32]"),
}
