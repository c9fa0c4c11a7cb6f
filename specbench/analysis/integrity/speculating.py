"""Did the speculative arm speculate at all? Judged over the whole run; one load without drafts is `engine_checks.py`'s."""

from collections.abc import Iterable, Sequence

from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.integrity.engine_checks import off_by_schedule
from specbench.explain import absences, integrity
from specbench.model.records import RunData, SpeculationCounts
from specbench.model.result import Comparison, IntegrityCheck
from specbench.model.scenario import ArmName, Scenario, Success

NOT_SPECULATING = "not_speculating"
SPECULATIVE: ArmName = "speculative"


def speculating(evidence: RunData, cells: Sequence[CellMetrics]) -> tuple[IntegrityCheck, ...]:
    """A failed check where nothing was drafted in the whole run, so that what it compares is not speculation; else none.

    So say the counts of the engine, or the endpoint itself; or nothing tells, every step brought one token, and no load shows
    the gain asked for. Streams that look as only accepted drafts make them are believed. Loads at which the declared schedule
    switches speculation off say nothing.
    """
    scenario = evidence.manifest.scenario
    asked = [cell for cell in cells if cell.evidence.blocks.speculative and not _off(cell, scenario)]
    if not asked or speculates_in_neither(scenario):
        return ()
    counts = [one for cell in asked for one in _counts(cell)]
    if any(one.rounds or one.drafted or one.accepted for one in counts) or any(cell.signs.like_drafts for cell in asked):
        return ()
    why = _why(evidence, asked, counts)
    if why is None:
        return ()
    arm = scenario.speculative
    told = next((endpoint for endpoint in evidence.manifest.endpoints if endpoint.arm == SPECULATIVE), None)
    engine = arm.engine if told is None else told.engine
    message = integrity.not_speculating(
        why, engine, arm.url and (told.url if told is not None else arm.url), arm.launch is not None
    )
    return (IntegrityCheck(id=NOT_SPECULATING, cell=None, ok=False, value=0.0, limit=None, message=message),)


def speculates_in_neither(scenario: Scenario) -> bool:
    """Whether the run is an A/A, or says of both arms that they do not speculate: then what differs is something else."""
    arms = (scenario.baseline, scenario.speculative)
    return scenario.design == "aa" or arms[0] == arms[1] or all(arm.declare.get("speculation") == "off" for arm in arms)


def _why(evidence: RunData, asked: Sequence[CellMetrics], counts: Sequence[SpeculationCounts]) -> str | None:
    """Why it is sure that nothing was drafted, given that nothing was counted; None where it is not."""
    if any(one.rounds == 0 or one.drafted == 0 for one in counts):
        return absences.NO_DRAFT
    told = next((endpoint for endpoint in evidence.manifest.endpoints if endpoint.arm == SPECULATIVE), None)
    says = None if told is None else told.facts.get("speculation")
    if says == "off":
        return absences.SAYS_OFF
    if says == "on" and told is not None and told.sources.get("speculation") == "read":
        return None
    steps = [cell.signs.one_token_steps for cell in asked if cell.signs.one_token_steps is not None]
    if not steps or not all(steps) or _gains(asked, evidence.manifest.scenario.success):
        return None
    return absences.NOTHING_DRAFTED


def _gains(cells: Sequence[CellMetrics], asked: Success) -> bool:
    """Whether any load shows the gain that is asked for, in its own metric or in time per token."""
    compared = (cell.comparisons.get(metric) for cell in cells for metric in dict.fromkeys((asked.metric, "tpot_p50")))
    return any(_is_gain(one, asked.improve_by) for one in compared if one is not None)


def _is_gain(compared: Comparison, improve_by: float) -> bool:
    """Whether the change is no chance, and reaches what is asked for."""
    ratio, low, high = compared.ratio, compared.ci_low, compared.ci_high
    if ratio is None or low is None or high is None:
        return False
    if compared.direction == "higher":
        return low > 1 and ratio >= 1 + improve_by
    return compared.direction == "lower" and high < 1 and ratio <= 1 - improve_by


def _counts(cell: CellMetrics) -> Iterable[SpeculationCounts]:
    """What the speculative arm's engine counted in this cell, by block and by request."""
    blocks = (block.telemetry for block in cell.evidence.blocks.speculative if block.telemetry is not None)
    yield from (telemetry.acceptance for telemetry in blocks if telemetry.acceptance is not None and not telemetry.reset)
    yield from (record.acceptance for record in cell.evidence.records.speculative if record.acceptance is not None)


def _off(cell: CellMetrics, scenario: Scenario) -> bool:
    return off_by_schedule(cell.evidence, SPECULATIVE, scenario.speculative.speculative)
