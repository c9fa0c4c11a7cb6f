"""The sentences of findings: what was seen, what was allowed, and how sure that is, for a reader without statistics.

Words only: every number arrives decided, and no sentence is parsed again by anything.
"""

import math
from dataclasses import dataclass

from specbench.explain.numbers import ABSENT, apart, figure, outward, percent, percentage, quantity, ratio, short
from specbench.explain.phrases import chance, metric_words, sure
from specbench.model.guardrails import BUDGET_PAIRS, SHARES
from specbench.model.metrics import METRICS
from specbench.model.result import Comparison, Finding
from specbench.model.scenario import Guardrail

COUNTED = "counted"  # the note of a finding that compares counts of events, which have no ratio where one is 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingContext:
    """Where and how strictly a finding was made: the cell's id and its name in words ('At 16 streams'), pairs, alpha."""

    cell: str | None
    place: str
    pairs: int
    alpha: float


def finding_reason(finding: Finding, comparison: Comparison, setting: FindingContext, withheld: str | None) -> str:
    """The finding in one sentence."""
    subject = f"{setting.place} {metric_words(finding.metric)}"
    undecidable = _undecidable(subject, finding, comparison, withheld)
    if undecidable is not None:
        return undecidable
    if COUNTED in finding.notes:
        return _counted(subject, finding, comparison, setting)
    return (_absolute if finding.slo is not None else _relative)(subject, finding, comparison, setting)


def benefit_reason(finding: Finding, comparison: Comparison, setting: FindingContext, withheld: str | None) -> str:
    """What became of the benefit asked for, in one sentence."""
    subject = f"{setting.place} {metric_words(finding.metric)}"
    undecidable = _undecidable(subject, finding, comparison, withheld)
    if undecidable is not None:
        return undecidable
    rises = finding.bound is not None and finding.bound > 1
    ratio, bound = apart(finding.ratio, finding.bound)
    end = outward(finding.upper, up=(finding.state == "FAIL") == rises, beside=_beside(finding, comparison))
    asked = f"(asked for: {'at least' if rises else 'at most'} {bound} times)"
    seen = f"{subject} is {ratio} times the baseline's {asked}"
    confidence = sure(setting.alpha)
    if finding.state == "PASS":
        return f"{seen}; the true figure lies {'above' if rises else 'below'} {end} with {confidence}."
    if finding.state == "FAIL":
        least = "higher" if rises else "lower"
        return f"{seen}; the true figure is no {least} than {end} with {confidence}, so no such gain is there."
    if "pairs_missing" in finding.notes:
        return f"{seen}, but {_few_pairs(comparison, setting)}, so the gain is not shown."
    return f"{seen}, but {_still(finding, end, setting)}, so the gain is not shown; {_pairs_to_settle(finding, setting)}."


def _undecidable(subject: str, finding: Finding, comparison: Comparison, withheld: str | None) -> str | None:
    """The sentence of a finding that no test could decide; None where one did."""
    alone = "fewer than two pairs of blocks say nothing of how much the figure varies"
    unset = "no limit was set for it" if finding.slo is None and finding.margin is None else "one arm or both gave no values"
    sentences = {
        "withheld": f"{subject} cannot be judged: {withheld}.",
        "low_n": f"{subject} cannot be judged from {_counts(comparison)} values, which are too few for this percentile.",
        "one_pair": f"{subject} cannot be judged: {_why(comparison, alone)}.",
        "no_data": f"{subject} has no figure to judge: {_why(comparison, unset)}.",
        "constant": f"{subject} did not vary at all between blocks, as no real timing does, so nothing is concluded from it.",
        "unbounded_open": f"{subject} cannot be judged: {_open_failures(comparison)}.",
        "unbounded_both": f"{subject} has no upper end in either arm, as too many requests failed in both, so nothing compares.",
        "unbounded_baseline": f"{subject} has nothing to be compared with: too many of the baseline's requests failed.",
        "unbounded": _unbounded(subject, finding),
    }
    return next((sentence for code, sentence in sentences.items() if code in finding.notes), None)


def _relative(subject: str, finding: Finding, comparison: Comparison, setting: FindingContext) -> str:
    falls = finding.bound is not None and finding.bound < 1
    ratio, bound = apart(finding.ratio, finding.bound)
    end = outward(finding.upper, up=not falls, beside=_beside(finding, comparison))
    seen = f"{subject} is {ratio} times the baseline's (allowed: {'down' if falls else 'up'} to {bound} times)"
    if finding.state == "PASS":
        small = ", so a small loss is real but within the limit" if "small_regression" in finding.notes else ""
        return f"{seen}; the true figure lies {'above' if falls else 'below'} {end} with {sure(setting.alpha)}{small}."
    if "pairs_missing" in finding.notes:
        return f"{seen}, but {_few_pairs(comparison, setting)}."
    p = finding.p_harm if finding.p_harm_adjusted is None else finding.p_harm_adjusted
    if finding.state == "FAIL" and p is not None:
        counted = "it" if finding.p_harm_adjusted is None else "any check"
        past = f"the true figure lies {'below' if falls else 'above'} {_lower(finding)} with {sure(setting.alpha)}"
        return f"{seen}; {past}, and if speculation changed nothing, {counted} would look this bad in {chance(p)}."
    if "worse_limit_open" in finding.notes:
        return f"{seen}: {_worse_limit_open(finding, end, setting)}; {_needs(finding, setting)}."
    return f"{seen}, but {_still(finding, end, setting)}; {_needs(finding, setting)}."


def _worse_limit_open(finding: Finding, end: str, setting: FindingContext) -> str:
    """That it is worse is shown; whether by more than is allowed is not."""
    far = "anything beyond" if finding.upper is None else f"{_lower(finding)} to {end}"
    by = percent(abs((finding.ratio or 1.0) - 1))
    worse = f"it is worse (by {by} as measured), which chance does not explain"
    return f"{worse}; whether by more than the limit is open ({far}, {sure(setting.alpha)})"


def _lower(finding: Finding) -> str:
    """The end of the interval on the side of less harm, rounded toward no change."""
    return outward(finding.lower, up=finding.bound is not None and finding.bound < 1, beside=None)


def _still(finding: Finding, end: str, setting: FindingContext) -> str:
    """What an open finding does not exclude."""
    may = "anything" if finding.upper is None else end
    return f"the true figure may still be {may} ({sure(setting.alpha)})"


def _few_pairs(comparison: Comparison, setting: FindingContext, who: str = "in both arms") -> str:
    return f"only {comparison.n_blocks} of {setting.pairs} pairs of blocks have a figure {who}"


def _beside(finding: Finding, comparison: Comparison) -> float | None:
    """The end of the two-sided interval on the side of the finding's one-sided bound."""
    if finding.upper is None or finding.ratio is None:
        return None
    return comparison.ci_high if finding.upper > finding.ratio else comparison.ci_low


def _needs(finding: Finding, setting: FindingContext) -> str:
    support = ""
    if finding.supported_margin is not None and finding.bound is not None:
        asked = percentage(round(max(finding.bound - 1, finding.margin or 0.0), 3))  # a floor widens the limit
        support = f"the data support a limit of {_rounded_up(finding.supported_margin)}, the limit is {asked}; "
    return support + _pairs_to_settle(finding, setting)


def _pairs_to_settle(finding: Finding, setting: FindingContext) -> str:
    if finding.pairs_needed is None and "starts_differ" in finding.notes:
        return "no number of pairs would settle it, as one start of an engine may differ from the next by as much as is allowed"
    if finding.pairs_needed is None:
        return f"even {BUDGET_PAIRS} pairs of blocks would not settle it"
    return f"about {finding.pairs_needed} pairs of blocks in all instead of {setting.pairs} would settle it"


def _rounded_up(margin: float) -> str:
    """A margin in per cent that is supported indeed, so never rounded down."""
    return f"{math.ceil(margin * 1000) / 10:g} %"


def _absolute(subject: str, finding: Finding, comparison: Comparison, setting: FindingContext) -> str:
    unit = "" if comparison.unit == "share" else f" {comparison.unit}"
    higher = finding.direction == "higher"
    seen = f"{subject} is {figure(comparison.value.speculative)}{unit} with speculation"
    allowed = f"(allowed: {'at least' if higher else 'at most'} {figure(finding.slo)}{unit})"
    if finding.state == "FAIL":
        return f"{seen} {allowed}; that it meets the limit in truth can be ruled out with {sure(setting.alpha)}."
    if "pairs_missing" in finding.notes:
        return f"{seen} {allowed}, but {_few_pairs(comparison, setting, 'with speculation')}."
    if finding.upper is None:
        return f"{seen} {allowed}, but {_counts(comparison)} values are too few to be sure of it."
    bound = f"{figure(finding.upper)}{unit}"
    if finding.state == "PASS":
        return f"{seen} {allowed}; the true figure lies {'above' if higher else 'below'} {bound} with {sure(setting.alpha)}."
    more = "a longer run is needed" if finding.pairs_needed is None else _pairs_to_settle(finding, setting)
    return f"{seen} {allowed}, but the true figure may still be {bound} ({sure(setting.alpha)}); {more}."


def _counted(subject: str, finding: Finding, comparison: Comparison, setting: FindingContext) -> str:
    before, after = comparison.value.baseline, comparison.value.speculative
    without = "" if before is None else f" and {figure(before)} without"
    but = "by count"
    if "pairs_missing" in finding.notes:
        but = f"but {_few_pairs(comparison, setting, 'in both arms' if finding.slo is None else 'with speculation')}"
    return f"{subject} is {figure(after)} with speculation{without} (allowed: at most {figure(finding.bound)}), {but}."


def _open_failures(comparison: Comparison) -> str:
    """Why failed requests beyond the percentile are no harm yet."""
    if comparison.p_unbounded is None:
        return "in single blocks so many requests failed that it has no upper end, as most blocks do not show"
    return "with speculation so many requests failed that it has no upper end, but not clearly more than without"


def _unbounded(subject: str, finding: Finding) -> str:
    if finding.slo is not None:
        return (
            f"{subject} has no upper end with speculation, as so many requests failed (allowed: at most {figure(finding.slo)})."
        )
    return (
        f"{subject} has no upper end with speculation, as so many requests failed or timed out,"
        " while it has one without; failed requests count as never answered."
    )


def _counts(comparison: Comparison) -> str:
    return f"{comparison.n.baseline:,} and {comparison.n.speculative:,}"


def _why(comparison: Comparison, otherwise: str) -> str:
    return otherwise if comparison.reason is None else comparison.reason.rstrip(".")


def limit(found: Finding, unit: str = "") -> str:
    """What was allowed, in words: as a ratio for relative limits, in the metric's unit for absolute ones."""
    if found.slo is not None:
        return f"{'at least' if found.direction == 'higher' else 'at most'} {quantity(found.slo, unit_of(found.metric, unit))}"
    if found.metric in SHARES and found.margin is not None:
        return f"no larger a share, or surely under {round(found.margin * 100, 4):g} points more"
    if found.direction == "equal" and found.margin is not None:
        return f"within ±{percent(found.margin)}"
    if COUNTED in found.notes and found.bound is not None:
        return f"at most {short(found.bound)}"
    if found.bound is None:
        return "no more than the baseline" if found.role == "safety" else ABSENT
    least = (found.direction == "higher") if found.role != "success" else found.bound > 1
    return f"{'≥' if least else '≤'} {seen_and_limit(found)[1]}"


def seen_and_limit(found: Finding) -> tuple[str, str]:
    """The ratio and its limit, with as many decimals as it takes that different ones look different."""
    texts = ratio(found.ratio), ratio(found.bound)
    return apart(found.ratio, found.bound) if texts[0] == texts[1] and found.ratio != found.bound else texts


def unit_of(metric: str, unit: str) -> str:
    """The unit to print: alpha is a probability that everybody writes as a plain number."""
    return "" if metric == "alpha" else unit


def asked_limit(guardrail: Guardrail) -> str:
    """What a guardrail allows, in words, before anything is measured."""
    metric = METRICS[guardrail.metric]
    if guardrail.slo is not None:
        return f"at {'least' if metric.direction == 'higher' else 'most'} {guardrail.slo:g}"
    if guardrail.margin is None:
        return "no more than the baseline" if guardrail.required else "shown"
    if metric.method == "share":
        return f"at most {100 * guardrail.margin:g} points more"
    return f"{'within' if metric.direction == 'equal' else 'worse by at most'} {100 * guardrail.margin:g}%"
