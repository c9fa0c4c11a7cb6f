"""The sentences about a part of mixed traffic, a bin and its sampling, that fares worse than the whole.

Values in, text out; whether a part is harmed may not be decided here.
"""

from specbench.explain.brief import changes
from specbench.explain.findings import FindingContext
from specbench.explain.numbers import percentage
from specbench.explain.phrases import metric_words, sure
from specbench.model.metrics import METRICS
from specbench.model.result import Finding

SEPARATE = "--set matrix.traffic=separate"
_PAIRED = "TTFT by prompt"


def part_reason(found: Finding, part: str, share: float, least: float | None, setting: FindingContext) -> str:
    """How this part of the traffic fares, and how to judge it apart where it is harmed; `least` is the harm that is sure."""
    words = metric_words(found.metric) if found.metric in METRICS else _PAIRED
    change, bound = changes.beside_limit(found.ratio, found.bound)
    of = f"{setting.place}, in {part} ({percentage(share)} of the requests)"
    seen = f"{of}, {words} is {change} (limit of a part {bound})."
    confidence = sure(setting.alpha)
    if found.state == "FAIL":
        true = f"With {confidence} it is {changes.end(least, below=False)}"
        return f"{seen} {true}. The whole load hides this. Judge the parts one by one: {SEPARATE}."
    if found.state == "PASS":
        return f"{seen} With {confidence} it is {changes.end(found.upper, below=True)}."
    return f"{seen} Harm is not proven, and a part need not pass."


def harmed_elsewhere(found: Finding, part: str, share: float, setting: FindingContext) -> str:
    """That this part, whose harm is proven at another load, is not shown to be free of it at this one."""
    words = metric_words(found.metric) if found.metric in METRICS else _PAIRED
    where = f"{setting.place}, in {part} ({percentage(share)} of the requests)"
    if found.ratio is None or found.bound is None:
        return f"{where}, there is no {words}. Another load proves harm there, so this load does not pass without it."
    change, bound = changes.beside_limit(found.ratio, found.bound)
    return (
        f"{where}, {words} is {change} (limit of a part {bound}). Another load proves harm there, and this load does not exclude"
        " it. Run more pairs."
    )
