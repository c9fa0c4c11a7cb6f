"""The next run to make, and what it settles. Nothing is judged here."""

from specbench.explain import labels, numbers
from specbench.explain.check_counts import check_words
from specbench.explain.rules.load_ranges import caps
from specbench.model import queries
from specbench.model.guardrails import MIN_LAUNCHES
from specbench.model.result import CellResult, Finding, Result

DECISION_PAIRS = 10  # what profile `standard` runs, meant for a decision
# By the code of the reason: what concerns the run as a whole, whatever its checks say.
HELD = {
    "place_not_controlled": (
        "An A/A run or a swapped run",
        "More pairs do not separate the hosts from speculation. Run the scenario with `--aa` (baseline on both hosts) or"
        " `--swap` (arms swapped). Then repeat this run with `--place` and that run's folder."
        " If the hosts are known to be equal, declare `place: same`.",
    ),
    "partial": ("The whole run", "This run ended early, and a partial run decides nothing. Run it to its end."),
    "killed_from_outside": (
        "The same run, undisturbed",
        "One kill from outside decides nothing. Find out who ended the engine, then run again."
        " A crash, memory that runs out, or a second death of the same arm does decide.",
    ),
    "order_not_excluded": (
        "More pairs, or a longer ramp",
        "More pairs measure the effect of block order. A longer ramp (`matrix.block.ramp_s`) or `schedule: restart` reduces it.",
    ),
    "fading": (
        "A longer run",
        "The gain falls from pair to pair. Check acceptance, memory, heat and prompts over time, fix the cause, then run longer.",
    ),
    "slows_within_blocks": (
        "Longer blocks",
        "One arm slows down while load lasts. Lengthen blocks (`matrix.block.min_s`) until its speed is stable."
        " Check what grows: cache, queue, heat.",
    ),
    "made_up_text": (
        "A run on real prompts",
        "The trace gave lengths without texts, and acceptance depends on texts. Run the same bins on logged requests with their"
        " texts; the trace says how often each length comes.",
    ),
    "own_history": (
        "A run with recorded histories",
        "With the arm's own answers in later turns, no two arms have the same prompts. Run the scenario with"
        " `--set workload.sessions.history=dataset`.",
    ),
    "too_few_launches": (
        "More engine starts",
        "Engine starts differ, and with `schedule: restart` each pair restarts both arms."
        f" Run at least {MIN_LAUNCHES} pairs (`--set matrix.pairs={MIN_LAUNCHES}`).",
    ),
}


def next_run(result: Result) -> tuple[str, str]:
    """The answer in a few words, and the sentences behind it."""
    if result.verdict == "INVALID":
        broken = [check.message for check in queries.integrity(result) if check.ok is False]
        return "The same run, fixed", " ".join(dict.fromkeys(broken)) or "Fix what the reasons name, then run again."
    if result.verdict == "ROLLBACK":
        return (
            "No further run: fix the cause first",
            "Harm is shown, and more data do not change that. Fix what the reasons name.",
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
        return f"About {pairs} pairs", f"{subject} open ({_named(unsettled)}). The hardest needs {_more(result, pairs)}."
    if unsettled:
        return "Other data", " ".join(dict.fromkeys(finding.reason for finding in unsettled))
    if result.verdict == "HOLD":
        return "Other data", " ".join(dict.fromkeys(one.message for one in result.reasons))
    if result.config.pairs < DECISION_PAIRS:
        return "More pairs", f"{_few_pairs(result)}{_seen(result)}"
    return "Your own traffic", f"Run on prompts from your logs, then a canary with the same guardrails.{_seen(result)}"


def _held(result: Result) -> tuple[str, str] | None:
    """What a HOLD waits for, where that is no question of pairs: by the reason that the verdict put first."""
    if result.verdict != "HOLD" or not result.reasons:
        return None
    if queries.no_benefit(result):
        gain = f"A gain of {numbers.percent(result.config.improve_by)} in {labels.metric(result.config.success_metric)}"
        return "Another draft", f"{gain} is ruled out, and more data do not change that. Change the draft, its depth or the load."
    return HELD.get(next((one.code for one in result.reasons if one.code != "slices"), ""))


def _confirming(result: Result) -> str:
    """What confirms the cap: one run, or one for each cap where slices have more than one; nothing else is needed."""
    had = numbers.one_of(result.config.pairs, "pair")
    capped = queries.slices_that(result, "CAPPED")
    what = caps(capped) if capped else "the cap"
    how = "one command (above)" if queries.unconfirmed(result) else "one run up to each"
    if result.config.pairs < DECISION_PAIRS:
        return f"It confirms {what}: {how}, {DECISION_PAIRS} pairs a load (profile standard). This run had {had}."
    return f"It confirms {what}: {how}. This run had {had} a load."


def _few_pairs(result: Result) -> str:
    """That the run was a small one; that it was not."""
    had = numbers.one_of(result.config.pairs, "pair")
    if result.config.pairs < DECISION_PAIRS:
        return f"This run had {had} a load. A decision needs {DECISION_PAIRS} (profile standard)."
    return f"This run had {had} a load. Run next with the cap in force, on your own traffic."


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
    past = " The measured value is past its limit, so more pairs may show harm." if any(map(_past, unsettled)) else ""
    return f"Optional, for a higher cap: settle {numbers.load(cell.axes)} with {needs}. Open: {seen}.{past}"


def _past(finding: Finding) -> bool:
    """Whether the measured ratio itself is on the wrong side of its limit."""
    if finding.ratio is None or finding.bound is None or finding.slo is not None:
        return False
    return finding.ratio < finding.bound if finding.direction == "higher" else finding.ratio > finding.bound


def _harmed(cell: CellResult, at: float, top: float, by: str) -> str:
    text = f"More pairs do not raise the cap: harm is shown at {numbers.load(cell.axes)}."
    room = by == "rate" or at - top > 1
    return f"{text} Optional: add loads between {top:g} and {at:g} to `matrix.{by}`." if room else text


def _pairs(found: list[Finding]) -> int | None:
    return max((one.pairs_needed for one in found if one.pairs_needed is not None), default=None)


def _more(result: Result, pairs: int) -> str:
    extra = f", {pairs - result.config.pairs} more than this run" if pairs > result.config.pairs else ""
    return f"about {pairs} pairs a load{extra} (`--set matrix.pairs={pairs}`)"


def _named(found: list[Finding]) -> str:
    return ", ".join(dict.fromkeys(labels.metric(one.metric) for one in found))


def _seen(result: Result) -> str:
    required = [one for one in queries.findings(result) if one.required]
    seen = max((one.detectable for one in required if one.detectable is not None), default=None)
    return f" Smallest change that this run detects: {numbers.percent(seen)}." if seen is not None else ""
