"""The sentences of a comparison of other tools' results: why it is invalid, what it shows, what nobody knows, what decides."""

from collections.abc import Sequence
from shlex import quote

from specbench.explain import labels, numbers
from specbench.explain.imported.imported_names import LABELS
from specbench.model.data.imported_result import ImportedCell, ImportedMetric

_UNLIKE = {
    "tools": "two tools measured the arms: {a} and {b}; their metrics of one name differ",
    "models": "the arms answered as different models: {a} and {b}",
    "routes": "the arms were asked on different routes: {a} and {b}",
    "datasets": "the prompts are of different datasets: {a} and {b}",
    "seeds": "the prompts were drawn with different seeds: {a} and {b}",
    "loads": "no load is in both arms: A has {a}; B has {b}",
    "prompts": "{a} of {b} prompts differ between the arms",
    "counts": "the arms sent different numbers of requests: {a} and {b}",
    "prompt_lengths": "the prompts differ in mean length: {a} and {b} tokens",
    "outputs": "the answers differ in mean length: {a} and {b} tokens; limit the output alike in both arms",
    "cancelled": "{a}{b} is of a cancelled run",
    "not_streamed": "{a}{b} is of answers that were not streamed: they show neither a first token nor a time per token",
    "baseline_failed": "none of the baseline's {a} requests succeeded, so there is nothing to compare with",
}
_NOTES = {
    "client_tokenizer": "Tokens were counted by the client's tokenizer, not by the server.",
    "open_at_the_end": "Requests that were open when the benchmark ended are left out.",
    "day_clock": "The tool reads the wall clock, which may jump.",
    "percentiles_of_the_file": "A file has no values of single requests: its own percentiles are compared, and the spread over "
    "prompts is not known.",
    "copies_left_out": "A result that is there more than once counts once.",
    "failures_not_told": "A file does not tell how many requests failed.",
    "both_drafted": "Both arms drafted: this compares two ways of speculating.",
    "no_drafts_told": "Neither file shows that anything was drafted.",
}
_SEVERAL = {
    "tools": "{where} holds results of several tools ({held}); name a folder of one tool's",
    "models": "{where} holds results of several models ({held}); name a folder of one model's",
    "routes": "{where} holds results of several routes ({held}); name a folder of one route's",
    "drafts": "{where} holds runs with drafts and runs without at {held}; name a folder of one arm's",
}
_PLACE = "URL"


def unlike(code: str, baseline: str, speculative: str) -> str:
    """Why the arms cannot be compared."""
    said = _UNLIKE[code].format(a=baseline, b=speculative)
    return f"Not comparable: {said}."


def several(code: str, where: str, held: str) -> str:
    """What one arm holds that belongs to more than one."""
    return f"Not comparable: {_SEVERAL[code].format(where=where, held=held)}."


def note(code: str) -> str:
    """A note in words."""
    return _NOTES[code]


def warm_up(baseline: int, speculative: int) -> str:
    """What of the files was not measured."""
    return f"Requests of the warm-up are left out: {baseline} of A, {speculative} of B."


def loads_of_one_arm(loads: Sequence[str]) -> str:
    """Loads that only one arm has."""
    return f"Loads of one arm alone are left out: {numbers.listed(list(loads))}."


def metric_label(ours: str) -> str:
    """The metric's name in tables."""
    return LABELS.get(ours) or labels.metric(ours)


def between(share: float, measured: bool) -> str:
    """Where the spread between runs comes from."""
    return "with the spread of the runs" if measured else f"with {share * 100:g} % assumed between runs"


def finding(cell: ImportedCell, metric: ImportedMetric) -> str:
    """What the metric that counts most shows at this load, without a full stop."""
    if metric.ratio is None:
        return f"At {cell.load}, the {metric_label(metric.ours)} cannot be compared"
    less = metric.ratio <= 1
    amount = abs(metric.ratio - 1) * 100
    way = "less" if less else "more"
    span = "" if metric.low is None or metric.high is None else f", {_change(metric.low)} to {_change(metric.high)}"
    return f"At {cell.load}, B took {amount:.0f} % {way} time in {metric_label(metric.ours)}{span}"


def not_known(tool: str) -> str:
    """Why that decides nothing."""
    return (
        f"A file of {tool} cannot promote anything. It does not tell whether the client kept its schedule, or whether the arms "
        "were equal but for speculation. Nor does it tell how far one run differs from the next."
    )


def to_decide(baseline: str | None, speculative: str | None, model: str | None) -> str:
    """The command that does decide, with what the files tell of the endpoints."""
    if baseline is None or baseline == speculative:
        baseline = speculative = None
    words = [
        "specbench run scenarios/chat.yaml",
        f"--baseline {_shown(baseline, 'A')}",
        f"--speculative {_shown(speculative, 'B')}",
    ]
    if model is not None:
        words.append(f"--model {quote(model)}")
    return f"To decide: {' '.join(words)}"


def _shown(url: str | None, arm: str) -> str:
    return f"{_PLACE}_{arm}" if url is None else quote(url)


def no_success(load: str, attempted: tuple[int, int], failed: tuple[int, int]) -> str:
    """Nothing came back from the speculative arm."""
    return f"At {load}, none of B's {attempted[1]} requests succeeded; of A's {attempted[0]}, {attempted[0] - failed[0]} did."


def failures(load: str, attempted: tuple[int, int], failed: tuple[int, int]) -> str:
    """More failures than chance explains."""
    share = f"{failed[1]} of B's {attempted[1]} requests failed, and {failed[0]} of A's {attempted[0]}"
    return f"At {load}, {share}: more than chance explains."


def harm(cell: ImportedCell, metric: ImportedMetric) -> str:
    """That a metric is past its default limit over several runs of each arm."""
    runs = f"{cell.runs.baseline} and {cell.runs.speculative} runs"
    change = "" if metric.ratio is None else f" by {_change(metric.ratio)}"
    return f"At {cell.load}, the {metric_label(metric.ours)} changed{change} over {runs}: harm past the default limit."


def _change(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.0f} %".replace("-", "\N{MINUS SIGN}")


def exchanged(baseline: str, speculative: str) -> str:
    """A drafted and B did not: the right order."""
    command = f"specbench compare {quote(speculative)} {quote(baseline)}"
    return f"{baseline} drafted and {speculative} shows no drafts, so A and B look swapped; try: {command}"


def one_result_twice(baseline: str, speculative: str) -> str:
    """Both arguments lead to one measurement."""
    return f"{baseline} and {speculative} hold the same result, so nothing is compared; name the results of two arms or two runs"
