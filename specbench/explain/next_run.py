"""What would make a reader of the verdict surer: the next run to make, and what it would settle. Nothing is judged here."""

from specbench.explain import labels, numbers
from specbench.explain.check_counts import check_words
from specbench.explain.load_ranges import caps
from specbench.model import queries
from specbench.model.guardrails import MIN_LAUNCHES
from specbench.model.result import CellResult, Finding, Result

DECISION_PAIRS = 10  # what profile `standard` runs, meant for a decision
# By the code of the reason: what concerns the run as a whole, whatever its checks say.
HELD = {
    "place_not_controlled": (
        "A look at the two places",
        "More pairs would not tell the machines apart from speculation. Run the same scenario with `--aa` (the baseline in both"
        " places) or `--swap` (the arms exchanged), then again with `--place` and that run; or declare `place: same` where the"
        " places are known to be alike.",
    ),
    "partial": ("The whole run", "This run ended early, and a part of one decides nothing. Run it again, to its end."),
    "killed_from_outside": (
        "A run that nobody ends",
        "One kill from outside decides nothing, whichever arm it hits. Find out who ended the engine and run again; a crash,"
        " memory that runs out, or a second death of the same arm does decide.",
    ),
    "order_not_excluded": (
        "A balanced order that is known to balance",
        "More pairs would say how much of the order of blocks is left in the ratio; a longer ramp (`matrix.block.ramp_s`) or"
        " `schedule: restart` makes it smaller.",
    ),
    "fading": (
        "A longer run",
        "The gain falls from pair to pair, so more pairs would only follow it down. See what changes in the course of the run"
        " (acceptance, memory, heat, the prompts), mend it, and run again for longer.",
    ),
    "slows_within_blocks": (
        "Longer blocks",
        "One arm gets slower the longer load lasts. Let blocks be long enough (`matrix.block.min_s`) that it stays where it"
        " ends, and see what grows meanwhile: its cache, its queue, its heat.",
    ),
    "made_up_text": (
        "A run on real prompts",
        "The trace gave lengths without texts, and acceptance depends on texts. Run the same bins on logged requests with their"
        " texts; the trace says how often each length comes.",
    ),
    "too_few_launches": (
        "More engine starts",
        "One start of an engine differs from the next, and with `schedule: restart` each pair starts both arms anew: at least"
        f" {MIN_LAUNCHES} pairs are needed (`--set matrix.pairs={MIN_LAUNCHES}` or more).",
    ),
}


def next_run(result: Result) -> tuple[str, str]:
    """The answer in a few words, and the sentences behind it."""
    if result.verdict == "INVALID":
        broken = [check.message for check in queries.integrity(result) if check.ok is False]
        return "Mend the measurement", " ".join(dict.fromkeys(broken)) or "Mend what the reasons name, then run again."
    if result.verdict == "ROLLBACK":
        return (
            "Nothing: mend, then run",
            "The harm is shown, and more of the same data would not undo it. Mend what the reasons name.",
        )
    if result.verdict == "CAPPED" and (queries.ranges(result) or queries.slices_that(result, "CAPPED")):
        return "A run up to the cap", f"{_confirming(result)}{_higher_cap(result)}"
    held = _held(result)
    if held is not None:
        return held
    unsettled = [one for one in queries.findings(result) if one.required and one.is_open]
    pairs = _pairs(unsettled)
    if pairs is not None:
        subject = numbers.one_of(len(unsettled), "required check is", "required checks are")
        return f"About {pairs} pairs in all", f"{subject} open ({_named(unsettled)}); the hardest needs {_more(result, pairs)}."
    if unsettled:
        return "Other data", " ".join(dict.fromkeys(finding.reason for finding in unsettled))
    if result.verdict == "HOLD":
        return "Other data", " ".join(dict.fromkeys(one.message for one in result.reasons))
    if result.config.pairs < DECISION_PAIRS:
        return "More pairs", f"{_few_pairs(result)}{_seen(result)}"
    return "Your own traffic", f"A run on prompts from your own logs, and a canary behind the same guardrails.{_seen(result)}"


def _held(result: Result) -> tuple[str, str] | None:
    """What a HOLD waits for, where that is no question of pairs: by the reason that the verdict put first."""
    if result.verdict != "HOLD" or not result.reasons:
        return None
    if queries.no_benefit(result):
        gain = f"A benefit of {numbers.percent(result.config.improve_by)} in {labels.metric(result.config.success_metric)}"
        return "Nothing: another draft", (
            f"{gain} is ruled out, and more of the same data would not bring it. Change what is speculated (the draft, how many"
            " tokens it drafts) or the load, then run again."
        )
    return HELD.get(next((one.code for one in result.reasons if one.code != "slices"), ""))


def _confirming(result: Result) -> str:
    """What confirms the cap: one run, or one for each cap where slices have more than one; nothing else is needed."""
    had = numbers.one_of(result.config.pairs, "pair")
    capped = queries.slices_that(result, "CAPPED")
    what = caps(capped) if capped else "the cap"
    how = "one command (above)" if queries.unconfirmed(result) else "one run up to each"
    if result.config.pairs < DECISION_PAIRS:
        return f"It confirms {what}: {how}, {DECISION_PAIRS} pairs a cell (profile standard); this run had {had}."
    return f"It confirms {what}: {how}. This run had {had} a cell."


def _few_pairs(result: Result) -> str:
    """That the run was a small one; that it was not."""
    had = numbers.one_of(result.config.pairs, "pair")
    if result.config.pairs < DECISION_PAIRS:
        return f"This run had {had} of blocks a cell; a decision wants {DECISION_PAIRS} (profile standard)."
    return f"This run had {had} of blocks a cell; the next has the cap in force, on your own traffic."


def _higher_cap(result: Result) -> str:
    """What might raise the cap: pairs where the next load is open, loads in between where it is harmed."""
    said = []
    for found in queries.ranges(result):
        top = found.high
        above = [
            (at, cell) for cell in result.cells if cell.required and (at := queries.place(cell, found.by)) and top and at > top
        ]
        if not above or top is None:
            continue
        at, cell = min(above, key=lambda pair: pair[0])
        said.append(_next_load(result, cell) if cell.state != "FAIL" else _harmed(cell, at, top, found.by))
    return "".join(f" {one}" for one in said)


def _next_load(result: Result, cell: CellResult) -> str:
    unsettled = [one for one in cell.findings if one.required and one.is_open]
    pairs = _pairs(unsettled)
    needs = "other data" if pairs is None else _more(result, pairs)
    seen = "; ".join(labels.metric(one.metric) if one.ratio is None else check_words(cell, one) for one in unsettled)
    past = " As measured that is past its limit, so more pairs may as well show harm." if any(map(_past, unsettled)) else ""
    return f"Optional, for a higher cap: another run of all loads that settles {numbers.load(cell.axes)} ({seen}): {needs}.{past}"


def _past(finding: Finding) -> bool:
    """Whether the measured ratio itself is on the wrong side of its limit."""
    if finding.ratio is None or finding.bound is None or finding.slo is not None:
        return False
    return finding.ratio < finding.bound if finding.direction == "higher" else finding.ratio > finding.bound


def _harmed(cell: CellResult, at: float, top: float, by: str) -> str:
    open_too = (
        " and what is open there does not matter beside it" if any(one.required and one.is_open for one in cell.findings) else ""
    )
    where = f"at {numbers.load(cell.axes)} harm is shown"
    text = f"Optional, for a higher cap: {where}, so more pairs there would not raise it{open_too}"
    room = by == "rate" or at - top > 1
    return f"{text}; loads between {top:g} and {at:g} in `matrix.{by}` might." if room else f"{text}."


def _pairs(found: list[Finding]) -> int | None:
    return max((one.pairs_needed for one in found if one.pairs_needed is not None), default=None)


def _more(result: Result, pairs: int) -> str:
    extra = f", {pairs - result.config.pairs} more than this run" if pairs > result.config.pairs else ""
    return f"about {pairs} pairs a cell in all{extra} (`--set matrix.pairs={pairs}`)"


def _named(found: list[Finding]) -> str:
    return ", ".join(dict.fromkeys(labels.metric(one.metric) for one in found))


def _seen(result: Result) -> str:
    required = [one for one in queries.findings(result) if one.required]
    seen = max((one.detectable for one in required if one.detectable is not None), default=None)
    return f" This run could tell a change of {numbers.percent(seen)} or more." if seen is not None else ""
