"""The six questions that a reader brings to a report, each with one answer, from the result alone. No layout lives here."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from specbench.model.judged import EnableRange, Finding, Result
from specbench.report import costs, names, parts, wording

DECISION_PAIRS = 10  # what profile `standard` runs, meant for a decision
RARELY = 0.001
VOID = "Cannot be said"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, its answer in a few words, and the sentences behind it."""

    question: str
    short: str
    text: str


def answers(result: Result) -> tuple[Answer, ...]:
    """Enable it? For which traffic? Up to what load? How sure? What would make us surer? What does it cost?"""
    return (
        Answer("Enable it?", *_enable(result)),
        Answer("For which traffic?", *_traffic(result)),
        Answer("Up to what load?", *_load(result)),
        Answer("How sure?", *_certainty(result)),
        Answer("What would make us surer?", *_surer(result)),
        Answer("What does it cost?", *costs.cost(result)),
    )


def _enable(result: Result) -> tuple[str, str]:
    short = {"PROMOTE": "Yes", "CAPPED": "Yes, within limits", "HOLD": "Not yet", "ROLLBACK": "No", "INVALID": VOID}
    no_benefit = result.verdict == "HOLD" and any(reason.code == "no_benefit" for reason in result.reasons)
    text = names.VERDICTS[result.verdict].meaning
    if no_benefit:
        metric = names.metric(result.config.success_metric)
        text = f"A benefit of {wording.percent(result.config.improve_by)} in {metric} is ruled out."
    if result.verdict == "CAPPED" and result.slices:
        text = "It wins for the slices named here; for the others it is not shown to be safe and useful."
    elif result.verdict == "CAPPED":
        text += " The cap is a proposal until a run has tested that very configuration."
    return "No: no benefit" if no_benefit else short[result.verdict], text


def _traffic(result: Result) -> tuple[str, str]:
    if not result.cells:
        return "Nothing measured", "No request was counted, so nothing can be said of any traffic."
    if result.verdict == "INVALID":
        return VOID, "The measurement carries no judgement of any traffic."
    if result.slices:
        eligible = [found for found in result.slices if found.verdict in ("PROMOTE", "CAPPED")]
        named = ", ".join(f"{found.bin} ({range_words(parts.ranges(found))})" for found in eligible) or "none"
        rest = ", ".join(f"{found.bin} ({found.verdict})" for found in result.slices if found not in eligible) or "none"
        return ", ".join(found.bin for found in eligible) or "No traffic", f"Eligible: {named}. Not: {rest}."
    bins = dict.fromkeys(found.bin for cell in result.cells for found in cell.bins)
    sampling = dict.fromkeys(found.sampling for cell in result.cells for found in cell.bins)
    mix = f"bins {', '.join(bins)}; sampling {', '.join(sampling)}" if bins else "of one kind"
    short = "The mix as tested" if result.verdict in ("PROMOTE", "CAPPED") else "No traffic"
    return short, f"One mix was tested ({mix}); its parts were not judged apart."


def _load(result: Result) -> tuple[str, str]:
    found = parts.ranges(result)
    if result.verdict == "INVALID":
        return VOID, "The measurement carries no judgement of any load."
    if not found or result.verdict not in ("PROMOTE", "CAPPED"):
        tested = ", ".join(dict.fromkeys(wording.load(cell.axes) for cell in result.cells)) or "nothing"
        return "As each slice says" if parts.enabled(result) else "No load", f"Tested: {tested}."
    return f"Up to {tops(found)}", " ".join(_range_sentence(one) for one in found)


def _range_sentence(found: EnableRange) -> str:
    words = range_words((found,))
    text = words[0].upper() + words[1:]
    if found.running_at_cap is not None:
        text += f"; at the top the server ran {wording.number(found.running_at_cap)} requests at once on average"
    beyond = {
        "harm_beyond": "Above it harm was shown.",
        "not_shown_beyond": "Above it neither safety nor harm was shown.",
        None: "Higher loads were not tested.",
    }
    return f"{text}. {beyond[found.beyond]}"


def tops(found: Sequence[EnableRange]) -> str:
    """The highest loads of ranges in words: '4 streams', or '4 streams and 2 requests/s'."""
    return " and ".join(_top(one) for one in found)


def _top(found: EnableRange) -> str:
    top = found.max_concurrency
    return wording.streams(top) if found.by == "concurrency" else f"{top:g} requests/s" if top is not None else "unknown load"


def range_words(found: Sequence[EnableRange]) -> str:
    """Ranges in words: 'from 1 to 4 streams'."""
    said = []
    for one in found:
        low = one.min_concurrency
        said.append(f"at {_top(one)}" if low is None or low == one.max_concurrency else f"from {low:g} to {_top(one)}")
    return " and ".join(said) or "no range"


def _certainty(result: Result) -> tuple[str, str]:
    cell = parts.primary(result)
    if cell is None:
        return "Not at all", "Nothing was measured."
    if result.verdict == "INVALID":
        return "Not at all", "The figures are shown as measured, but with this fault they prove nothing."
    required = [finding for finding in parts.findings(result) if finding.required]
    states = Counter(finding.state for finding in required)
    tally = ", ".join(f"{states[state]} {state}" for state in ("PASS", "FAIL", "INCONCLUSIVE", "NODATA") if states[state])
    text = f"Of {wording.one_of(len(required), 'required finding')}: {tally or 'none judged'}."
    text += f" Each claim is held to an error of {wording.percent(result.config.alpha)}."
    if result.verdict == "ROLLBACK":
        return _harm(required, text)
    success = parts.comparison(cell, result.config.success_metric)
    if success is None or success.ratio is None:
        return "Benefit not measured", text
    name = names.metric(success.metric)
    sure, span = wording.percent(success.ci_level), wording.interval(success.ci_low, success.ci_high)
    where = f"At {wording.load(cell.axes)} {name} was {wording.ratio(success.ratio)} times the baseline's"
    evidence = f"{span or 'no interval'}; {wording.one_of(success.n_blocks, 'pair')}"
    short = f"{sure} for {name} ×{span}" if span else f"{name} ×{wording.ratio(success.ratio)}, no interval"
    return short, f"{where} ({evidence}). {text}"


def _harm(required: Sequence[Finding], tally: str) -> tuple[str, str]:
    """How sure the harm is: by the clearest of the findings that failed."""
    failed = [finding for finding in required if finding.state == "FAIL"]
    chances = [finding.p_harm_adjusted if finding.p_harm_adjusted is not None else finding.p_harm for finding in failed]
    clearest = min((chance for chance in chances if chance is not None), default=None)
    said = ""
    if clearest is not None:
        rarely = "less than 0.1 %" if clearest < RARELY else f"about {wording.percent(clearest)}"
        said = f"Chance alone would show the clearest of them in {rarely} of such runs. "
    return f"{wording.one_of(len(failed), 'check')} failed", said + tally


def _surer(result: Result) -> tuple[str, str]:
    if result.verdict == "INVALID":
        broken = [check.message for check in parts.integrity(result) if check.ok is False]
        return "Mend the measurement", " ".join(dict.fromkeys(broken)) or "Mend what the reasons name, then run again."
    if result.verdict == "ROLLBACK":
        return (
            "Nothing: mend, then run",
            "The harm is shown, and more of the same data would not undo it. Mend what the reasons name.",
        )
    required = [finding for finding in parts.findings(result) if finding.required]
    unsettled = [finding for finding in required if finding.state in ("INCONCLUSIVE", "NODATA")]
    pairs = max((finding.pairs_needed for finding in unsettled if finding.pairs_needed is not None), default=None)
    if pairs is not None:
        subject = wording.one_of(len(unsettled), "required finding is", "required findings are")
        return f"About {pairs} pairs", f"{subject} not settled; the hardest needs about {pairs} pairs."
    if unsettled:
        return "Other data", " ".join(dict.fromkeys(finding.reason for finding in unsettled))
    seen = max((finding.detectable for finding in required if finding.detectable is not None), default=None)
    limit = f" This run could tell a change of {wording.percent(seen)} or more." if seen is not None else ""
    if result.config.pairs < DECISION_PAIRS:
        had = wording.one_of(result.config.pairs, "pair")
        return "More pairs", f"It had {had} a cell; a decision wants {DECISION_PAIRS} (profile standard).{limit}"
    if result.verdict == "CAPPED":
        return "Test the cap itself", f"A run with the cap in place, on your own traffic.{limit}"
    return "Your own traffic", f"A run on prompts from your own logs, and a canary behind the same guardrails.{limit}"
