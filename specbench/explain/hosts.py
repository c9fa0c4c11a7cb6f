"""Sentences about two places: what a run that was cited for them shows, or what keeps it from that.

Values in, text out. What keeps a run from it is the end of a sentence about that run, and is decided elsewhere.
"""

from collections.abc import Sequence

from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of
from specbench.model.previous_runs import PreviousRun
from specbench.model.records import Cell

_KINDS = {"aa": "an A/A on both hosts", "swap": "the same arms swapped", None: "an earlier run"}
INCOMPLETE = "it ended early"
WAS_INVALID = "it was INVALID"
NEITHER_AA_NOR_SWAP = "it is neither an A/A (--aa) nor a swap (--swap)"
ANOTHER_WORKLOAD = "its workload differs"
ANOTHER_SPECULATION = "its speculation differs"
ANOTHER_GAIN = "its required gain differs"
OTHER_MARGINS = "its limits differ"
NOTHING_TO_READ_WITH = "this run measured nothing to combine with it"
# To be filled in by `format`: what was checked, and what it was there and is here.
NOT_JUDGED = "it did not judge {what}"
OTHER_STATE = "{what} was {there} there, {here} here"
OTHER_WAY = "{what} rose in one run and fell in the other"
ANOTHER = "its {what} is {then}, here {now}"
STARTED_OTHERWISE = "it started the {arm} engine with another command or other variables"
ANOTHER_SUCCESS_METRIC = "it required a gain in {then}, not in {now}"
LESS_GUARDED = "its limit for {metric} is wider or absent"
UNEQUAL_VERDICT = "its arms were equal, yet it ended {verdict}"
GAIN_NOT_EXCLUDED = "it does not rule out that the hosts alone make the gain in {what}"
UNEQUAL_CHECK = "its arms were equal, yet {what} ended {state}"


def cited_run(run: PreviousRun, doubt: str | None) -> str:
    """What the run shows of the places, or why it does not."""
    name = run.cited if run.run_id in (None, run.cited) else f"{run.cited} ({run.run_id})"
    if doubt is None:
        return f"Run {name} shows that the two hosts perform equally: {_KINDS[run.kind]}, {run.verdict}."
    return f"Run {name} does not show that the two hosts perform equally: {doubt}."


def places_apart(what: str, times: float | None) -> str:
    """That the places alone break the limit; None where it is not known by how much."""
    apart = "" if times is None else f" ({figure(times)} times)"
    return f"the hosts alone move {what} past the limit{apart}"


def elsewhere(then: tuple[str, str], now: tuple[str, str]) -> str:
    """That the run is of other places."""
    return f"it ran on {then[0]} and {then[1]}, not on {now[0]} and {now[1]}"


def unmeasured(cells: Sequence[Cell]) -> str:
    """That these cells were not in it."""
    return f"it measured nothing {', '.join(place_of(cell).lower() for cell in cells)}"


def larger_gain(then: float, now: float) -> str:
    """That it only excluded a larger benefit."""
    return f"it required a gain of {percentage(then)}, here {percentage(now)}"


def another_primary(level: float) -> str:
    """That it looked for the benefit elsewhere."""
    return f"it required the gain in another cell (matrix.primary {figure(level)})"


def two_accelerators(baseline: str, speculative: str) -> str:
    """That the arms run on two accelerators of one machine, which are two places."""
    return f"Both arms are on this machine: the baseline on accelerator {baseline}, the speculative arm on {speculative}."


def accelerators_not_reported(count: int | None) -> str:
    """That it is not known whether two engines on one machine share an accelerator."""
    how_many = "number not recorded" if count is None else f"it has {count}"
    return (
        f"Both arms are on this machine, and their accelerators are not reported ({how_many})."
        " Declare one for both (declare: {gpu: ...}), or start both engines on the same one (launch.gpu)."
    )
