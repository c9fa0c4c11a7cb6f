"""Whether an arm shows that it speculates: without a sign of it, several tokens in an event are no accepted drafts.

Signs, any of which is enough: the scenario or the endpoint says so; the engine counted drafts, by request or in its counters;
or the streams look as only accepted drafts make them (`grouping` of their records, stream/grouping.py).
"""

from specbench.analysis.arrays.cell_arrays import NOT_TOLD, CellArrays
from specbench.explain import absences
from specbench.model.records import SpeculationCounts

DRAFTS_SHARE = 0.5
"""Of the good answers, those that look like drafts; a single one may do so by chance."""


def no_sign(columns: CellArrays) -> str | None:
    """Why nothing says that this arm speculates; None where something does."""
    told = [block.telemetry.acceptance for block in columns.blocks if block.telemetry and block.telemetry.acceptance]
    of_requests = (columns.rounds > 0) | (columns.drafted > 0) | (columns.accepted > 0)
    if columns.speculates or any(map(_drafted, told)) or of_requests.any():
        return None
    if columns.speculates is False:
        return absences.SAYS_OFF
    if any(one.rounds == 0 or one.drafted == 0 for one in told) or (columns.drafted != NOT_TOLD).any():
        return absences.NO_DRAFT
    good = columns.is_outcome({"ok"}) & columns.started_inside()
    if good.any() and columns.drafts[good].mean() >= DRAFTS_SHARE:
        return None
    return unread_page(columns) or absences.NO_SIGN


def unread_page(columns: CellArrays) -> str | None:
    """Why the engine's own counts of drafts could not be had although it has some; None where it has none, or they were read."""
    reasons = [b.telemetry.absent.get("acceptance", "") for b in columns.blocks if b.telemetry and b.telemetry.acceptance is None]
    return min((reason for reason in reasons if reason.startswith(_UNREAD)), default=None)


# How reasons begin of pages of metrics that are there and could not be used.
_UNREAD = (
    *("http_", "redirect", "unreachable", "not_metrics", "not_a_number"),
    *("counter_reset", "mixed_replicas", "broken_counters", "inconsistent"),
)


def _drafted(counts: SpeculationCounts) -> bool:
    return bool(counts.rounds or counts.drafted or counts.accepted)
