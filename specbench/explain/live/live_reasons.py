"""Why a watch is in its state, one reason with a stable code each. Rules hand over values; nothing is judged here."""

from typing import Literal

from specbench.explain import numbers
from specbench.explain.numbers import figure, listed, one_of, percentage
from specbench.model.live.watch_result import LiveFinding, LiveLimit
from specbench.model.result import Reason

Cause = Literal["load", "acceptance", "both"]
Quantity = Literal["alpha", "acceptance_length"]
NAMES = {"tpot": "TPOT", "ttft": "TTFT", "e2e": "E2E", "alpha": "alpha", "acceptance_length": "acceptance length"}
_CAUSES: dict[Cause, str] = {
    "load": "the load grew",
    "acceptance": "the draft is accepted less often",
    "both": "the load grew and the draft is accepted less often",
}
_PROBLEMS = {
    "no_series": "no series of an engine matches",
    "no_engine": "the pages have no names of vLLM, SGLang or TensorRT-LLM",
    "unread": "no metrics page could be read",
    "several_models": "the series are of several models; add model_name to the selector, or watch one model's URLs",
    "mixed_replicas": "one address is answered by different processes; name each replica's own address",
    "no_replica_throughout": "no replica was there throughout a window",
}
PROBLEMS = tuple(_PROBLEMS)


def _reason(code: str, message: str, metric: str | None = None) -> Reason:
    return Reason(code=code, cell=None, metric=metric, message=message)


def metric_words(metric: str) -> str:
    """A metric in words, such as 'TPOT p99'; one without a percentile as it is called."""
    name, _, rest = metric.partition("_p")
    return f"{NAMES[name]} p{rest}" if name in NAMES and rest.isdecimal() else NAMES.get(metric, metric)


def unusable(problem: str, detail: str | None, models: tuple[str, ...]) -> Reason:
    """Nothing can be said of the speculative arm at all."""
    known = f": {', '.join(models)}" if models else ""
    more = f" ({detail})" if detail else ""
    return _reason("nothing_readable", f"The speculative arm cannot be watched: {_PROBLEMS.get(problem, problem)}{known}{more}.")


def live_harm(found: LiveFinding) -> Reason:
    """A required guardrail failed on live traffic."""
    what = "errors" if found.metric == "error_rate" else f"{metric_words(found.metric)} ({found.basis})"
    if found.basis == "share":
        return _reason("live_harm", f"{what}: {percentage(found.ratio or 0)} more than the baseline.", found.metric)
    ends = f", surely above {numbers.ratio(found.low)}" if found.low is not None else ""
    point = numbers.ratio(found.ratio if found.ratio is not None else found.low)
    return _reason(
        "live_harm", f"{what} is {point} times that of the baseline{ends}; limit {numbers.ratio(found.bound)}.", found.metric
    )


def over_limit(limit: LiveLimit, value: float, share: float | None, periods: int) -> Reason:
    """The speculative arm broke an absolute limit; the value is an edge of a bucket, in ms."""
    held = f" ({percentage(share)} of the requests)" if share is not None else ""
    message = f"{metric_words(limit.metric)} is over {figure(limit.value)} ms in {one_of(periods, 'window')} running{held}."
    return _reason(
        "over_limit", f"{message} It lies at or below {figure(value)} ms." if value < float("inf") else message, limit.metric
    )


def both_arms(metric: str) -> Reason:
    """The baseline breaks the same limit, so that speculation is not the cause."""
    return _reason(
        "both_arms", f"The baseline is over its limit of {metric_words(metric)} too: speculation is not the cause.", metric
    )


def low_alpha(value: float, limit: float, periods: int) -> Reason:
    """Alpha lies below its limit: a warning."""
    return _reason(
        "low_alpha", f"alpha is {figure(value)}, below {figure(limit)}, in {one_of(periods, 'window')} running.", "alpha"
    )


def alpha_unknown() -> Reason:
    """Alpha has a limit, and the engine does not tell enough."""
    return _reason(
        "alpha_unknown", "alpha has a limit, and the engine's counters do not tell it (chains of equal depth only).", "alpha"
    )


def below_break_even(cause: Cause, speed_up: float, tokens: float, needed: float, batch: float) -> Reason:
    """By the run's step cost speculation does not pay at today's load."""
    message = (
        f"Speculation does not pay now: {_CAUSES[cause]}. A step has {figure(tokens)} tokens and needs {figure(needed)} at "
        f"a batch of {figure(batch)} (modelled speed-up {numbers.ratio(speed_up)})."
    )
    return _reason("below_break_even", message)


def not_drafting(periods: int) -> Reason:
    """Answers are made and nothing is drafted."""
    return _reason("not_drafting", f"The speculative arm answers and has drafted nothing for {one_of(periods, 'window')}.")


def fact_changed(name: str, then: str, now: str) -> Reason:
    """A fact of the live endpoint is not that of the run."""
    return Reason(code=f"{name}_changed", cell=None, metric=None, message=f"{name} was {then} in the run and is {now} now.")


def traffic_not_as_tested(what: Literal["prompts", "answers"], share: float, band: tuple[float, float]) -> Reason:
    """More requests than allowed lie outside the tested lengths."""
    message = f"{percentage(share)} of the {what} lie outside the tested {figure(band[0])} to {figure(band[1])} tokens."
    return _reason("traffic_not_as_tested", message)


def load_beyond_test(share: float, highest: float) -> Reason:
    """The engines run more requests at once than the run tested."""
    message = f"{percentage(share)} of the last day's windows ran more than {figure(highest)} requests at once, the most tested."
    return _reason("load_beyond_test", message)


def acceptance_not_as_tested(then: float, now: float) -> Reason:
    """Alpha of a whole day is not that of the run."""
    return _reason(
        "acceptance_not_as_tested", f"alpha was {figure(then)} in the run and is {figure(now)} over the last day.", "alpha"
    )


def acceptance_drift(quantity: Quantity, reference: float, now: float, reference_hours: int) -> Reason:
    """Acceptance has fallen for good since the reference week."""
    message = (
        f"{NAMES[quantity]} has fallen: {figure(reference)} in the first {reference_hours} hours, {figure(now)} in the last day."
        " Expect at most one false alarm in 90 days."
    )
    return _reason("acceptance_drift", message, quantity)


def no_traffic(finished: float) -> Reason:
    """Too little happened in the last hour to say anything."""
    return _reason("no_traffic", f"{one_of(round(finished), 'request')} finished within the last hour; 20 are needed.")


def too_few_windows(windows: int, needed: int) -> Reason:
    """The comparison has not begun to speak."""
    return _reason("too_few_windows", f"{one_of(windows, 'window')} of both arms so far; nothing is said before {needed}.")


def undecided(metrics: list[str]) -> Reason:
    """The comparison decided neither way."""
    return _reason("not_decided_live", f"Neither harm nor its absence is shown yet for {listed(metrics)}.")


def errors_not_told() -> Reason:
    """No engine counts failed requests, so that nothing passes without a gateway's figure."""
    message = "Engines do not count failed requests. Give the gateway's share (--errors PROMQL), or accept that (--errors none)."
    return _reason("errors_not_told", message)


def traffic_not_alike(distance: float, limit: float) -> Reason:
    """The prompts of the arms differ in length."""
    message = f"The arms' prompts differ in length: {percentage(distance)} are in other buckets (limit {percentage(limit)})."
    return _reason("traffic_not_alike", message)


def load_not_alike(alike: int, windows: int) -> Reason:
    """The arms' replicas get different loads."""
    in_line = f"{alike} of {one_of(windows, 'window')}"
    return _reason(
        "load_not_alike", f"Requests per replica are within 20 % of each other in {in_line}; at least half are needed."
    )


def live_place_not_controlled() -> Reason:
    """The arms stand on different machines, and nothing shows that those are equal."""
    message = "The arms are on different machines: use two replicas an arm, one machine, or the machines of the run."
    return _reason("place_not_controlled", message)


def slow_requests_vanish(baseline: float, speculative: float) -> Reason:
    """One arm loses more requests before their end, which no histogram of whole requests counts."""
    message = (
        f"Clients gave up {percentage(baseline)} of the baseline's requests and {percentage(speculative)} of the speculative"
        " arm's. No histogram counts those, so nothing passes."
    )
    return _reason("slow_requests_vanish", message)


def memory_short(kv: float) -> Reason:
    """The KV cache is full and requests are put back."""
    return _reason("memory_short", f"The KV cache is {percentage(kv)} full and requests are preempted.")


def run_is_old(days: float) -> Reason:
    """The run ended long ago."""
    return _reason("run_is_old", f"The run is {figure(days)} days old. Repeat a run after 30 days.")


def run_is_demonstration() -> Reason:
    """The run used built-in prompts or a virtual accelerator."""
    return _reason("run_is_demonstration", "The run is a demonstration, so it cannot promote live traffic.")


def replicas_left_out(reason: str, count: int) -> Reason:
    """Replicas that were not there throughout the newest window."""
    words = {"restarted": "restarted", "came": "came", "went": "went", "unread": "could not be read", "mixed": "share an address"}
    return _reason(
        "replicas_left_out", f"{one_of(count, 'replica')} {words.get(reason, reason)} within the last window: left out."
    )


def buckets_too_wide(metric: str, remedy: str | None) -> Reason:
    """The engine's edges cannot resolve the guardrail's margin."""
    fix = f" Start the engine with --custom-histogram-buckets '{remedy}'." if remedy else ""
    return _reason("buckets_too_wide", f"{metric_words(metric)}: the buckets are too wide to resolve its margin.{fix}", metric)


def facts_not_watched() -> Reason:
    """No endpoint is named whose facts could be compared, or it tells none."""
    return _reason("facts_not_watched", "Changed facts are not detected: no facts of the live endpoint are known (--facts URL).")


def no_run() -> Reason:
    """Without a run only limits are watched."""
    return _reason("no_run", "No run is named: limits and drafting are watched, changes, drift and break-even are not.")
