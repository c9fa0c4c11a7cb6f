"""A verdict as an instruction, and its reasons: what to do, then the sentences of the findings behind it.

Words only; the rules that choose among them are in `verdict.py` and `slices.py`. Codes are stable, for scripts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from specbench.explain import labels
from specbench.explain.numbers import listed, one_of, percent, slice_words
from specbench.explain.phrases import load_words, place_of, server_limit
from specbench.explain.rules.load_ranges import caps, tops
from specbench.model import queries
from specbench.model.answers.answer_rules import ANSWERS
from specbench.model.cell_assessment import CellAssessment, failed_findings, open_findings
from specbench.model.facts import NOT_FOR_FREE, same_fact
from specbench.model.guardrails import IN_A_BIN, MIN_LAUNCHES
from specbench.model.records import Cell
from specbench.model.result import Finding, IntegrityCheck, LoadRange, Reason, Result, VerdictWord
from specbench.model.scenario import ARMS, ArmName

NAMED_PLACES = 3
NOT_SPECULATING = "not_speculating"
_SAME_AS_NOT_SPECULATING = "speculation_speculative"  # the check of one load that says it again
RANGE_METHOD = "from the primary cell outward, every cell at its own 95 % bounds, ending at the first that did not pass"
# The gravest first: a headline says one thing.
_BREAKS = {
    "error_rate": "more requests fail with it",
    "stalled_answers": "more answers stall with it",
    "oom": "engines run out of memory more often with it",
    "restarts": "engines restart more often with it",
    **dict.fromkeys(ANSWERS, "it changes the answers"),
    "output_length": "it changes the length of answers",
}


def headline(result: Result) -> str:
    """The verdict as an instruction, in the order in which to act, and what else differs that may be behind the figures."""
    return f"{_instruction(result)}{_unlike(result)}"


def _instruction(result: Result) -> str:
    if result.verdict == "INVALID" and result.reasons and result.reasons[0].code == NOT_SPECULATING:
        return result.reasons[0].message.removesuffix(".")
    found = queries.ranges(result)
    if result.verdict == "CAPPED" and found:
        return f"Confirm the cap of {tops(found)}, then enable up to it"
    if result.verdict == "CAPPED" and result.slices:
        return _slices_headline(result)
    return labels.VERDICTS[result.verdict].headline


def _unlike(result: Result) -> str:
    """The settings that differ between the arms and the requested delays, as the end of a headline."""
    arms = (result.endpoints.baseline, result.endpoints.speculative)
    told = [(name, *(arm.facts.get(name) for arm in arms)) for name in NOT_FOR_FREE]
    said = [f"{name} ({ours} and {theirs})" for name, ours, theirs in told if ours and theirs and not same_fact(ours, theirs)]
    slowed = [f"the {name} arm is slowed by {percent(arm.slow_by)}" for name, arm in zip(ARMS, arms, strict=True) if arm.slow_by]
    return f". More than speculation differs: {', '.join([*said, *slowed])}" if said or slowed else ""


def _slices_headline(result: Result) -> str:
    on, capped = queries.slices_that(result, "PROMOTE"), queries.slices_that(result, "CAPPED")
    if not on:
        return f"Confirm {caps(capped)}, then enable up to it, for that traffic only"
    first = f"; confirm {caps(capped)}" if capped else ""
    return f"Enable it for {listed([slice_words(part) for part in on])} only{first}"


def refused(refusals: Sequence[str], integrity: Sequence[IntegrityCheck] = ()) -> tuple[Reason, ...]:
    """Nothing was measured, and why; by the name of the check where one failed before load."""
    codes = {check.message: check.id for check in integrity if check.ok is False}
    return tuple(_reason(codes.get(text, "refused"), text if text.endswith(".") else f"{text}.") for text in refusals)


def unsafe(findings: Sequence[Finding], dead: Sequence[CellAssessment]) -> tuple[Reason, ...]:
    """Rule 1: speculation breaks the service."""
    metrics = {"error_rate"} if dead else {finding.metric for finding in findings}
    first = next((metric for metric in _BREAKS if metric in metrics), None)
    headline = _reason("unsafe", f"Turn speculation off: {'it breaks the service' if first is None else _BREAKS[first]}.")
    why = "the speculative arm was dead: no request succeeded, or its engine exited. The baseline answered."
    gone = [_reason("dead_arm", f"{cell.place}, {why}", cell.id) for cell in dead]
    return (headline, *(_of(finding, "safety") for finding in findings), *gone)


def invalid(checks: Sequence[IntegrityCheck], lost: Sequence[CellAssessment]) -> tuple[Reason, ...]:
    """Rule 2: the measurement cannot be trusted."""
    headline = _reason("invalid", "No verdict: the measurement cannot be trusted. Fix the problems below and run again.")
    first = tuple(_reason(check.id, check.message) for check in checks if check.id == NOT_SPECULATING)
    again = {NOT_SPECULATING, _SAME_AS_NOT_SPECULATING} if first else set()
    failed = [_reason(check.id, check.message, check.cell) for check in checks if check.id not in again]
    gone = []
    for cell in lost:
        who = "both arms were" if "speculative" in cell.dead else "the baseline was"
        why = f"{who} dead: no request succeeded, or the engine exited. Nothing can be compared."
        gone.append(_reason("dead_baseline", f"{cell.place}, {why}", cell.id))
    if first and not failed and not gone:
        return first
    nothing = (
        () if first or failed or gone else (_reason("no_required_cell", "No load of the run is required, so none decides."),)
    )
    return (*first, headline, *failed, *gone, *nothing)


def promoted(required: Sequence[CellAssessment], ranges: Iterable[LoadRange]) -> Reason:
    """Rule 3: everything passed."""
    checks = sum(1 for cell in required for f in cell.findings if f.decides)
    loads = " and ".join(_load(span) for span in ranges)
    return _reason("promote", f"Speculation passed up to {loads}: all {checks} checks in {one_of(len(required), 'cell')} passed.")


def capped(ranges: Iterable[LoadRange]) -> Reason:
    """Rule 4: a part of the load passed."""
    loads = " and ".join(_load(span) for span in ranges)
    return _reason(
        "capped",
        f"Cap: {loads}. Everything passed up to it. Keep speculation off above it: harm, open, or not tested."
        " Confirm the cap first: a run of the tested loads up to it must say PROMOTE.",
    )


def beyond(above: Sequence[CellAssessment], span: LoadRange) -> tuple[Reason, ...]:
    """What ended the range: the harm above it, or else what was not shown there."""
    if span.beyond == "harm_beyond":
        worst = next(cell for cell in above if cell.state == "FAIL")
        return tuple(_of(finding, "harm_beyond") for finding in failed_findings(worst))
    if span.beyond == "not_shown_beyond":
        return _open(above[0], "not_shown_beyond")
    return ()


def with_answers(headline: Reason, beside: str) -> Reason:
    """The headline of a verdict that lets speculation go live, with what is not known of the answers in its first sentence."""
    first, stop, rest = headline.message.partition(". ")
    message = f"{first.removesuffix('.')}{beside}.{f' {rest}' if stop else ''}"
    return replace(headline, message=message) if beside else headline


def answers_not_shown(findings: Sequence[Finding]) -> tuple[Reason, ...]:
    """Everything else passed, but it is open whether the answers stay the same."""
    headline = _reason("answers_not_shown", "Hold: whether the answers stay the same was not shown.")
    return (headline, *(_of(finding, "answers_not_shown") for finding in findings))


def synthetic_acceptance(would_be: VerdictWord) -> Reason:
    """Drafts are accepted at a given rate, so that neither speed nor answers are those of the model."""
    message = f"Acceptance is synthetic, so the answers are not the model's and {would_be} is not possible. Run without it."
    return _reason("synthetic_acceptance", message)


def own_history(findings: Sequence[Finding], dead: Sequence[CellAssessment]) -> tuple[Reason, ...]:
    """Later turns hold the arm's own answers; then what would be unsafe, which does not count."""
    headline = _reason(
        "own_history",
        "Hold: later turns hold each arm's own answers (history: own), so the arms had different prompts and nothing is judged."
        " For a verdict, run with workload.sessions.history: dataset.",
    )
    return (headline, *unsafe(findings, dead)[1:])


def benefit_shown(benefit: Finding) -> Reason:
    """The gain, as its finding says it."""
    return _of(benefit, "benefit")


def harm(required: Sequence[CellAssessment], benefit: Finding | None) -> tuple[Reason, ...]:
    """Rule 5: a guardrail broke, and no range of the load is left to cap at."""
    failed = [cell for cell in required if cell.state == "FAIL"]
    count = sum(len(failed_findings(cell)) for cell in failed)
    headline = _reason("harm", f"Turn speculation off: {one_of(count, 'check')} broke {_places(failed)}.")
    gain = () if benefit is None or benefit.state == "PASS" else (_of(benefit, "no_gain"),)
    return (headline, *(_of(finding, "harm") for cell in failed for finding in failed_findings(cell)), *gain)


def hold(
    required: Sequence[CellAssessment], benefit: Finding | None, safety: Sequence[Finding], fading: Reason | None = None
) -> tuple[Reason, ...]:
    """Rule 6: neither a benefit nor a harm is proven; `fading`: why the gain does not count."""
    doubts = [reason for cell in required for reason in cell.doubts]
    if benefit is not None and benefit.state == "FAIL":
        headline = _reason("no_benefit", "Hold: the required gain is ruled out. No harm is proven.")
    elif fading is not None:
        headline = fading
    elif doubts:
        headline = _reason(doubts[0].code, "Hold: one arm slows down under load, so the ratio depends on how long load lasts.")
    else:
        headline = _reason("insufficient_evidence", "Hold: the data prove neither the gain with its limits nor harm.")
    gain = () if benefit is None else (_of(benefit, "benefit" if benefit.state == "PASS" else "gain_not_shown"),)
    rest = [reason for cell in required for reason in _open(cell, "insufficient_evidence") if cell.state != "PASS"]
    run_wide = [_of(one, "answers_not_shown" if one.metric in ANSWERS else "insufficient_evidence") for one in safety]
    return (headline, *gain, *run_wide, *rest)


def partial(would_be: VerdictWord) -> Reason:
    """The run ended early, so what it would have said does not count."""
    return _reason("partial", f"The run ended early, so {would_be} is not possible. Run it to its end.")


def engine_ended(cell: Cell, arm: ArmName, how: str, pair: int) -> str:
    """How an engine went down from outside in this pair, counted from 0, and what that means for the figures."""
    return (
        f"{place_of(cell)}, the {arm} engine {how} in pair {pair + 1}, without a sign of a crash or of memory that ran out."
        " That pair is excluded."
    )


def killed_from_outside(killed: Sequence[str], would_be: VerdictWord, reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """An engine was killed, or replaced, by somebody else; then what is left of the run shows, which does not count."""
    headline = _reason(
        "killed_from_outside",
        "Hold: an engine was killed from outside, which says nothing about speculation."
        " Find out who ended it (an eviction, an operator, the OOM killer), then run again.",
    )
    gone = [_reason("killed_from_outside", sentence) for sentence in killed]
    if would_be in ("PROMOTE", "CAPPED"):
        left = f"The rest of the run would say {would_be}, which does not count."
        return (headline, *gone, _reason("killed_from_outside", left))
    kept = ("partial", "own_history")
    return (headline, *gone, *(reason for reason in reasons if reason.code in kept or reason.metric is not None))


def unmeasured(required: Sequence[CellAssessment]) -> tuple[Reason, ...]:
    """The cells that a partial run never reached."""
    return tuple(reason for cell in required if cell.state == "NODATA" for reason in _open(cell, "partial"))


def too_few_launches(would_be: VerdictWord) -> Reason:
    """Restarted engines differ from start to start, and too few starts were seen."""
    message = f"{would_be} needs at least {MIN_LAUNCHES} engine starts per arm, as starts differ. This run had fewer."
    return _reason("too_few_launches", message)


def made_up_text(would_be: VerdictWord, made_up: int, prompts: int) -> Reason:
    """What was sent has the lengths of real traffic and not its text."""
    message = (
        f"{made_up:,} of {prompts:,} prompts were made up to the lengths of a trace. Drafts fit them better or worse than"
        f" the text that you serve. For {would_be}, run on real prompts."
    )
    return _reason("made_up_text", message)


def place_not_controlled(would_be: VerdictWord, sentences: Sequence[str]) -> tuple[Reason, ...]:
    """The arms stand in different places, and nothing shows that the places are alike; then why no cited run does."""
    headline = _reason(
        "place_not_controlled",
        f"The arms run on two hosts, so the difference may be the hosts'. {would_be} needs proof that the hosts perform equally."
        " Run `run --aa` (baseline on both) or `run --swap` (arms swapped), then cite that run with --place."
        " If the hosts are known to be equal, declare `place: same`.",
    )
    return (headline, *(_reason("place_not_controlled", sentence) for sentence in sentences))


def over_slices(
    word: VerdictWord, parts: Sequence[tuple[tuple[str | None, str | None], VerdictWord, tuple[Reason, ...]]], beside: str
) -> tuple[Reason, ...]:
    """The verdict over slices: which of them are eligible, and what is not known of the answers; then each one's sentences."""
    eligible = [_name(name) for name, part, _ in parts if part in ("PROMOTE", "CAPPED")]
    if word in ("PROMOTE", "CAPPED"):
        text = f"{len(eligible)} of {len(parts)} slices of the traffic are eligible: {', '.join(eligible)}{beside}."
    else:
        text = f"None of {len(parts)} slices of the traffic is eligible; the worst says {word}."
    details = [replace(reason, message=_of_slice(name, reason)) for name, _, reasons in parts for reason in reasons]
    return (_reason("slices", text), *details)


def _open(cell: CellAssessment, code: str) -> tuple[Reason, ...]:
    """Why a cell did not pass; an unmeasured cell without findings still gets its sentence."""
    reasons = tuple(_of(finding, code) for finding in (*failed_findings(cell), *open_findings(cell)))
    reasons += cell.doubts
    if reasons or cell.state == "PASS":
        return reasons
    return (_reason(code, f"{cell.place}, nothing was measured.", cell.id),)


def _of(finding: Finding, code: str) -> Reason:
    if code in ("harm", "harm_beyond") and IN_A_BIN in finding.notes:
        code = IN_A_BIN
    return Reason(code=code, cell=finding.cell, metric=finding.metric, message=finding.reason)


def _reason(code: str, message: str, cell: str | None = None) -> Reason:
    return Reason(code=code, cell=cell, metric=None, message=message)


def _places(cells: Sequence[CellAssessment]) -> str:
    """The first cells by name, in the middle of a sentence, and how many more there are."""
    named = [f"{cell.place[0].lower()}{cell.place[1:]}" for cell in cells[:NAMED_PLACES]]
    more = len(cells) - len(named)
    return " and ".join([*named, *([f"in {one_of(more, 'cell')} more"] if more else [])])


def _of_slice(name: tuple[str | None, str | None], reason: Reason) -> str:
    """A sentence of one slice; those of a cell name their slice already."""
    return reason.message if reason.cell is not None else f"{_name(name)}: {reason.message}"


def _load(span: LoadRange) -> str:
    assert span.high is not None
    load = load_words(span.high, by_rate=span.by == "rate")
    return load if span.by == "rate" or span.running_at_cap is None else f"{load} ({server_limit(span.running_at_cap)})"


def _name(name: tuple[str | None, str | None]) -> str:
    return "/".join(part for part in name if part is not None) or "all traffic"
