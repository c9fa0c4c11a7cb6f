"""Words of the harness and of the field, states, verdicts and exit codes, each with what it means."""

from specbench.explain.glossary.entry import Entry, Kind
from specbench.model.metrics import QUANTITIES


def _of(kind: Kind, name: str, title: str, text: str, *also: str, fix: str = "") -> Entry:
    return Entry(kind, name, title, text, fix, also)


def _word(name: str, text: str, *also: str) -> Entry:
    return Entry("word", name, name, text, "", also)


# What the percentiles of a quantity do not say of themselves.
_BESIDE = {
    "itl": " After a rejection one token takes a whole, longer, speculative step, so ITL p95 rises where TPOT falls.",
    "chunk_gap": " Under speculation a chunk holds several tokens, so gaps grow while TPOT falls.",
    "pace": " It is what a reader of the stream feels.",
}
_FELT = ("ttft", "tpot", "itl", "chunk_gap", "pace", "e2e")
_QUANTITIES = tuple(
    _word(one.label, f"{one.phrase[0].upper()}{one.phrase[1:]}: {one.definition}.{_BESIDE.get(one.id, '')}")
    for one in QUANTITIES
    if one.id in _FELT
)

WORDS: tuple[Entry, ...] = (
    _word("arm", "One of the two endpoints compared: the baseline, or the speculative arm.", "baseline", "speculative", "spec."),
    _word("place", "Where an arm runs and how it is reached: its URL, or the GPU and port of an engine that is started.", "host"),
    _word("design", "How arms and places are paired: plain, an A/A, or a swap."),
    _word("A/A", "A run of the baseline in both places (`run --aa`). A difference that it finds comes from the places.", "aa"),
    _word("swap", "A run with each arm in the other's place (`run --swap`)."),
    _word("import", "Results of another load tool, as `compare` reads them (docs/imports.md). They never promote.", "imported"),
    _word("indication", "What an import shows at best, without deciding: faster, slower, alike, mixed or unclear."),
    _word("bin", "Input band × output band × sampling: a kind of request."),
    _word("slice", "A bin and sampling with loads of its own, and a verdict of its own (`traffic: separate`)."),
    _word("cell", "One load: one bin, or the mix of all bins, at one concurrency or arrival rate.", "load"),
    _word(
        "stream",
        "One client that sends its next request when its last answer has ended. Concurrency 4 is 4 streams.",
        "concurrency",
    ),
    _word("block", "One arm under steady load in one cell."),
    _word("pair", "Two blocks of one cell, one per arm, adjacent in time, with the same prompts in the same order.", "pairs"),
    _word(
        "attempt",
        "One try at a pair. A resumed run, or one that lost a worker, tries a pair again; the first complete attempt counts.",
        "attempts",
    ),
    _word("fleet", "The master and the workers that drive one run's load together (docs/fleet.md)."),
    _word("worker", "Two processes that drive a part of the load: one reads the streams, one decodes what was read.", "workers"),
    _word("launch", "One start of an engine process."),
    _word("trial", "One block as executed."),
    _word("arrival", "One time stamp that delivered at least one output token."),
    _word("step", "One engine step as the client sees it."),
    _word("round", "One verification of one request's drafted tokens by the target model.", "verification round"),
    _word("candidate", "One speculation setting that `tune` measures; no speculation is always one more."),
    _word("series", "The baseline and every live candidate of a tune started once, with the same prompts."),
    _word("pick", "The candidate that `tune` chose at one load: chosen for being the best, so its figure is not for quoting."),
    _word(
        "setting", "The picks of all loads in the engine's own words: one depth, a table by batch size, or a depth with a cap."
    ),
    _word("threshold", "A batch size after which a setting changes its depth."),
    _word("try", "One run that confirms a setting. Try n of a chain is judged at alpha ÷ 2^(n−1).", "confirm"),
    _word(
        "steady window",
        "The part of a block that counts. It opens when every stream has finished a request, or a fixed time after the start.",
        "window",
    ),
    _word(
        "whose window",
        "TTFT, TPOT and E2E come from requests sent inside the steady window and followed to their end."
        " ITL, pace, gaps and throughput come from the token intervals inside the window, of every request.",
    ),
    _word(
        "failed request",
        "A request that failed or timed out counts as endlessly slow in latencies."
        " Requests in flight when the block ended count as neither success nor failure.",
    ),
    _word(
        "guardrail", "A metric that must not get worse by more than its limit. A pass needs proof, as a failure does.", "limit"
    ),
    _word("finding", "What one guardrail says at one load: PASS, FAIL, INCONCLUSIVE or NODATA."),
    _word("margin", "The change for the worse that a guardrail allows, as a share of the baseline."),
    _word(
        "floor",
        "A change for the worse that is always allowed, in the metric's unit. It decides where it is wider than the margin.",
    ),
    _word("slo", "An absolute limit in the metric's unit, for the speculative arm alone."),
    _word(
        "capacity",
        "The highest rate of arrivals at which an arm keeps your limits (`specbench capacity`). Requests that fail or come late"
        " are misses: p95 below 400 ms asks for 95 % in time. It changes with the limits, so it is always shown beside them.",
    ),
    _word("headroom", "The share of a machine's capacity that stays free when machines are counted for traffic; default 20 %."),
    _word(
        "95 % bounds",
        "The change that was measured lies between them. Each end holds with 95 % confidence."
        " A check passes when the worse end is inside its limit.",
        "bounds",
        "interval",
    ),
    _word("ratio", "Speculative ÷ baseline. Below 1 is better for times, above 1 for throughput.", "change"),
    _word("advisory", "A finding that is reported and decides nothing. Its mark is in brackets.", "(✓)", "(✗)", "(?)"),
    _word("primary cell", "The load that must show the gain. Every other load only has to keep its limits.", "primary"),
    _word("gain", "The improvement that the scenario asks for in the primary cell (`success`).", "benefit", "success"),
    _word("range", "The unbroken run of loads around the primary one whose required findings all pass."),
    _word(
        "cap",
        "The top of a range above which a load did not pass. Speculation may be on up to it, once a run up to it says PROMOTE.",
    ),
    _word(
        "running requests",
        "Requests that the engine works on at a time, by its own gauge. Fewer than the streams, as some requests wait.",
    ),
    _word("censored", "An event without a time of its own, as it was read together with an event of a later step."),
    _word(
        "smoke, standard, full",
        "Profiles of 4, 10 and 20 pairs. Smoke is a first look; standard is meant for a decision.",
        "smoke",
        "standard",
        "full",
        "profile",
    ),
    *_QUANTITIES,
    _word(
        "acceptance length",
        "1 + accepted ÷ verification rounds: tokens that one round yields, the bonus token included.",
        "acceptance",
    ),
    _word("acceptance rate", "Accepted ÷ drafted, as engines report it. It falls with more drafted tokens by arithmetic alone."),
    _word("tokens per step", "Output tokens ÷ all decode steps, drafted or not: what the speed-up depends on."),
    _word(
        "step time",
        "Mean time of an engine step. TPOT ratio ≈ step-time ratio ÷ tokens per step.",
        "step-time ratio",
        "r",
    ),
    _word("break-even", "The number of tokens per step from which speculation shortens the time per token: the step-time ratio."),
    _word("killed from outside", "An engine was ended or replaced once by somebody else, with no sign of memory that ran out."),
    _word("crash", "An engine ended by a signal of its own doing (SIGSEGV, SIGABRT) or with an exit code other than 0."),
    _word("freeze", "No stream got a token for at least 2 s and 20 usual steps, while answers were under way."),
    _word("off by schedule", "The engine drafts nothing at this load, as the scenario declares (`speculative.off_from`)."),
    _word(
        "clear difference",
        "A place where an answer parts from the other arm's, and the baseline, asked, prefers another token by more than a limit:"
        " 0.5 nat, or 1.5 times what it differs from itself, at most 2 nats.",
        "clear",
    ),
    _word(
        "near-tie", "A place where two answers part although the baseline finds both tokens about equally probable.", "near-ties"
    ),
    _word(
        "surprise",
        "The log probability of a sampled token minus its expectation, by the baseline. Its mean is one for arms that are alike.",
    ),
    _word("mark", "What is wrong with the form of an answer: it loops, is no valid JSON, or runs past its stop string.", "marks"),
    _word(
        "answers_greedy",
        "Safety over the run: greedy answers leave the baseline's at clear differences in no more prompts than 1 % explains.",
        "answers greedy",
    ),
    _word(
        "answers_sampled",
        "Safety over the run: the baseline finds the sampled tokens of both arms equally probable, within 0.05 nat a token.",
        "answers sampled",
    ),
    _word(
        "answers_form",
        "Safety over the run: no mark is more frequent with speculation, by 2 points, or by the baseline's own share up to 10.",
        "answers form",
    ),
    _word(
        "lossy by declaration", "Speculation is meant to change the answers, so greedy and sampled ones decide nothing.", "lossy"
    ),
    _word(
        "demo",
        "A run with the embedded engine. Its times are virtual, so it decides nothing about a real server.",
        "virtual time",
    ),
)

STATES: tuple[Entry, ...] = (
    _of(
        "state",
        "PASS",
        "within its limit",
        "The whole interval up to its worse bound is within the limit. For the gain: shown, and the target is reached.",
        "✓",
        "ok",
    ),
    _of(
        "state",
        "FAIL",
        "past its limit",
        "Worse than the limit, and chance does not explain it. All checks of the run together err in at most 1 of 20 runs.",
        "✗",
    ),
    _of(
        "state",
        "INCONCLUSIVE",
        "open",
        "Neither PASS nor FAIL is shown. The number beside the mark is the pairs that would settle it.",
        "?",
        "open",
        fix="Run more pairs.",
    ),
    _of("state", "NODATA", "no data", "It could not be measured, and the reason says why. It is never a pass.", "–", "no data"),
    _of(
        "state",
        "INVALID",
        "not to be trusted",
        "Measured under conditions that allow no judgement: an integrity check failed.",
        fix="Fix the failed check, then rerun.",
    ),
    _of("state", "ADVISORY", "not judged", "A load that is shown and decides nothing (`required: false`).", "not judged"),
)

VERDICTS: tuple[Entry, ...] = (
    _of(
        "verdict",
        "PROMOTE",
        "enable it",
        "Every required check passed at every load, and the gain is there. From 10 pairs on: enable it for this traffic.",
        fix="Below 10 pairs repeat it with --profile standard; else enable it behind a canary.",
    ),
    _of(
        "verdict",
        "CAPPED",
        "enable it up to a load",
        "Everything passed up to a load, or for some slices, and not beyond.",
        fix="Confirm the cap: a run of the loads up to it must say PROMOTE. Keep it off above.",
    ),
    _of(
        "verdict",
        "HOLD",
        "do not enable it yet",
        "The gain is not there, or the data prove neither good nor harm.",
        fix="Read the first reason: it names what is missing.",
    ),
    _of(
        "verdict",
        "ROLLBACK",
        "turn it off",
        "Harm is proven: a safety check failed, or a limit is broken and no range of loads is left.",
        fix="Turn speculation off. Fix the cause before the next run.",
    ),
    _of(
        "verdict",
        "INVALID",
        "fix the measurement",
        "The measurement cannot be trusted, or there was nothing to compare with.",
        fix="Fix the failed checks, then rerun.",
    ),
)

EXIT_CODES: tuple[Entry, ...] = (
    _of(
        "exit code",
        "0",
        "PROMOTE, or done",
        "Also CAPPED with --allow-capped. `run` without --gate exits 0 once it judged, except for INVALID.",
        "exit-codes",
    ),
    _of("exit code", "10", "HOLD", "`gate`, and `run --gate`.", "exit-codes"),
    _of("exit code", "11", "CAPPED", "`gate`, and `run --gate`; 0 with --allow-capped.", "exit-codes"),
    _of("exit code", "20", "ROLLBACK", "`gate`, and `run --gate`.", "exit-codes"),
    _of("exit code", "30", "INVALID", "`run` too, with or without --gate.", "exit-codes"),
    _of("exit code", "2", "command line", "An option or its value is wrong. It is never a verdict.", "exit-codes"),
    _of("exit code", "64", "scenario", "The scenario cannot be used; the message names file, line and key.", "exit-codes"),
    _of("exit code", "65", "bad data", "A run folder or file cannot be read, or is not what it says.", "exit-codes"),
    _of("exit code", "69", "endpoint not reachable", "Nothing answered, or the first request failed.", "exit-codes"),
    _of("exit code", "70", "internal error", "A fault of this program, or of the machine.", "exit-codes"),
    _of(
        "exit code",
        "130",
        "interrupted",
        "Ctrl-C. What was measured is kept. 129 and 143 likewise, for SIGHUP and SIGTERM.",
        "exit-codes",
        "129",
        "143",
    ),
)
