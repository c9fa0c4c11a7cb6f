"""What a reader of the verdict must know beside it: demonstration text, prompts that were refused, acceptance that fell.

Notes decide nothing; what decides is a finding or a check.
"""

import math
from collections.abc import Sequence

from specbench.analysis.measured import MeasuredCell
from specbench.analysis.stats_holm import holm
from specbench.analysis.stats_paired import Estimate
from specbench.analysis.theory import gain_ends
from specbench.explain.phrases import metric_words, percent, place_of
from specbench.model.seen import Evidence

ALPHA_FALL = 0.1
DEMONSTRATION = (
    "The prompts are cut from a demonstration corpus, which models know by heart: acceptance on it is higher than on other text,"
    " so decide on your own prompts (workload.source.dataset)."
)


def run_notes(evidence: Evidence, cells: Sequence[MeasuredCell]) -> tuple[str, ...]:
    """The notes of a run, in a fixed order: those made before load, then those that the records ask for."""
    found = [*evidence.manifest.notes]
    if evidence.manifest.scenario.workload.corpus is not None:
        found.append(DEMONSTRATION)
    if evidence.partial:
        why = "The run ended early" if evidence.finished is None else "An engine died in the run"
        found.append(f"{why}: every number is of the part that was measured.")
    if evidence.blocks:
        found.extend(f"Found while reading the run: {problem}" for problem in evidence.problems)
    found.extend(_too_long(evidence))
    found.extend(_waited(evidence))
    found.extend(_fallen_alpha(cells, evidence.manifest.scenario.alpha))
    found.extend(_weighted(evidence, cells))
    found.extend(_gain_ends(cells))
    return tuple(dict.fromkeys(found))


def _too_long(evidence: Evidence) -> list[str]:
    count = sum(1 for record in evidence.records if record.outcome == "prompt_too_long")
    if not count:
        return []
    return [f"{count} requests were refused as longer than the model's context; they count neither as answers nor as failures."]


def _waited(evidence: Evidence) -> list[str]:
    """The open-loop cells in which requests waited for another to end, as the generator has only so many at once."""
    cells = {cell.id: cell for cell in evidence.manifest.cells}
    waited = dict.fromkeys(block.cell for block in evidence.blocks if block.limit_hit)
    return [
        f"{place_of(cells[name])} the most requests that may be under way at once were, so later ones were sent late:"
        " the endpoint does not keep up. Their times count from the moment at which they were due."
        for name in waited
    ]


def _weighted(evidence: Evidence, cells: Sequence[MeasuredCell]) -> list[str]:
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


def _fallen_alpha(cells: Sequence[MeasuredCell], alpha: float) -> list[str]:
    """Cells in which acceptance fell in the course of the run, by more than a tenth and by more than chance explains (Holm)."""
    tested = [(cell, cell.alpha_trend.mean, p) for cell in cells if cell.alpha_trend and (p := _p_of_fall(cell)) is not None]
    adjusted = holm([p for _, _, p in tested])
    return [
        f"{place_of(cell.evidence.cell)} alpha fell by {percent(1 - math.exp(change))} from the beginning of the run to its end:"
        " acceptance drifts, so later traffic may gain less."
        for (cell, change, _), p in zip(tested, adjusted, strict=True)
        if p < alpha and 1 - math.exp(change) > ALPHA_FALL
    ]


def _p_of_fall(cell: MeasuredCell) -> float | None:
    trend = cell.alpha_trend
    return None if trend is None else Estimate(-trend.mean, trend.se, trend.df).p_above(0.0)


def _gain_ends(cells: Sequence[MeasuredCell]) -> list[str]:
    """The load at which the time per token is as long with speculation as without, between two cells of the closed loop."""
    slices = dict.fromkeys((cell.evidence.cell.bin, cell.evidence.cell.sampling) for cell in cells)
    found = []
    for name in slices:
        points = [
            (float(where.concurrency), ratio)
            for cell in cells
            if ((where := cell.evidence.cell).bin, where.sampling) == name
            and where.concurrency is not None
            and "tpot_p50" in cell.comparisons
            and (ratio := cell.comparisons["tpot_p50"].ratio) is not None
        ]
        end = gain_ends(sorted(points))
        if end is not None and end > min(load for load, _ in points):
            of = "/".join(part for part in name if part is not None)
            found.append(
                "An explanation: by a line through the measured ratios, speculation stops shortening the time per token near"
                f" {_streams(round(end))}{f' of {of}' if of else ''}; this is no cap."
            )
    return found


def _streams(count: int) -> str:
    return f"{count} {'stream' if count == 1 else 'streams'}"
