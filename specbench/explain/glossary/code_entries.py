"""The codes of a verdict's reasons: what each one says, and what to do next."""

from specbench.explain.glossary.entry import Entry


def _code(name: str, title: str, text: str, fix: str = "") -> Entry:
    return Entry("reason code", name, title, text, fix)


# Why a run ends HOLD: the title is what the headline says, the fix what to do.
HOLDS: tuple[Entry, ...] = (
    _code(
        "no_benefit",
        "no gain",
        "The requested gain is ruled out in the primary cell, and no harm is proven.",
        "Keep it off. Change the draft, its depth or the load, then run again.",
    ),
    _code(
        "insufficient_evidence",
        "not decided",
        "The data prove neither that speculation is good enough nor that it does harm.",
        "Keep it off and run more pairs.",
    ),
    _code(
        "place_not_controlled",
        "the two hosts are not shown to be equal",
        "The arms run on different hosts, so the difference may be the hosts'.",
        "Run the baseline on both hosts (--aa), or swap the arms (--swap), then cite that run with --place.",
    ),
    _code(
        "partial",
        "the run ended early",
        "Only a part of the plan was measured, and a part decides nothing.",
        "Run it again, to its end.",
    ),
    _code(
        "too_few_launches",
        "too few engine starts",
        "With `schedule: restart` each start of an engine is one sample. Four of each arm are needed.",
        "Use at least 4 pairs.",
    ),
    _code(
        "killed_from_outside",
        "an engine was killed from outside",
        "A signal from outside ended an engine once, with no sign of a crash or of memory that ran out.",
        "Find out who ended it (an eviction, an operator, the OOM killer), then run again.",
    ),
    _code(
        "fading",
        "the gain fades during the run",
        "The gain shrinks from the first pairs to the last ones.",
        "Run longer, on traffic that does not repeat, and see where the gain settles.",
    ),
    _code(
        "slows_within_blocks",
        "requests slow down within blocks",
        "The speculative arm gets slower from the beginning of a block to its end.",
        "Use longer blocks (matrix.block), so that the steady speed is measured.",
    ),
    _code(
        "order_not_excluded",
        "the order of the arms may explain the difference",
        "The result depends on which arm ran before, or the gain is not shown without that. With few pairs: `order not tested`.",
        "Run more pairs, or use `schedule: restart`.",
    ),
    _code(
        "made_up_text",
        "the prompts are made-up text",
        "The dataset has lengths without texts, so the texts were made up, and acceptance on them says little about yours.",
        "Use your own prompts (workload.source.dataset).",
    ),
    _code(
        "answers_not_shown",
        "whether the answers stay the same was not shown",
        "Everything else passed, but too few answers were compared to rule out that speculation changes them.",
        "Keep it off. Compare more prompts: `--set answers.prompts=512`.",
    ),
    _code(
        "synthetic_acceptance",
        "acceptance is synthetic",
        "Drafts are accepted at a fixed rate, so the answers are not the model's.",
        "Run again without synthetic acceptance.",
    ),
    _code(
        "own_history",
        "the arms had different prompts",
        "Later turns of sessions hold each arm's own answers, so no prompt is in both arms. Figures are shown and never judged.",
        "Run with `workload.sessions.history: dataset`.",
    ),
)

CODES: tuple[Entry, ...] = (
    *HOLDS,
    _code("promote", "everything passed", "Every required check passed at every required load, and so did the gain."),
    _code(
        "capped",
        "passed up to a load",
        "Everything passed up to this load, and something above it did not.",
        "Run the loads up to the cap alone: that run must say PROMOTE.",
    ),
    _code("benefit", "the gain", "What the primary cell shows of the requested gain."),
    _code("gain_not_shown", "the gain is not shown", "The gain of the primary cell is open or ruled out."),
    _code("no_gain", "no gain beside the harm", "The gain is not shown either, beside checks that failed."),
    _code(
        "harm",
        "a check failed",
        "The speculative arm is worse than its limit allows, and chance does not explain it.",
        "Turn speculation off at this load.",
    ),
    _code(
        "harm_in_a_bin",
        "a part of the traffic is harmed",
        "A bin with at least 5 % of the requests is surely past its limit, and fails its load.",
        "Judge the bins apart (`traffic: separate`), and keep speculation off for that one.",
    ),
    _code("harm_beyond", "harm above the cap", "A check failed at a load above the cap.", "Keep speculation off above the cap."),
    _code(
        "not_shown_beyond",
        "open above the cap",
        "A load above the cap did not pass, and harm is not proven there.",
        "Keep speculation off above the cap, or run more pairs.",
    ),
    _code(
        "unsafe",
        "speculation breaks the service",
        "Requests fail, memory runs out, engines restart more often, or the answers change with speculation.",
        "Turn speculation off, then read the log of that engine.",
    ),
    _code("safety", "a safety check", "What a safety check found over the run."),
    _code(
        "dead_arm",
        "the speculative arm stopped answering",
        "All requests of the speculative arm failed, or its engine went down, while the baseline answered.",
        "Turn speculation off, then read the log of that engine.",
    ),
    _code(
        "dead_baseline",
        "the baseline stopped answering",
        "All requests of the baseline failed, or its engine went down, so there is nothing to compare with.",
        "Restart the baseline, then run again.",
    ),
    _code(
        "invalid",
        "the measurement cannot be trusted",
        "At least one integrity check failed at a required load, so no figure proves anything.",
        "Fix the failed checks, then run again.",
    ),
    _code(
        "refused",
        "nothing measured",
        "The run was refused before load.",
        "Fix what the message names, then run again.",
    ),
    _code("no_required_cell", "no load decides", "Every load of the run is optional.", "Require at least one load."),
    _code("slices", "judged by slice", "Which slices of the traffic may be served with speculation."),
)
