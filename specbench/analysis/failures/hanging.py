"""Requests that no answer ended: given up at a limit, or still open when their block had waited long enough. Pure."""

from collections.abc import Iterable

from specbench.analysis.cells import CellEvidence
from specbench.explain.safety import NeverAnswered
from specbench.model.records import Block, Outcome, RequestRecord
from specbench.model.scenario import ArmName

HANGING: frozenset[Outcome] = frozenset({"unanswered", "timeout_first_token", "stalled", "timeout_total"})
_NOBODYS: frozenset[Outcome] = frozenset({"cut", "client_resource", "prompt_too_long"})


def never_answered(cells: Iterable[CellEvidence], arm: ArmName) -> NeverAnswered:
    """How many of an arm's requests in these cells hung, of how many that were answered or failed.

    What a run of an older version cut although it was sent inside the steady window is `lost`: nobody knows what became of it.
    """
    hung = lost = sent = 0
    for cell in cells:
        blocks = {block.id: block for block in cell.blocks.of(arm)}
        for record in cell.records.of(arm):
            hung += record.outcome in HANGING
            forgotten = record.outcome == "cut" and sent_inside(blocks[record.block], record)
            lost += forgotten
            sent += forgotten or record.outcome not in _NOBODYS
    return NeverAnswered(hung=hung, lost=lost, sent=sent)


def sent_inside(block: Block, record: RequestRecord) -> bool:
    """Whether the request began in the steady window of its block: by its schedule in the open loop."""
    start_ns = record.sent_ns if record.scheduled_ns is None else record.scheduled_ns
    opened_ns, closed_ns = block.window_open_ns, block.window_close_ns
    return opened_ns is not None and closed_ns is not None and opened_ns <= start_ns < closed_ns
