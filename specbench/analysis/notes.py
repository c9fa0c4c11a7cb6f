"""What a reader of the verdict must know beside it: demonstration text, prompts that were refused, acceptance that fell.

Notes decide nothing; what decides is a finding or a check.
"""

import math
from collections.abc import Sequence

from specbench.analysis.measured import Measured
from specbench.analysis.reasons import metric_words
from specbench.model.seen import Evidence

DEMONSTRATION = (
    "The prompts are cut from a demonstration corpus, which models know by heart: acceptance on it is higher than on other text,"
    " so decide on your own prompts (workload.source.dataset)."
)


def run_notes(evidence: Evidence, cells: Sequence[Measured]) -> tuple[str, ...]:
    """The notes of a run, in a fixed order: those made before load, then those that the records ask for."""
    found = [*evidence.manifest.notes]
    if evidence.manifest.scenario.workload.corpus is not None:
        found.append(DEMONSTRATION)
    if evidence.finished is None:
        found.append("The run ended early: every number is of the part that was measured.")
    if evidence.blocks:
        found.extend(f"Found while reading the run: {problem}" for problem in evidence.problems)
    found.extend(_too_long(evidence))
    found.extend(_weighted(evidence, cells))
    return tuple(dict.fromkeys(found))


def _too_long(evidence: Evidence) -> list[str]:
    count = sum(1 for record in evidence.records if record.outcome == "prompt_too_long")
    if not count:
        return []
    return [f"{count} requests were refused as longer than the model's context; they count neither as answers nor as failures."]


def _weighted(evidence: Evidence, cells: Sequence[Measured]) -> list[str]:
    """The benefit over the traffic as it is: the mean log ratio of the success metric, weighted by the cells' shares of it."""
    metric = evidence.manifest.scenario.success.metric
    weighed = [
        (share, math.log(ratio))
        for cell in cells
        if (share := cell.evidence.cell.traffic_share)
        and metric in cell.comparisons
        and (ratio := cell.comparisons[metric].ratio)
    ]
    total = sum(share for share, _ in weighed)
    if not total:
        return []
    ratio = math.exp(sum(share * value for share, value in weighed) / total)
    shares = f"Weighted by the shares of traffic given for {len(weighed)} cells"
    return [f"{shares}, {metric_words(metric)} is {ratio:.2f} times the baseline's."]
