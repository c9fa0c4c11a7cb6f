"""Whether an arm shows that it speculates: without a sign of it, several tokens in an event are no accepted drafts.

Signs, any of which is enough: the scenario or the endpoint says so; the engine counted drafts, by request or in its counters;
or the streams look as only accepted drafts make them (`grouping` of their records, stream/grouping.py).
"""

from dataclasses import dataclass

from specbench.analysis.arrays.cell_arrays import NOT_REPORTED, CellArrays
from specbench.explain import absences
from specbench.model.records import SpeculationCounts

DRAFTS_SHARE = 0.5
"""Of the good answers, those that look like drafts; a single one may do so by chance."""


@dataclass(frozen=True, slots=True)
class StreamSigns:
    """What the streams of one arm in one cell show by themselves.

    `one_token_steps`: whether every step brought one token, None where none was seen or nobody told what it held. `like_drafts`:
    whether they look as only accepted drafts make them.
    """

    one_token_steps: bool | None
    like_drafts: bool


def stream_signs(columns: CellArrays) -> StreamSigns:
    """The signs of the streams alone, whatever engine and scenario say."""
    steps, tokens = (int(column[columns.counted].sum()) for column in (columns.step_count, columns.step_tokens))
    return StreamSigns(one_token_steps=tokens <= steps if steps else None, like_drafts=_like_drafts(columns))


def no_sign(columns: CellArrays) -> str | None:
    """Why nothing says that this arm speculates; None where something does."""
    told = [block.telemetry.acceptance for block in columns.blocks if block.telemetry and block.telemetry.acceptance]
    of_requests = (columns.rounds > 0) | (columns.drafted > 0) | (columns.accepted > 0)
    if columns.speculates or any(map(_drafted, told)) or of_requests.any():
        return None
    if columns.speculates is False:
        return absences.SAYS_OFF
    if any(one.rounds == 0 or one.drafted == 0 for one in told) or (columns.drafted != NOT_REPORTED).any():
        return absences.NO_DRAFT
    return None if _like_drafts(columns) else unread_page(columns) or absences.NO_SIGN


def _like_drafts(columns: CellArrays) -> bool:
    good = columns.is_outcome({"ok"}) & columns.started_inside()
    return bool(good.any() and columns.drafts[good].mean() >= DRAFTS_SHARE)


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
