"""One case: two arms in a world and what is true of them; and what one run of it comes to before the real judge."""

from dataclasses import dataclass
from typing import Literal

from specbench.analysis.judge import judge
from specbench.calibrate.simulators import NoiseModel
from specbench.calibrate.whole_runs import Outcome, settled, summary_of
from specbench.calibrate.worlds.evidence import WorldRun, evidence_in
from specbench.calibrate.worlds.setting import Behaviour, RequestClass, World

Truth = Literal["equal", "harm", "tolerated", "win", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldCase:
    """One campaign; `truth` decides what is asked of it.

    `harm_from` is the lowest load at which the speculative arm does harm, None where it does so at every load. `promoted` is the
    least share of PROMOTE that is asked of a win, `invalid` the most of INVALID, None where nothing is asked; `rolled_back` is
    the most of ROLLBACK where that is wrong. With `looks` the run may stop on the way.
    """

    name: str
    what: str
    run: WorldRun
    truth: Truth
    harm_from: int | None = None
    promoted: float | None = None
    rolled_back: float = 0.05
    invalid: float | None = None
    looks: bool = False


def outcome_of(case: WorldCase, index: int) -> Outcome:
    """What the run of this number comes to: the summary of its result, the codes of its reasons, the pairs at which it ended."""
    evidence = evidence_in(case.run, case.name, index)
    result, looks = settled(evidence) if case.looks else (judge(evidence, "calibrate"), (case.run.pairs,))
    return summary_of(result) | {"codes": sorted({reason.code for reason in result.reasons}), "pairs": looks[-1]}


WIN = Behaviour(step_ratio=1 / 1.5, ttft_ratio=1.02)
SLOW_ENGINE = World(noise=NoiseModel(step_ms=100.0))
SLOW_CLASS = (RequestClass(prefill_ms=1000.0),)


def percent_of(share: float) -> str:
    """A share in percent, in words of a case."""
    return f"{100 * share:g} %"


def name_of(*parts: float | str) -> str:
    """The name of a campaign, from its parts."""
    return "-".join(part if isinstance(part, str) else f"{part:g}" for part in parts)
