"""Sentences about two places: what a run that was cited for them shows, or what keeps it from that.

Values in, text out. What keeps a run from it is the end of a sentence about that run, and is decided elsewhere.
"""

from collections.abc import Sequence

from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of
from specbench.model.previous_runs import PreviousRun
from specbench.model.records import Cell

_KINDS = {"aa": "an A/A of the two places", "swap": "the same arms with their places exchanged", None: "an earlier run"}
INCOMPLETE = "it did not reach its end"
WAS_INVALID = "it was INVALID"
NEITHER_AA_NOR_SWAP = "its arms stand in the same places as this run's, and it is no A/A (--aa) and no swap (--swap)"
ANOTHER_WORKLOAD = "its workload is another"
ANOTHER_SPECULATION = "it compared another speculation"
ANOTHER_GAIN = "it asked for another gain"
OTHER_MARGINS = "it asked for other margins"
NOTHING_TO_READ_WITH = "nothing was measured in this run that could be read together with it"
# To be filled in by `format`: what was checked, and what it was there and is here.
NOT_JUDGED = "it did not judge {what}"
OTHER_STATE = "{what} was {there} there and is {here} here"
OTHER_WAY = "{what} went up in one run and down in the other"
ANOTHER = "its {what} was {then}, and is {now} here"
STARTED_OTHERWISE = "it started the {arm} engine by another command or with other variables"
ANOTHER_SUCCESS_METRIC = "it looked for a gain in {then}, not in {now}"
LESS_GUARDED = "it did not guard {metric} as closely as this run does"
UNEQUAL_VERDICT = "its arms were alike, yet it ended {verdict}"
GAIN_NOT_EXCLUDED = "it does not rule out that the places alone make the gain asked for in {what}"
UNEQUAL_CHECK = "its arms were alike, yet {what} ended {state}"


def cited_run(run: PreviousRun, doubt: str | None) -> str:
    """What the run shows of the places, or why it does not."""
    name = run.cited if run.run_id in (None, run.cited) else f"{run.cited} ({run.run_id})"
    if doubt is None:
        return f"The two places are alike, as run {name} shows: {_KINDS[run.kind]}, {run.verdict}."
    return f"Run {name} does not show that the two places are alike: {doubt}."


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


def larger_gain(then: float, now: float) -> str:
    """That it only excluded a larger benefit."""
    return f"it was asked for a gain of {percentage(then)}, and {percentage(now)} is asked for here"


def another_primary(level: float) -> str:
    """That it looked for the benefit elsewhere."""
    return f"it looked for the gain in another cell (matrix.primary {figure(level)})"


def two_accelerators(baseline: str, speculative: str) -> str:
    """That the arms run on two accelerators of one machine, which are two places."""
    return f"Both arms are on this machine, the baseline on accelerator {baseline} and the speculative arm on {speculative}."


def accelerators_not_told(count: int | None) -> str:
    """That it is not known whether two engines on one machine share an accelerator."""
    how_many = "how many it has was not recorded" if count is None else f"it has {count}"
    return (
        f"Both arms are on this machine, and they do not say on which accelerator ({how_many}): name it for both"
        " (declare: {gpu: ...}), or start the engines with the same one (launch.gpu)."
    )
