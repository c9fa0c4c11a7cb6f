"""Campaigns of real runs: the whole main job, embedded engines and load generator included, over real sockets and in real time.

Each runs in a short profile. What it measured is kept and judged anew where the rules have changed since: real time is dear.
What its verdict should have been is `targets.py`'s.
"""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from specbench.calibrate.whole_runs import Outcome, summary_of
from specbench.errors import DataError
from specbench.model.result import Result
from specbench.model.scenario import ArmName, Scenario
from specbench.plan.trials import Trial
from specbench.run.analyze import analyze
from specbench.run.run import run
from specbench.run.running_figures import Pulse, RunningFigures
from specbench.scenario.parse import Overrides, parse_scenario
from specbench.store import FINISHED, read_manifest

# Blocks of 3 s and four pairs of them, as the smoke profile has it, so that twenty of each effect take no more than half an hour.
# A cap needs proof at the lowest load as well, where four pairs of twelve requests leave a p95 open in one run of twenty.
PAIRS, PAIRS_OF_A_CAP = 4, 6
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
  pairs: {pairs}
  block: {{min_requests: 12, min_s: 3}}
answers: {{check: off}}
"""
# Where neither arm speculates both say so: else the run would be INVALID, as it compares no speculation.
_NEITHER = 'declare: {speculation: "off"}'
_PLAIN = f"{{engine: embedded, {_NEITHER}}}"
_SLOWER_20 = f"{{engine: embedded, slow_by: 20%, {_NEITHER}}}"
_SLOWER_33 = f"{{engine: embedded, slow_by: 33.3%, {_NEITHER}}}"  # beside it a plain engine takes 25 % less
_DRAFTING = "{engine: embedded, speculative: {method: draft_model, num_speculative_tokens: 4}}"


class Silent:
    """A watcher that tells nothing."""

    def say(self, message: str) -> None:
        """Nothing."""

    def start(self, trials: Sequence[Trial]) -> None:
        """Nothing."""

    def phase(self, message: str) -> None:
        """Nothing."""

    def begin(self, trial: Trial) -> None:
        """Nothing."""

    def pulse(self, arm: ArmName, pulse: Pulse) -> None:
        """Nothing."""

    def block(self, done: int, trial: Trial, figures: RunningFigures) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What is known beforehand of a run: its arms, and the loads and pairs in which the effect is looked for."""

    baseline: str
    speculative: str
    levels: str = "[4]"
    pairs: int = PAIRS


EFFECTS = {
    "aa": Effect(baseline=_PLAIN, speculative=_PLAIN),
    "slower": Effect(baseline=_PLAIN, speculative=_SLOWER_20),
    "faster": Effect(baseline=_SLOWER_33, speculative=_PLAIN),
    "capped": Effect(baseline=_PLAIN, speculative=_DRAFTING, levels="[1, 32]", pairs=PAIRS_OF_A_CAP),
}


def over_sockets(name: str, index: int, facts: Path) -> Outcome:
    """The verdict of one real run of two embedded engines, with the campaign's number for a seed; `again` whether it is a second.

    An INVALID run is made once more, as it asks for itself: on a shared machine the generator may be late for once. Folders are
    `facts` and `facts`-again; one that holds a whole run of this very scenario is judged, whatever version measured it: who
    wants it measured anew deletes it.
    """
    text = _SCENARIO.format(name=name, seed=index, **asdict(EFFECTS[name]))
    scenario = parse_scenario(text, f"sockets-{name}", Overrides(profile="smoke"))
    result = _result(scenario, facts)
    again = result.verdict == "INVALID"
    if again:
        result = _result(scenario, facts.with_name(f"{facts.name}-again"))
    return {**summary_of(result), "again": again}


def _result(scenario: Scenario, facts: Path) -> Result:
    if _is_whole(facts, scenario):
        return analyze(facts)
    shutil.rmtree(facts, ignore_errors=True)
    return run(scenario, facts, Silent())


def _is_whole(facts: Path, scenario: Scenario) -> bool:
    try:
        return (facts / FINISHED).exists() and read_manifest(facts).scenario == scenario
    except DataError:
        return False


RUNS = {name: partial(over_sockets, name) for name in EFFECTS}
