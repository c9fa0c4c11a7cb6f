"""The codes and words of `watch`: what each one says of live traffic, and what to do."""

from specbench.explain.glossary.entry import Entry
from specbench.model.facts import FACTS


def _code(name: str, title: str, text: str, fix: str = "", also: tuple[str, ...] = ()) -> Entry:
    return Entry("reason code", name, title, text, fix, also)


def _note(name: str, text: str) -> Entry:
    return Entry("finding note", name, name.replace("_", " "), text)


LIVE_CODES: tuple[Entry, ...] = (
    _code(
        "live_harm",
        "live harm",
        "Live, at random assignment, a guardrail's mean or tail, or the errors, are surely worse and past the limit.",
        "Send all traffic to the baseline.",
    ),
    _code(
        "over_limit",
        "over an absolute limit",
        "A percentile of the speculative arm lies over its limit in two windows running; exact at an edge of a bucket.",
        "Look at load and memory; lower the load, or roll back.",
    ),
    _code(
        "both_arms", "both arms are over the limit", "The baseline breaks the same limit, so that speculation is not the cause."
    ),
    _code(
        "below_break_even",
        "speculation does not pay now",
        "By the run's step cost at today's batch size, three windows running had too few tokens per step.",
        "Lower the load or the depth, or cap speculation at the load that pays.",
    ),
    _code(
        "not_drafting",
        "nothing is drafted",
        "Two windows running had answers and no draft: the engine switched speculation off.",
        "Check the engine's log and its schedule.",
    ),
    _code(
        "fact_changed",
        "a fact changed since the run",
        "The name stands before `_changed`, such as `engine_version_changed`: the endpoint has another value than in the run.",
        "Run again with what is live.",
        tuple(f"{name}_changed" for name in FACTS),
    ),
    _code(
        "traffic_not_as_tested",
        "other lengths than tested",
        "More than 20 % of a day's prompts or answers lie outside the run's bands.",
        "Run again with today's traffic.",
    ),
    _code(
        "load_beyond_test",
        "more load than tested",
        "More than 5 % of a day's windows ran more requests at once than the run's highest load, or its cap.",
        "Run again up to today's load, or enforce the cap.",
    ),
    _code(
        "acceptance_not_as_tested",
        "other acceptance than tested",
        "Over a full day alpha differs from the run's by more than .05.",
        "Run again with today's traffic.",
    ),
    _code(
        "acceptance_drift",
        "acceptance has fallen",
        "Hourly alpha or acceptance length has fallen past the tolerance since the first week; one false alarm in 90 days.",
        "See what changed in traffic or weights; retrain the draft, or run again.",
    ),
    _code("no_traffic", "no traffic", "Fewer than 20 requests finished within the last hour."),
    _code("too_few_windows", "too few windows", "Before 24 windows of both arms the comparison says nothing.", "Wait."),
    _code("not_decided_live", "not decided yet", "Neither harm nor its absence is shown for some guardrails.", "Wait."),
    _code(
        "errors_not_told",
        "errors are not known",
        "No engine counts failed or abandoned requests, so nothing passes without a gateway's share.",
        "Give the share (--errors PROMQL), or accept that it is unknown (--errors none).",
    ),
    _code(
        "traffic_not_alike",
        "the arms' prompts differ",
        "The prompt lengths of the arms lie more than 5 % apart in their buckets.",
        "Assign traffic at random.",
    ),
    _code(
        "load_not_alike",
        "the arms' loads differ",
        "Requests per replica are within 20 % of each other in fewer than half of the windows.",
        "Set the weights by the number of replicas.",
    ),
    _code(
        "slow_requests_vanish",
        "one arm loses more requests",
        "Requests given up are in no histogram of whole requests; their shares differ by over a point.",
        "Find out why clients leave; harm can still be shown.",
    ),
    _code("nothing_readable", "nothing can be read", "No window of the speculative arm could be read.", "The sentence says why."),
    _code(
        "low_alpha", "low alpha", "Three windows running had an alpha below its limit: a warning.", "See `below_break_even` too."
    ),
    _code("alpha_unknown", "alpha is not known", "The engine does not tell alpha, or drafts of uneven length leave it open."),
    _code(
        "memory_short",
        "memory is short",
        "The KV cache was 95 % full with preemptions in two windows running.",
        "Lower the load.",
    ),
    _code("run_is_old", "the run is old", "The run ended more than 30 days ago.", "Run again."),
    _code("run_is_demonstration", "the run is a demonstration", "It used built-in prompts or a virtual accelerator."),
    _code("replicas_left_out", "replicas left out", "They restarted, came or went within the window, or could not be read."),
    _code(
        "buckets_too_wide",
        "the buckets are too wide",
        "The engine's edges cannot resolve a tail's margin; nothing is interpolated.",
        "Start the engine with the edges that the sentence names.",
    ),
    _code(
        "facts_not_watched",
        "facts are not watched",
        "No live endpoint is named whose facts could be compared.",
        "Give --facts URL.",
    ),
    _code("no_run", "no run is named", "Only limits and drafting are watched.", "Name the run that let speculation go live."),
)

LIVE_NOTES: tuple[Entry, ...] = (
    _note("arms_have_different_traffic", "Live: traffic is not assigned at random, so that no ratio of the arms means anything."),
    _note("demand_not_capacity", "Live: throughput follows what users send, not what an arm could serve."),
    _note("not_told_by_counters", "Live: the engines' counters do not hold this metric."),
    _note("prefix_hits_not_alike", "Live: the prefix cache helps one arm more, by over 5 points, so that TTFT is not compared."),
    _note("no_spread", "Live: all windows have one and the same ratio, which is no evidence."),
    _note("limit_not_told", "Live: the engine has no such histogram, or the limit lies between two edges that do not decide."),
    _note("errors_accepted_unknown", "Live: nobody tells failed requests, and `--errors none` accepts that."),
)

LIVE_EXITS: tuple[Entry, ...] = (
    Entry("exit code", "12", "RERUN", "`watch` alone: the run no longer describes what is live.", "", ("exit-codes",)),
    Entry("exit code", "13", "ALARM", "`watch` alone: something needs a person.", "", ("exit-codes",)),
)
