"""What a reader must know beside a verdict: demonstrations, partial runs, prompts that were refused, acceptance that fell.

Values in, text out. Notes decide nothing; which of them hold may not be decided here, but for those that a scenario or a result
names by itself.
"""

from specbench.explain.numbers import percentage, streams
from specbench.explain.phrases import metric_words, place_of
from specbench.model.asked import Scenario
from specbench.model.judged import Result
from specbench.model.seen import Cell

CORPUS = (
    "The prompts are cut from a demonstration corpus, which models know by heart: acceptance on it is higher than on other text,"
    " so decide on your own prompts (workload.source.dataset)."
)
PARTIAL = "This run is partial: it ended before its plan did, and only what was measured is judged."
VIRTUAL = "Times are virtual: the embedded engine charges each step the time that a modelled accelerator would take."


def ended_early(finished: bool) -> str:
    """That numbers are of a part; `finished` where the run itself came to its end."""
    why = "An engine died in the run" if finished else "The run ended early"
    return f"{why}: every number is of the part that was measured."


def unreadable(problem: str) -> str:
    """What of a run could not be read."""
    return f"Found while reading the run: {problem}"


def too_long(count: int) -> str:
    """How many prompts the model could not take."""
    return f"{count} requests were refused as longer than the model's context; they count neither as answers nor as failures."


def waited(cell: Cell) -> str:
    """That in this open-loop cell requests waited for another to end, as the generator has only so many at once."""
    return (
        f"{place_of(cell)} the most requests that may be under way at once were, so later ones were sent late:"
        " the endpoint does not keep up. Their times count from the moment at which they were due."
    )


def weighted(metric: str, cells: int, ratio: float) -> str:
    """The benefit over the traffic as it is."""
    shares = f"Weighted by the shares of traffic given for {cells} cells"
    return f"{shares}, {metric_words(metric)} is {ratio:.2f} times the baseline's."


def fallen_alpha(cell: Cell, fall: float) -> str:
    """That acceptance fell in the course of the run."""
    return (
        f"{place_of(cell)} alpha fell by {percentage(fall)} from the beginning of the run to its end:"
        " acceptance drifts, so later traffic may gain less."
    )


def gain_ends(load: float, bin_name: str | None, sampling: str | None) -> str:
    """The load at which the time per token is as long with speculation as without."""
    of = "/".join(part for part in (bin_name, sampling) if part is not None)
    return (
        "An explanation: by a line through the measured ratios, speculation stops shortening the time per token near"
        f" {streams(round(load))}{f' of {of}' if of else ''}; this is no cap."
    )


def certainty_of(scenario: Scenario) -> tuple[str, ...]:
    """What the schedule costs in certainty, in sentences for the report; none where there is nothing to say."""
    matrix = scenario.matrix
    if matrix.schedule == "restart":
        return (
            f"Each arm's engine was started {matrix.pairs} times, anew for every pair (schedule: restart): differences from start"
            " to start are in the intervals, and as the blocks of a pair are a start apart, drift of the machine weighs more.",
        )
    if matrix.schedule == "simultaneous":
        return (
            "The blocks of a pair ran at the same time (schedule: simultaneous): drift in time cancels out, but whatever differs"
            " between the two places is in the ratio, and arms on one machine slow each other.",
        )
    if scenario.baseline.launch is not None and scenario.speculative.launch is not None:
        return (
            "Each engine was started once, so what differs from one start to the next is in the ratio and not in its interval;"
            " schedule: restart takes it into account.",
        )
    return ()


def demonstration(result: Result) -> str:
    """That nothing here decides about a real server, where an arm runs the embedded engine; '' where none does."""
    arms = [result.endpoints.baseline.engine, result.endpoints.speculative.engine].count("embedded")
    if not arms:
        return ""
    run = "both arms run" if arms == 2 else "one arm runs"
    return f"A demonstration: {run} the embedded engine, whose times are virtual; nothing here is a decision about a real server."
