"""The sentences of findings: the difference between the arms, its limit, how sure it is, and what settles it.

Words only: every number arrives decided, and no sentence is parsed again by anything.
"""

import math
from dataclasses import dataclass

from specbench.explain.brief import changes
from specbench.explain.numbers import ABSENT, apart, figure, percent, quantity, ratio, short
from specbench.explain.phrases import metric_words, sure
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
    """The finding in a sentence or two: both arms' difference, its limit, how sure it is."""
    subject = f"{setting.place}, {metric_words(finding.metric)}"
    undecidable = _undecidable(subject, finding, comparison, withheld)
    if undecidable is not None:
        return undecidable
    if COUNTED in finding.notes:
        return _counted(subject, finding, comparison, setting)
    return (_absolute if finding.slo is not None else _relative)(subject, finding, comparison, setting)


def benefit_reason(finding: Finding, comparison: Comparison, setting: FindingContext, withheld: str | None) -> str:
    """Whether the requested gain is shown, ruled out or open, in a sentence or two."""
    subject = f"{setting.place}, {metric_words(finding.metric)}"
    undecidable = _undecidable(subject, finding, comparison, withheld)
    if undecidable is not None:
        return undecidable
    rises = finding.bound is not None and finding.bound > 1
    change, target = changes.beside_limit(finding.ratio, finding.bound)
    seen = f"{subject} is {change} (target {target})"
    below = (finding.state == "FAIL") == rises
    true = f"With {sure(setting.alpha)} it is {changes.end(finding.upper, below=below, beside=_beside(finding, comparison))}"
    if finding.state == "PASS":
        return f"{seen}. {true}."
    if finding.state == "FAIL":
        return f"{seen}. {true}: the gain is ruled out."
    if "pairs_missing" in finding.notes:
        return f"{seen}. The gain is not shown: {_few_pairs(comparison, setting)}."
    return f"{seen}. The gain is not shown: {_still(finding, comparison)}. {_pairs_to_settle(finding, setting)}."


def _undecidable(subject: str, finding: Finding, comparison: Comparison, withheld: str | None) -> str | None:
    """The sentence of a finding that no test could decide; None where one did."""
    alone = "fewer than two pairs show no spread"
    unset = "it has no limit" if finding.slo is None and finding.margin is None else "one arm or both have no values"
    sentences = {
        "withheld": f"{subject} is not judged: {withheld}.",
        "low_n": f"{subject} is not judged: {_counts(comparison)} values are too few for this percentile.",
        "one_pair": f"{subject} is not judged: {_why(comparison, alone)}.",
        "no_data": f"{subject} has no value to judge: {_why(comparison, unset)}.",
        "constant": f"{subject} is not judged: every block shows the same value, which no real timing does.",
        "unbounded_open": f"{subject} is open: {_open_failures(comparison)}.",
        "unbounded_both": f"{subject} is unbounded in both arms: too many requests failed in both.",
        "unbounded_baseline": f"{subject} is unbounded in the baseline: too many of its requests failed.",
        "unbounded": _unbounded(subject, finding),
    }
    return next((sentence for code, sentence in sentences.items() if code in finding.notes), None)


def _relative(subject: str, finding: Finding, comparison: Comparison, setting: FindingContext) -> str:
    falls = finding.bound is not None and finding.bound < 1
    change, bound = changes.beside_limit(finding.ratio, finding.bound)
    limit = changes.limit_words(finding, comparison.unit, bound)
    seen = f"{subject} is {change} (limit {limit})"
    confidence = sure(setting.alpha)
    if finding.state == "PASS":
        true = changes.end(finding.upper, below=not falls, beside=_beside(finding, comparison))
        small = " The small loss is real and within the limit." if "small_regression" in finding.notes else ""
        return f"{seen}. With {confidence} it is {true}.{small}"
    if "pairs_missing" in finding.notes:
        return f"{seen}. It is open: {_few_pairs(comparison, setting)}."
    p = finding.p_harm if finding.p_harm_adjusted is None else finding.p_harm_adjusted
    if finding.state == "FAIL" and p is not None:
        chance = changes.p_value(p, adjusted=finding.p_harm_adjusted is not None)
        true = changes.end(finding.lower, below=falls)
        return f"{subject} is {change} (limit {limit}; {chance}). With {confidence} it is {true}."
    if "worse_limit_open" in finding.notes:
        ends = changes.span(finding.lower, finding.upper) if finding.upper is not None else "any change"
        past = f"Whether it is past the limit is open ({ends}, {confidence})"
        return f"{seen}, more than chance explains. {past}. {_needs(finding, setting)}."
    return f"{seen}. It is open: {_still(finding, comparison)}. {_needs(finding, setting)}."


def _still(finding: Finding, comparison: Comparison) -> str:
    """What an open finding does not exclude."""
    up = finding.upper is not None and (finding.ratio is None or finding.upper > finding.ratio)
    return f"{changes.reach(finding.upper, up=up, beside=_beside(finding, comparison))} is possible"


def _few_pairs(comparison: Comparison, setting: FindingContext, who: str = "in both arms") -> str:
    return f"only {comparison.n_blocks} of {setting.pairs} pairs have a value {who}"


def _beside(finding: Finding, comparison: Comparison) -> float | None:
    """The end of the two-sided interval on the side of the finding's one-sided bound."""
    if finding.upper is None or finding.ratio is None:
        return None
    return comparison.ci_high if finding.upper > finding.ratio else comparison.ci_low


def _needs(finding: Finding, setting: FindingContext) -> str:
    support = ""
    if finding.supported_margin is not None and finding.bound is not None:
        support = f". These data support a limit of {_rounded_up(finding.supported_margin)}"
    return _pairs_to_settle(finding, setting) + support


def _pairs_to_settle(finding: Finding, setting: FindingContext) -> str:
    if finding.pairs_needed is None and "starts_differ" in finding.notes:
        return "More pairs do not settle it, as engine starts differ by as much as the limit. Use schedule: restart"
    if finding.pairs_needed is None:
        return f"Even {BUDGET_PAIRS} pairs do not settle it. Use longer blocks"
    return f"About {finding.pairs_needed} pairs settle it; this run had {setting.pairs}"


def _rounded_up(margin: float) -> str:
    """A margin in per cent that is supported indeed, so never rounded down."""
    return f"{math.ceil(margin * 1000) / 10:g} %"


def _absolute(subject: str, finding: Finding, comparison: Comparison, setting: FindingContext) -> str:
    unit = "" if comparison.unit == "share" else f" {comparison.unit}"
    sign = "≥" if finding.direction == "higher" else "≤"
    seen = (
        f"{subject} is {figure(comparison.value.speculative)}{unit} with speculation (limit {sign} {figure(finding.slo)}{unit})"
    )
    if finding.state == "FAIL":
        return f"{seen}. With {sure(setting.alpha)} it is past the limit."
    if "pairs_missing" in finding.notes:
        return f"{seen}. It is open: {_few_pairs(comparison, setting, 'with speculation')}."
    if finding.upper is None:
        return f"{seen}. It is open: {_counts(comparison)} values are too few."
    bound = f"{figure(finding.upper)}{unit}"
    if finding.state == "PASS":
        least = "least" if finding.direction == "higher" else "most"
        return f"{seen}. With {sure(setting.alpha)} it is at {least} {bound}."
    more = "Run longer" if finding.pairs_needed is None else _pairs_to_settle(finding, setting)
    return f"{seen}. It is open: {bound} is possible. {more}."


def _counted(subject: str, finding: Finding, comparison: Comparison, setting: FindingContext) -> str:
    before, after = comparison.value.baseline, comparison.value.speculative
    without = "" if before is None else f", {figure(before)} without"
    seen = f"{subject}: {figure(after)} with speculation{without} (limit {figure(finding.bound)})"
    if "pairs_missing" in finding.notes:
        who = "in both arms" if finding.slo is None else "with speculation"
        return f"{seen}. It is open: {_few_pairs(comparison, setting, who)}."
    return f"{seen}."


def _open_failures(comparison: Comparison) -> str:
    """Why failed requests beyond the percentile are no harm yet."""
    if comparison.p_unbounded is None:
        return "in some blocks, not in most, so many requests failed that it is unbounded"
    return "so many requests failed with speculation that it is unbounded, but not clearly more than without"


def _unbounded(subject: str, finding: Finding) -> str:
    seen = f"{subject} is unbounded with speculation: too many requests failed or timed out"
    if finding.slo is not None:
        return f"{seen} (limit {figure(finding.slo)})."
    return f"{seen}. It is bounded without. A failed request counts as never answered."


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
    return f"{'≥' if least else '≤'} {value_and_limit(found)[1]}"


def value_and_limit(found: Finding) -> tuple[str, str]:
    """The ratio and its limit, with as many decimals as it takes that different ones look different."""
    texts = ratio(found.ratio), ratio(found.bound)
    return apart(found.ratio, found.bound) if texts[0] == texts[1] and found.ratio != found.bound else texts


def unit_of(metric: str, unit: str) -> str:
    """The unit to print: alpha is a probability that everybody writes as a plain number."""
    return "" if metric == "alpha" else unit


def stated_limit(guardrail: Guardrail) -> str:
    """What a guardrail allows, in words, before anything is measured."""
    metric = METRICS[guardrail.metric]
    if guardrail.slo is not None:
        return f"at {'least' if metric.direction == 'higher' else 'most'} {guardrail.slo:g}"
    if guardrail.margin is None:
        return "no more than the baseline" if guardrail.required else "shown"
    if metric.method == "share":
        return f"at most {100 * guardrail.margin:g} points more"
    return f"{'within' if metric.direction == 'equal' else 'worse by at most'} {100 * guardrail.margin:g}%"
