"""The sentences of findings: what was seen, what was allowed, and how sure that is, for a reader without statistics.

Words only: every number arrives decided, and no sentence is parsed again by anything.
"""

import math
from dataclasses import dataclass

from specbench.analysis.power import BUDGET_PAIRS
from specbench.model.judged import Comparison, Finding
from specbench.model.seen import Cell

AT_P50 = "ttft_at_p50"
_QUANTITY = {
    "ttft": ("time to the first token", "requests are faster"),
    "tpot": ("time per output token", "requests are faster"),
    "tpot_classic": ("time per output token as other tools count it", "requests are faster"),
    "e2e": ("time to the whole answer", "requests are faster"),
    "itl": ("time between tokens", "tokens are faster"),
    "pace": ("time per token over stretches of 8 tokens", "stretches are faster"),
    "chunk_gap": ("gap between pieces of text", "gaps are shorter"),
    "stall": ("longest gap of an answer", "answers stay below it"),
}
_QUANTILE = {"p50": "half of the", "p90": "9 of 10", "p95": "19 of 20", "p99": "99 of 100"}
_WORDS = {
    "output_tps": "the output in tokens per second",
    "completed_rps": "the number of requests completed per second",
    "error_rate": "the share of requests that failed",
    "output_length": "the mean length of an answer",
    "acceptance_length": "the number of tokens per verification round",
    "acceptance_rate": "the share of drafted tokens that were kept",
    "alpha": "the chance that a drafted token is accepted (alpha)",
    "tokens_per_step": "the number of tokens per engine step",
    "step_time": "the time of an engine step",
    "kv_peak": "the highest use of the KV cache",
    "queue_time": "the mean wait in the server's queue",
    "preemptions": "the number of requests that the server had to set aside",
    "memory": "the highest use of GPU memory",
    "oom": "the number of times that memory ran out",
    "restarts": "the number of engine restarts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where and how strictly a finding was made: the cell's id and its name in words ('At 16 streams'), pairs, alpha."""

    cell: str | None
    place: str
    pairs: int
    alpha: float


def place_of(cell: Cell) -> str:
    """The cell in words, as the beginning of a sentence."""
    if cell.rate is not None:
        load = f"{number(cell.rate)} {'request' if cell.rate == 1 else 'requests'} per second"
    else:
        load = f"{cell.concurrency} {'stream' if cell.concurrency == 1 else 'streams'}"
    slice_name = "/".join(part for part in (cell.bin, cell.sampling) if part is not None)
    return f"At {load} of {slice_name}" if slice_name else f"At {load}"


def metric_words(metric: str) -> str:
    """The metric as a phrase that explains its percentile."""
    quantity, _, quantile = metric.rpartition("_")
    if quantity in _QUANTITY and quantile in _QUANTILE:
        words, below = _QUANTITY[quantity]
        return f"the {quantile} {words} ({_QUANTILE[quantile]} {below})"
    return _WORDS.get(metric, f"the metric {metric}")


def apart(ratio: float | None, limit: float | None) -> tuple[str, str]:
    """A ratio and its limit with two decimals, or as many more (up to five) as it takes that different ones look different."""
    texts = ("unknown", "unknown")
    for decimals in range(2, 6):
        texts = ("unknown" if ratio is None else f"{ratio:.{decimals}f}", "unknown" if limit is None else f"{limit:.{decimals}f}")
        if texts[0] != texts[1] or ratio == limit:
            break
    return texts


def outward(end: float | None, up: bool) -> str:
    """The end of an interval with two decimals, rounded away from the point, so that what is said of it stays true."""
    if end is None:
        return "unknown"
    hundredths = math.ceil(end * 100 - 1e-9) if up else math.floor(end * 100 + 1e-9)
    return f"{hundredths / 100:.2f}"


def number(value: float | None) -> str:
    """A figure with three significant digits, never in exponent form where a person can read it plainly."""
    if value is None:
        return "unknown"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return f"{value:.6f}".rstrip("0") if "e" in text and abs(value) >= 1e-6 else text


def percent(share: float) -> str:
    """A share in per cent, such as '0.5 %'."""
    return f"{number(round(100 * share, 4))} %"


def chance(p: float) -> str:
    """How often chance alone would show as much, in runs."""
    if p < 0.001:
        return "less than once in 1,000 such runs"
    return f"about once in {max(2, round(1 / p)):,} such runs" if p <= 0.4 else "in about every second such run"


def sure(alpha: float) -> str:
    """The confidence of a one-sided bound at this alpha."""
    return f"{number(100 * (1 - alpha))} % confidence"


def finding_reason(finding: Finding, comparison: Comparison, setting: Setting, withheld: str | None) -> str:
    """The finding in one sentence."""
    subject = f"{setting.place} {metric_words(finding.metric)}"
    if AT_P50 in finding.notes:
        subject += ", which stands in for p95 as blocks held fewer than 20 requests,"
    undecidable = _undecidable(subject, finding, comparison, withheld)
    if undecidable is not None:
        return undecidable
    if "counted" in finding.notes:
        return _counted(subject, finding, comparison)
    return (_absolute if finding.slo is not None else _relative)(subject, finding, comparison, setting)


def benefit_reason(finding: Finding, comparison: Comparison, setting: Setting, withheld: str | None) -> str:
    """What became of the benefit asked for, in one sentence."""
    subject = f"{setting.place} {metric_words(finding.metric)}"
    undecidable = _undecidable(subject, finding, comparison, withheld)
    if undecidable is not None:
        return undecidable
    rises = finding.bound is not None and finding.bound > 1
    ratio, bound = apart(finding.ratio, finding.bound)
    end = outward(finding.upper, up=(finding.state == "FAIL") == rises)
    asked = f"(asked for: {'at least' if rises else 'at most'} {bound} times)"
    seen = f"{subject} is {ratio} times the baseline's {asked}"
    confidence = sure(setting.alpha)
    if finding.state == "PASS":
        return f"{seen}; the true figure lies {'above' if rises else 'below'} {end} with {confidence}."
    if finding.state == "FAIL":
        least = "higher" if rises else "lower"
        return f"{seen}; the true figure is no {least} than {end} with {confidence}, so no such gain is there."
    needs = (
        f"even {BUDGET_PAIRS} pairs of blocks would not settle it"
        if finding.pairs_needed is None
        else f"about {finding.pairs_needed} pairs of blocks instead of {setting.pairs} would settle it"
    )
    return f"{seen}, but the true figure may still be {end} ({confidence}), so the gain is not shown; {needs}."


def _undecidable(subject: str, finding: Finding, comparison: Comparison, withheld: str | None) -> str | None:
    """The sentence of a finding that no test could decide; None where one did."""
    sentences = {
        "withheld": f"{subject} cannot be judged: {withheld}.",
        "low_n": f"{subject} cannot be judged from {_counts(comparison)} values, which are too few for this percentile.",
        "one_pair": f"{subject} cannot be judged: {_no_spread(comparison)}.",
        "no_data": f"{subject} has no figure to judge: {_lacking(finding, comparison)}.",
        "constant": f"{subject} did not vary at all between blocks, as no real timing does, so nothing is concluded from it.",
        "unbounded_both": f"{subject} has no upper end in either arm, as too many requests failed in both, so nothing compares.",
        "unbounded_baseline": f"{subject} has nothing to be compared with: too many of the baseline's requests failed.",
        "unbounded": _unbounded(subject, finding),
    }
    return next((sentence for code, sentence in sentences.items() if code in finding.notes), None)


def _relative(subject: str, finding: Finding, comparison: Comparison, setting: Setting) -> str:
    falls = finding.bound is not None and finding.bound < 1
    ratio, bound = apart(finding.ratio, finding.bound)
    end = outward(finding.upper, up=not falls)
    seen = f"{subject} is {ratio} times the baseline's (allowed: {'down' if falls else 'up'} to {bound} times)"
    if finding.state == "PASS":
        small = ", so a small loss is real but within the limit" if "small_regression" in finding.notes else ""
        return f"{seen}; the true figure lies {'above' if falls else 'below'} {end} with {sure(setting.alpha)}{small}."
    if "pairs_missing" in finding.notes:
        return f"{seen}, but only {comparison.n_blocks} of {setting.pairs} pairs of blocks have a figure in both arms."
    p = finding.p_harm if finding.p_harm_adjusted is None else finding.p_harm_adjusted
    if finding.state == "FAIL" and p is not None:
        counted = "" if finding.p_harm_adjusted is None else ", all checks of this run counted"
        return f"{seen}; a {'fall' if falls else 'rise'} this large by chance alone would be seen {chance(p)}{counted}."
    return f"{seen}, but the true figure may still be {end} ({sure(setting.alpha)}); {_needs(finding, setting)}."


def _needs(finding: Finding, setting: Setting) -> str:
    support = (
        "" if finding.supported_margin is None else f"these data support a limit of {_rounded_up(finding.supported_margin)}, and "
    )
    if finding.pairs_needed is None:
        return f"{support}even {BUDGET_PAIRS} pairs of blocks would not settle the one asked for"
    return f"{support}about {finding.pairs_needed} pairs of blocks instead of {setting.pairs} would settle the one asked for"


def _rounded_up(margin: float) -> str:
    """A margin in per cent that is supported indeed, so never rounded down."""
    return f"{math.ceil(margin * 1000) / 10:g} %"


def _absolute(subject: str, finding: Finding, comparison: Comparison, setting: Setting) -> str:
    unit = "" if comparison.unit == "share" else f" {comparison.unit}"
    higher = finding.direction == "higher"
    seen = f"{subject} is {number(comparison.value.speculative)}{unit} with speculation"
    allowed = f"(allowed: {'at least' if higher else 'at most'} {number(finding.slo)}{unit})"
    if finding.state == "FAIL":
        return f"{seen} {allowed}; that it meets the limit in truth can be ruled out with {sure(setting.alpha)}."
    if finding.upper is None:
        return f"{seen} {allowed}, but {_counts(comparison)} values are too few to be sure of it."
    bound = f"{number(finding.upper)}{unit}"
    if finding.state == "PASS":
        return f"{seen} {allowed}; the true figure lies {'above' if higher else 'below'} {bound} with {sure(setting.alpha)}."
    more = (
        "a longer run is needed"
        if finding.pairs_needed is None
        else f"about {finding.pairs_needed} pairs of blocks would settle it"
    )
    return f"{seen} {allowed}, but the true figure may still be {bound} ({sure(setting.alpha)}); {more}."


def _counted(subject: str, finding: Finding, comparison: Comparison) -> str:
    before, after = comparison.value.baseline, comparison.value.speculative
    without = "" if before is None else f" and {number(before)} without"
    return f"{subject} is {number(after)} with speculation{without} (allowed: at most {number(finding.bound)}), by count."


def _unbounded(subject: str, finding: Finding) -> str:
    if finding.slo is not None:
        return (
            f"{subject} has no upper end with speculation, as so many requests failed (allowed: at most {number(finding.slo)})."
        )
    return (
        f"{subject} has no upper end with speculation, as so many requests failed or timed out,"
        " while it has one without; failed requests count as never answered."
    )


def _counts(comparison: Comparison) -> str:
    return f"{comparison.n.baseline:,} and {comparison.n.speculative:,}"


def _no_spread(comparison: Comparison) -> str:
    if comparison.reason is not None:
        return comparison.reason.rstrip(".")
    return "fewer than two pairs of blocks say nothing of how much the figure varies"


def _lacking(finding: Finding, comparison: Comparison) -> str:
    if comparison.reason is not None:
        return comparison.reason.rstrip(".")
    if finding.slo is None and finding.margin is None:
        return "no limit was set for it"
    return "one arm or both gave no values"
