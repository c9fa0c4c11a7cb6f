"""Which notes a run has: demonstration text, prompts that were refused, acceptance that fell.

Notes decide nothing; what decides is a finding or a check. Their sentences are in `explain/notes.py`.
"""

import math
from collections.abc import Sequence

from specbench.analysis.attempts import by_attempt
from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.hosts.equivalence import start_effect
from specbench.analysis.integrity.engine_checks import drafting_of, off_by_schedule
from specbench.analysis.stats.alpha_spending import holm
from specbench.analysis.stats.paired import Estimate
from specbench.analysis.theory import gain_ends
from specbench.explain import notes
from specbench.explain.tuning.tune_sentences import confirms
from specbench.model.records import RequestRecord, RunData
from specbench.model.scenario import ARMS, ArmName

ALPHA_FALL = 0.1


def run_notes(evidence: RunData, cells: Sequence[CellMetrics]) -> tuple[str, ...]:
    """The notes of a run, in a fixed order: those made before load, then those that the records ask for."""
    found = [*evidence.manifest.notes]
    scenario = evidence.manifest.scenario
    if scenario.confirms is not None:
        found.append(confirms(scenario.confirms, scenario.alpha))
    if evidence.manifest.scenario.workload.corpus is not None:
        found.append(notes.CORPUS)
    if evidence.partial:
        found.append(notes.ended_early(evidence.finished is not None))
    start = start_effect(evidence.manifest.scenario)
    if evidence.blocks and start is not None:
        found.append(notes.one_start(start))
    if evidence.blocks:
        found.extend(map(notes.unreadable, evidence.problems))
    found.extend(_too_long(evidence))
    found.extend(_unread(evidence))
    found.extend(_hidden(evidence))
    found.extend(_waited(evidence))
    found.extend(_without_drafts(evidence, cells))
    found.extend(_frozen(cells))
    found.extend(_fallen_alpha(cells, evidence.manifest.scenario.alpha))
    found.extend(_weighted(evidence, cells))
    found.extend(_gain_ends(cells))
    return tuple(dict.fromkeys(found))


def resumed(evidence: RunData) -> list[str]:
    """That the run was interrupted and taken up again, with how many pairs were measured anew for it."""
    anew = sum(len(attempts) > 1 for attempts in by_attempt(evidence.blocks).values())
    return [notes.resumed(evidence.resumed, anew)] if evidence.resumed else []


def _too_long(evidence: RunData) -> list[str]:
    count = sum(1 for record in evidence.records if record.outcome == "prompt_too_long")
    return [notes.too_long(count)] if count else []


def _unread(evidence: RunData) -> list[str]:
    """Arms whose answers have text that is not known to be generated: a first token may have been missed."""
    found = []
    for arm in ARMS:
        records = _answers(evidence, arm)
        unread = [record for record in records if "unread_text" in record.flags]
        first = sum("first_token_doubtful" in record.flags for record in unread)
        if unread:
            found.append(notes.unread(arm, len(unread), len(records), first))
    return found


def _hidden(evidence: RunData) -> list[str]:
    """Arms whose servers counted tokens that were never streamed."""
    hidden = {arm: sum(record.hidden_tokens or 0 for record in _answers(evidence, arm)) for arm in ARMS}
    return [notes.hidden(arm, tokens) for arm, tokens in hidden.items() if tokens]


def _answers(evidence: RunData, arm: ArmName) -> list[RequestRecord]:
    blocks = {block.id for block in evidence.blocks if block.arm == arm}
    return [record for record in evidence.records if record.block in blocks and record.outcome == "ok"]


def _waited(evidence: RunData) -> list[str]:
    """The open-loop cells in which requests waited for another to end, as the generator has only so many at once."""
    cells = {cell.id: cell for cell in evidence.manifest.cells}
    waited = dict.fromkeys(block.cell for block in evidence.blocks if block.in_flight_limit_reached)
    return [notes.waited(cells[name]) for name in waited]


def _without_drafts(evidence: RunData, cells: Sequence[CellMetrics]) -> list[str]:
    """The cells in which the speculative arm drafted nothing: by the schedule that the scenario declares, or said by nobody.

    An arm that drafts in no cell is no matter of a schedule, unless its endpoint says that it speculates.
    """
    scenario = evidence.manifest.scenario
    declared = scenario.speculative.speculative
    drafted = {cell.evidence.cell.id: drafting_of(cell.evidence, "speculative") for cell in cells}
    facts = next((one.facts for one in evidence.manifest.endpoints if one.arm == "speculative"), {})
    speculates = facts.get("speculation", "off") != "off" or any(any(blocks) for blocks in drafted.values())
    found = []
    for cell in cells:
        where = cell.evidence.cell
        blocks = drafted[where.id]
        if declared is not None and blocks and off_by_schedule(cell.evidence, "speculative", declared):
            found.append(notes.off_by_schedule(where, blocks))
        elif declared is None and scenario.baseline.speculative is None and blocks and not any(blocks) and speculates:
            found.append(notes.not_drafted(where, blocks))
    return found


def _frozen(cells: Sequence[CellMetrics]) -> list[str]:
    """Engines that stood still, the longest time of each arm and cell."""
    found = []
    for cell in cells:
        for arm in ARMS:
            freezes = [freeze for freeze in cell.freezes if freeze.block.arm == arm]
            if freezes:
                worst = max(freezes, key=lambda freeze: (not freeze.went_on, freeze.length_s))
                where = cell.evidence.cell
                found.append(notes.frozen(where, arm, len(freezes), worst.block.pair, worst.length_s, worst.went_on))
    return found


def _weighted(evidence: RunData, cells: Sequence[CellMetrics]) -> list[str]:
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
    return [notes.weighted(metric, len(weighed), ratio)]


def _fallen_alpha(cells: Sequence[CellMetrics], alpha: float) -> list[str]:
    """Cells in which acceptance fell in the course of the run, by more than a tenth and by more than chance explains (Holm)."""
    tested = [(cell, cell.alpha_trend.mean, p) for cell in cells if cell.alpha_trend and (p := _p_of_fall(cell)) is not None]
    adjusted = holm([p for _, _, p in tested])
    return [
        notes.fallen_alpha(cell.evidence.cell, 1 - math.exp(change))
        for (cell, change, _), p in zip(tested, adjusted, strict=True)
        if p < alpha and 1 - math.exp(change) > ALPHA_FALL
    ]


def _p_of_fall(cell: CellMetrics) -> float | None:
    trend = cell.alpha_trend
    return None if trend is None else Estimate(-trend.mean, trend.se, trend.df).p_above(0.0)


def _gain_ends(cells: Sequence[CellMetrics]) -> list[str]:
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
            found.append(notes.gain_ends(end, *name))
    return found
