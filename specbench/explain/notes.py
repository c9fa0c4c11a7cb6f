"""What a reader must know beside a verdict: demonstrations, partial runs, what tables rest on, what held speculation back.

Values in, text out. Notes decide nothing; which of them hold may not be decided here, but for those that a scenario or a result
names by itself.
"""

from collections.abc import Callable, Sequence

from specbench.explain import labels
from specbench.explain.numbers import percent, percentage, ratio, short, streams
from specbench.explain.phrases import metric_words, place_of
from specbench.model import queries
from specbench.model.guardrails import LOW_ALPHA
from specbench.model.records import Cell
from specbench.model.result import Result
from specbench.model.scenario import ArmName, Scenario, StartSd

CORPUS = (
    "The prompts are cut from a demonstration corpus, which models know by heart: acceptance on it is higher than on other text,"
    " so decide on your own prompts (workload.source.dataset)."
)
PARTIAL = "This run is partial: it ended before its plan did, and only what was measured is judged."
VIRTUAL = "Times are virtual: the embedded engine charges each step the time that a modelled accelerator would take."
ACCEPTED = "accept: tokens that a verification round brings in the speculative arm; a number, no ratio."
GUARDS = ("tpot_p95", "pace_p95")
_LITTLE_ROOM = "Little room in the KV cache"
_LIMITS: dict[str, tuple[str, Callable[..., str]]] = {
    "prefill": (
        "Prefill dominates",
        lambda share: f"{percent(share)} of an answer's time passes before its first token; speculation shortens only the rest.",
    ),
    "acceptance": (
        "Acceptance is low",
        lambda alpha: f"A drafted token is kept with a chance of {ratio(alpha)}; the usual alarm is {LOW_ALPHA:g}.",
    ),
    "saturated": (
        "The server is saturated",
        lambda gain, load: (
            f"The baseline's throughput is {ratio(gain)} times that at {streams(load)}: no idle compute is left for drafts."
        ),
    ),
    "kv_full": (
        _LITTLE_ROOM,
        lambda share: f"At its peak {percent(share)} of the cache was in use with speculation.",
    ),
    "put_back": (
        _LITTLE_ROOM,
        lambda with_it, without: f"Requests were put back {short(with_it)} times with speculation and {short(without)} without.",
    ),
    "step_cost": (
        "A step costs more than it brings",
        lambda tokens, needed: f"A step brought {ratio(tokens)} tokens where {ratio(needed)} were needed to break even.",
    ),
}


def ended_early(finished: bool) -> str:
    """That numbers are of a part; `finished` where the run itself came to its end."""
    why = "An engine died in the run" if finished else "The run ended early"
    return f"{why}: every number is of the part that was measured."


def unreadable(problem: str) -> str:
    """What of a run could not be read."""
    return f"Found while reading the run: {problem}"


def unread(arm: ArmName, count: int, answers: int, first: int) -> str:
    """How many answers of an arm have text that is not known to be generated; in `first` of them before the first token."""
    late = f", in {first} of them before the first token that was read, so its TTFT may be too long" if first else ""
    return f"{count} of {answers} answers of the {arm} arm have text under a name that is not read (unread_text){late}."


def hidden(arm: ArmName, tokens: int) -> str:
    """How many tokens an arm's server counted that were never streamed."""
    return (
        f"The {arm} arm counted {tokens} tokens that it did not stream (reasoning that is not shown, say); they are in no"
        " time per token and in no rate."
    )


def not_listed(url: str, models: Sequence[str], model: str) -> str:
    """That the model that is asked for is none of those that the endpoint lists."""
    return f"{url} lists {few(models)} and not {model}, which was asked for all the same"


def without_options(who: str) -> str:
    """That `stream_options` had to be left out; `who` refused them."""
    return without_fields(who, ["stream_options"])


def without_fields(who: str, fields: Sequence[str]) -> str:
    """That these fields of requests had to be left out; `who` refused them."""
    return (
        f"{who} refuses {' and '.join(fields)} and is asked without: it then tells no final usage, and tokens may be counted by"
        " events alone"
    )


def redirects(who: str, paths: Sequence[str]) -> str:
    """Where requests were answered that were sent to `who`."""
    return f"{who} redirects requests to {', '.join(paths)}"


def metrics_moved(url: str, target: str) -> str:
    """That a metrics page was read elsewhere than asked for."""
    return f"{url} redirects to {target}, where metrics are read"


def few(names: Sequence[str]) -> str:
    """The first three of these names."""
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def too_long(count: int) -> str:
    """How many prompts the model could not take."""
    return f"{count} requests were refused as longer than the model's context; they count neither as answers nor as failures."


def waited(cell: Cell) -> str:
    """That in this open-loop cell requests waited for another to end, as the generator has only so many at once."""
    return (
        f"{place_of(cell)} the most requests that may be under way at once were, so later ones were sent late:"
        " the endpoint does not keep up. Their times count from the moment at which they were due."
    )


def off_by_schedule(cell: Cell, drafting: Sequence[bool]) -> str:
    """That the scenario declares speculation off at this load, and in which of the blocks that tell it the arm drafted."""
    return (
        f"{place_of(cell)} speculation is off by the schedule that the scenario declares:"
        f" the speculative arm {_drafted(drafting)}."
    )


def not_drafted(cell: Cell, drafting: Sequence[bool]) -> str:
    """That the speculative arm drafted nothing at this load, though it does at others, and nobody declared so."""
    return (
        f"{place_of(cell)} the speculative arm {_drafted(drafting)}: speculation was off there, so what is judged there is none."
        " If its engine switches it off by a schedule, declare that (speculative.off_from)."
    )


def _drafted(drafting: Sequence[bool]) -> str:
    return f"drafted in {sum(drafting)} of {len(drafting)} blocks"


def frozen(cell: Cell, arm: ArmName, count: int, pair: int, length_s: float, went_on: bool) -> str:
    """How long an engine stood still at most, in which pair (counted from 0), and how often in all."""
    times = "" if count == 1 else f" ({count} times in all)"
    return (
        f"{place_of(cell)} the {arm} engine stood still for {length_s:.1f} s in pair {pair + 1}{times}: no stream got a token,"
        f" {'and then they went on' if went_on else 'and none went on until it was given up'}."
        " See what its log and its machine say of that moment."
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
    return ()


def one_start(start: StartSd) -> str:
    """That each arm ran from one start of its engine, and how much wider that makes every comparison."""
    known = "a stated figure" if start.df is None else f"measured with {short(start.df)} degrees of freedom"
    return (
        f"Each arm is one start of its engine, and starts differ: by {percent(start.sd)} (standard deviation, {known}:"
        " matrix.start_sd), which no pair of blocks shows. Every comparison of times and rates is wider by it; schedule: restart"
        " measures it instead."
    )


def demonstration(result: Result) -> str:
    """That nothing here decides about a real server, where an arm runs the embedded engine; '' where none does."""
    arms = [result.endpoints.baseline.engine, result.endpoints.speculative.engine].count("embedded")
    if not arms:
        return ""
    run = "both arms run" if arms == 2 else "one arm runs"
    return f"A demonstration: {run} the embedded engine, whose times are virtual; nothing here is a decision about a real server."


def notices(result: Result) -> tuple[str, ...]:
    """What a reader must know before any number: a partial run, virtual times, and the notes of the analysis."""
    said = [PARTIAL] if result.run.partial else []
    said += [VIRTUAL] if queries.virtual(result) else []
    return tuple(dict.fromkeys((*said, *result.notes)))


def table_remarks(result: Result) -> tuple[str, ...]:
    """What a reader of such a table must know: what its interval is, and where the benefit is not asked for."""
    found = [cell for cell in result.cells if queries.comparison(cell, result.config.success_metric)]
    level = next((c.ci_level for cell in found if (c := queries.comparison(cell, result.config.success_metric))), None)
    said = [f"Intervals are two-sided at {percent(level)}; the checks use one-sided bounds."] if level else []
    return (*said, *_benefit_alone(result))


def _benefit_alone(result: Result) -> tuple[str, ...]:
    """That the benefit is asked of the primary cell alone, where other cells do not judge its metric, and what guards those."""
    name = result.config.success_metric
    others = [cell for cell in result.cells if not queries.must_show(cell) and cell.required]
    judged = [[one.metric for one in cell.findings if one.required] for cell in others]
    if not judged or any(name in metrics for metrics in judged):
        return ()
    guards = [labels.metric(one) for one in GUARDS if all(one in metrics for metrics in judged)]
    verb = "guards" if len(guards) == 1 else "guard"
    said = f"{labels.metric(name)} is judged in the primary cell alone, as the benefit"
    return (f"{said}; {' and '.join(guards)} {verb} the others." if guards else f"{said}.",)


def limiting_factor(code: str, figures: Sequence[float]) -> tuple[str, str]:
    """The title and the sentence of this factor."""
    title, sentence = _LIMITS[code]
    return title, sentence(*figures)
