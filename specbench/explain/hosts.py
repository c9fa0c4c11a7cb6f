"""Sentences about two places: what a run that was cited for them shows, or what keeps it from that.

Values in, text out. What keeps a run from it is the end of a sentence about that run, and is decided elsewhere.
"""

from collections.abc import Sequence

from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of
from specbench.model.previous_runs import PreviousRun
from specbench.model.records import Cell
from specbench.model.result import FindingState
from specbench.model.scenario import ArmName

_KINDS = {"aa": "an A/A of the two places", "swap": "the same arms with their places exchanged", None: "an earlier run"}
INCOMPLETE = "it did not reach its end"
WAS_INVALID = "it was INVALID"
NEITHER_AA_NOR_SWAP = "its arms stand in the same places as this run's, and it is no A/A (--aa) and no swap (--swap)"
ANOTHER_WORKLOAD = "its workload is another"
ANOTHER_SPECULATION = "it compared another speculation"
ANOTHER_GAIN = "it asked for another gain"
OTHER_MARGINS = "it asked for other margins"
NOTHING_TO_READ_WITH = "nothing was measured in this run that could be read together with it"


def cited_run(run: PreviousRun, doubt: str | None) -> str:
    """What the run shows of the places, or why it does not."""
    name = run.cited if run.run_id in (None, run.cited) else f"{run.cited} ({run.run_id})"
    if doubt is None:
        return f"The two places are alike, as run {name} shows: {_KINDS[run.kind]}, {run.verdict}."
    return f"Run {name} does not show that the two places are alike: {doubt}."


def not_judged(what: str) -> str:
    """That a check of this run was not made in the other."""
    return f"it did not judge {what}"


def other_state(what: str, there: FindingState, here: FindingState) -> str:
    """That a check ended otherwise."""
    return f"{what} was {there} there and is {here} here"


def other_way(what: str) -> str:
    """That the gain went both ways."""
    return f"{what} went up in one run and down in the other"


def places_apart(what: str, times: float | None) -> str:
    """That the places alone break the limit; None where it is not known by how much."""
    apart = "" if times is None else f": {figure(times)} times"
    return f"in {what} the places themselves differ by more than the check allows{apart}"


def elsewhere(then: tuple[str, str], now: tuple[str, str]) -> str:
    """That the run is of other places."""
    return f"it is of {then[0]} and {then[1]}, not of {now[0]} and {now[1]}"


def unmeasured(cells: Sequence[Cell]) -> str:
    """That these cells were not in it."""
    return f"it measured nothing {', '.join(place_of(cell).lower() for cell in cells)}"


def another(what: str, then: str | None, now: str | None) -> str:
    """How a fact of both runs differs."""
    return f"its {what} was {then}, and is {now} here"


def started_otherwise(arm: ArmName) -> str:
    """That another engine was started, or with other options."""
    return f"it started the {arm} engine by another command or with other variables"


def another_success_metric(then: str, now: str) -> str:
    """That it looked for another benefit."""
    return f"it looked for a gain in {then}, not in {now}"


def larger_gain(then: float, now: float) -> str:
    """That it only excluded a larger benefit."""
    return f"it was asked for a gain of {percentage(then)}, and {percentage(now)} is asked for here"


def another_primary(level: float) -> str:
    """That it looked for the benefit elsewhere."""
    return f"it looked for the gain in another cell (matrix.primary {figure(level)})"


def less_guarded(metric: str) -> str:
    """That a limit was wider there, or was not there."""
    return f"it did not guard {metric} as closely as this run does"


def unequal_verdict(verdict: str) -> str:
    """That equal arms did not end in HOLD."""
    return f"its arms were alike, yet it ended {verdict}"


def gain_not_excluded(what: str) -> str:
    """That equal arms may differ by the benefit asked for."""
    return f"it does not rule out that the places alone make the gain asked for in {what}"


def unequal_check(what: str, state: FindingState) -> str:
    """That a check of equal arms did not pass."""
    return f"its arms were alike, yet {what} ended {state}"
