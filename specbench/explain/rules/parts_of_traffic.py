"""The sentences about a part of mixed traffic, a bin and its sampling, that fares worse than the whole.

Values in, text out; whether a part is harmed may not be decided here.
"""

from specbench.explain.findings import FindingContext
from specbench.explain.numbers import apart, figure, outward, percentage
from specbench.explain.phrases import metric_words, sure
from specbench.model.metrics import METRICS
from specbench.model.result import Finding

SEPARATE = "--set matrix.traffic=separate"
_PAIRED = "the TTFT (time to the first token, prompt by prompt)"


def part_reason(found: Finding, part: str, share: float, least: float | None, setting: FindingContext) -> str:
    """How this part of the traffic fares, and how to judge it apart where it is harmed; `least` is the harm that is sure."""
    words = metric_words(found.metric) if found.metric in METRICS else _PAIRED
    ratio, bound = apart(found.ratio, found.bound)
    seen = f"{setting.place}, in {part} ({percentage(share)} of the requests), {words} is {ratio} times the baseline's"
    allowed = f"(allowed in a part of the traffic: up to {bound} times)"
    confidence = sure(setting.alpha)
    if found.state == "FAIL":
        sure_of = f"surely more than {outward(least, up=False)} times ({confidence})"
        return f"{seen} {allowed}, and {sure_of}, which figures of the whole cell hide. Judge the parts one by one: {SEPARATE}."
    if found.state == "PASS":
        return f"{seen} {allowed}; the true figure lies below {figure(found.upper)} with {confidence}."
    return f"{seen} {allowed}; harm is not proven, and no pass is asked of a part."


def harmed_elsewhere(found: Finding, part: str, share: float, setting: FindingContext) -> str:
    """That this part, whose harm is proven at another load, is not shown to be free of it at this one."""
    words = metric_words(found.metric) if found.metric in METRICS else _PAIRED
    where = f"{setting.place}, in {part} ({percentage(share)} of the requests)"
    if found.ratio is None or found.bound is None:
        return f"{where}, nothing tells of {words}. Harm is proven there at another load, so this load does not pass without it."
    ratio, bound = apart(found.ratio, found.bound)
    return (
        f"{where}, {words} is {ratio} times the baseline's (allowed in a part of the traffic: up to {bound} times). Harm is"
        " proven there at another load, and this load does not exclude it. More pairs would tell."
    )
