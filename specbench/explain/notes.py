"""What a reader must know beside a verdict: demonstrations, partial runs, what tables rest on, what held speculation back.

Values in, text out. Notes decide nothing; which of them hold may not be decided here, but for those that a scenario or a result
names by itself.
"""

from collections.abc import Callable, Sequence

from specbench.explain import labels
from specbench.explain.brief.changes import compared
from specbench.explain.numbers import percent, percentage, ratio, short, streams
from specbench.explain.phrases import metric_words, place_of
from specbench.model import queries
from specbench.model.guardrails import LOW_ALPHA
from specbench.model.records import Cell
from specbench.model.result import Result
from specbench.model.scenario import ArmName, Scenario, StartSd

CORPUS = "The built-in prompts raise acceptance: models know their text by heart. Use your own prompts (workload.source.dataset)."
PARTIAL = "Partial run: it ended early, and only what was measured is judged."
VIRTUAL = "Times are virtual: the embedded engine takes each step's time from a model of an accelerator."
MB = 1_000_000
OTHER_DEPTHS = (
    "Tokens per step that the same answers would yield at other depths, replayed from their recorded steps. "
    "Depths above the one that ran are less certain. A prediction suggests what to try and decides nothing."
)
GUARDS = ("tpot_p95", "pace_p95")
_LITTLE_ROOM = "Little room in the KV cache"
_LIMITS: dict[str, tuple[str, Callable[..., str]]] = {
    "prefill": (
        "Prefill dominates",
        lambda share: f"{percent(share)} of an answer's time is before its first token. Speculation shortens only the rest.",
    ),
    "acceptance": (
        "Acceptance is low",
        lambda alpha: f"alpha is {ratio(alpha)}; below {LOW_ALPHA:g} is low.",
    ),
    "saturated": (
        "The server is saturated",
        lambda gain, load: (
            f"The baseline's throughput is only {ratio(gain)} times that at {streams(load)}: no compute is idle for drafts."
        ),
    ),
    "kv_full": (
        _LITTLE_ROOM,
        lambda share: f"Peak KV cache use with speculation: {percent(share)}.",
    ),
    "put_back": (
        _LITTLE_ROOM,
        lambda with_it, without: f"Preemptions: {short(with_it)} with speculation, {short(without)} without.",
    ),
    "step_cost": (
        "A step costs more than it yields",
        lambda tokens, needed: f"A step yields {ratio(tokens)} tokens; break-even is {ratio(needed)}.",
    ),
}


def ended_early(finished: bool) -> str:
    """That numbers are of a part; `finished` where the run itself came to its end."""
    why = "An engine died in the run" if finished else "The run ended early"
    return f"{why}: every number is of the measured part."


def disk_short(folder: str, needed: int, free: int) -> str:
    """That a run may not fit on its disk, before it begins."""
    sizes = f"{folder} will take about {needed / MB:,.0f} MB, and its disk has {free / MB:,.0f} MB free"
    return f"{sizes}: once it is full, the run stops, keeps its lines and can be resumed"


def going_on(folder: object, place: str | None, blocks: int) -> str:
    """Where a resumed run goes on, and how many blocks are left."""
    return f"{folder} continues at {place}: {blocks} blocks are left" if place is not None else f"{folder} has all its blocks"


def resumed(times: int, anew: int) -> str:
    """That the run has gaps, after each of which it went on with the next pair, and how many pairs were measured twice."""
    often = "once" if times == 1 else f"{times} times"
    pairs = f"{anew} {'pair was' if anew == 1 else 'pairs were'} measured again, and the first attempt with both blocks counts"
    return f"The run was interrupted and resumed {often}: {pairs}."


def unreadable(problem: str) -> str:
    """What of a run could not be read."""
    return f"Found while reading the run: {problem}"


def unread(arm: ArmName, count: int, answers: int, first: int) -> str:
    """How many answers of an arm have text that is not known to be generated; in `first` of them before the first token."""
    late = f" In {first} it came before the first token that was read, so TTFT may be too long." if first else ""
    return f"{count} of {answers} answers of the {arm} arm have text in a field that is not read (unread_text).{late}"


def hidden(arm: ArmName, tokens: int) -> str:
    """How many tokens an arm's server counted that were never streamed."""
    return (
        f"The {arm} arm counted {tokens:,} tokens that it did not stream, such as hidden reasoning."
        " No time per token and no rate includes them."
    )


def not_listed(url: str, models: Sequence[str], model: str) -> str:
    """That the model that is asked for is none of those that the endpoint lists."""
    return f"{url} lists {few(models)}, not {model}, which is requested anyway"


def without_options(who: str) -> str:
    """That `stream_options` had to be left out; `who` refused them."""
    return without_fields(who, ["stream_options"])


def without_fields(who: str, fields: Sequence[str]) -> str:
    """That these fields of requests had to be left out; `who` refused them."""
    return (
        f"{who} refuses {' and '.join(fields)}, so requests omit it. Usage is then not reported, and tokens are counted by events"
    )


def redirects(who: str, paths: Sequence[str]) -> str:
    """Where requests were answered that were sent to `who`."""
    return f"{who} redirects requests to {', '.join(paths)}"


def metrics_moved(url: str, target: str) -> str:
    """That a metrics page was read elsewhere than asked for."""
    return f"{url} redirects to {target}; metrics are read there"


def few(names: Sequence[str]) -> str:
    """The first three of these names."""
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def too_long(count: int) -> str:
    """How many prompts the model could not take."""
    return f"{count} requests were longer than the model's context. They count neither as answers nor as failures."


def waited(cell: Cell) -> str:
    """That in this open-loop cell requests waited for another to end, as the generator has only so many at once."""
    return (
        f"{place_of(cell)}, the in-flight limit was reached, so later requests were sent late."
        " The endpoint does not keep up. Times count from the scheduled moment."
    )


def off_by_schedule(cell: Cell, drafting: Sequence[bool]) -> str:
    """That the scenario declares speculation off at this load, and in which of the blocks that tell it the arm drafted."""
    return f"{place_of(cell)}, speculation is off by the declared schedule: the speculative arm {_drafted(drafting)}."


def not_drafted(cell: Cell, drafting: Sequence[bool]) -> str:
    """That the speculative arm drafted nothing at this load, though it does at others, and nobody declared so."""
    return (
        f"{place_of(cell)}, the speculative arm {_drafted(drafting)}, so this load does not judge speculation."
        " If the engine switches it off by load, declare speculative.off_from."
    )


def _drafted(drafting: Sequence[bool]) -> str:
    return f"drafted in {sum(drafting)} of {len(drafting)} blocks"


def frozen(cell: Cell, arm: ArmName, count: int, pair: int, length_s: float, went_on: bool) -> str:
    """How long an engine stood still at most, in which pair (counted from 0), and how often in all."""
    times = "" if count == 1 else f" ({count} times in all)"
    return (
        f"{place_of(cell)}, the {arm} engine froze for {length_s:.1f} s in pair {pair + 1}{times}."
        f" No stream got a token{', then they went on' if went_on else ', and none went on'}."
        " Check its log and its machine at that moment."
    )


def weighted(metric: str, cells: int, ratio: float) -> str:
    """The gain over the traffic as it is."""
    return f"Weighted by traffic share over {cells} cells, {metric_words(metric)} is {compared(ratio)}."


def fallen_alpha(cell: Cell, fall: float) -> str:
    """That acceptance fell in the course of the run."""
    return f"{place_of(cell)}, alpha fell by {percentage(fall)} during the run. Later traffic may gain less."


def gain_ends(load: float, bin_name: str | None, sampling: str | None) -> str:
    """The load at which the time per token is as long with speculation as without."""
    of = "/".join(part for part in (bin_name, sampling) if part is not None)
    return f"Break-even of time per token: near {streams(round(load))}{f' of {of}' if of else ''} (interpolated, no cap)."


def certainty_of(scenario: Scenario) -> tuple[str, ...]:
    """What the schedule costs in certainty, in sentences for the report; none where there is nothing to say."""
    matrix = scenario.matrix
    if matrix.schedule == "restart":
        return (
            f"Each arm's engine started {matrix.pairs} times, once a pair (schedule: restart). Intervals include differences"
            " between starts. Drift of the machine counts more, as an engine start lies between the blocks of a pair.",
        )
    if matrix.schedule == "simultaneous":
        return (
            "The blocks of a pair ran at the same time (schedule: simultaneous). Drift over time cancels out."
            " The ratio includes differences between the hosts, and arms on one machine slow each other.",
        )
    return ()


def one_start(start: StartSd) -> str:
    """That each arm ran from one start of its engine, and how much wider that makes every comparison."""
    known = "declared" if start.df is None else f"measured, {short(start.df)} degrees of freedom"
    return (
        f"Each arm is one engine start, and starts differ by {percent(start.sd)} (standard deviation, {known}; matrix.start_sd)."
        " Intervals of times and rates include it. To measure it, use schedule: restart."
    )


def demonstration(result: Result) -> str:
    """That nothing here decides about a real server, where an arm runs the embedded engine; '' where none does."""
    arms = [result.endpoints.baseline.engine, result.endpoints.speculative.engine].count("embedded")
    if not arms:
        return ""
    run = "both arms run" if arms == 2 else "one arm runs"
    return f"Demo: {run} the embedded engine, in virtual time. It decides nothing about a real server."


def notices(result: Result) -> tuple[str, ...]:
    """What a reader must know before any number: a partial run, virtual times, and the notes of the analysis."""
    said = [PARTIAL] if result.run.partial else []
    said += [VIRTUAL] if queries.virtual(result) else []
    return tuple(dict.fromkeys((*said, *result.notes)))


def table_remarks(result: Result) -> tuple[str, ...]:
    """What a reader of such a table must know: what its interval is, and where the benefit is not asked for."""
    found = [cell for cell in result.cells if queries.comparison(cell, result.config.success_metric)]
    level = next((c.ci_level for cell in found if (c := queries.comparison(cell, result.config.success_metric))), None)
    said = [f"Intervals are two-sided, {percent(level)}. Checks use one-sided bounds."] if level else []
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
    said = f"{labels.metric(name)} is judged in the primary cell only, as the gain."
    return (f"{said} {' and '.join(guards)} {verb} the others." if guards else said,)


def limiting_factor(code: str, figures: Sequence[float]) -> tuple[str, str]:
    """The title and the sentence of this factor."""
    title, sentence = _LIMITS[code]
    return title, sentence(*figures)
