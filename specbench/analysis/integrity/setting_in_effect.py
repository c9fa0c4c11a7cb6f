"""Does the engine draft as deep as its table by batch size says? An engine that dropped the table drafts its most everywhere.

vLLM drops it under data parallelism with a line in its log. A run that confirms a table must not pass without it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specbench.analysis.cells import CellEvidence
from specbench.explain.integrity import setting_in_effect as sentence
from specbench.model.off_schedule import depth_at, most_drafted
from specbench.model.records import RequestRecord
from specbench.model.result import IntegrityCheck

NAME = "setting_in_effect"
NEAR = 1.5  # batches of a closed loop are seldom smaller than its streams by more than this
HALF = 0.5


def setting_in_effect(cell: CellEvidence, speculative: Mapping[str, Any] | None) -> tuple[IntegrityCheck, ...]:
    """Whether the drafts of a round are nearer to the table's depth at this load than to the most; none where nothing can tell.

    The table's depth is the deepest of the batches that so many streams make. Where that is 0, it is the share of steps with
    drafts that is held to one half of what it would be. Answers in the steady window count, as batches are smaller outside.
    """
    most, load = most_drafted(speculative), cell.cell.concurrency
    if most is None or load is None or not cell.blocks.speculative or depth_at(speculative, load) is None:
        return ()
    depth = max(depth_at(speculative, batch) or 0 for batch in range(max(1, round(load / NEAR)), load + 1))
    if depth >= most:
        return ()
    counts = _of_answers(cell)
    least = HALF  # of the share of an engine that drafts in every step
    if counts is None:
        counts, least = _of_counters(cell), HALF / (most + 1)  # by tokens, of which a step brings up to so many
    if counts is None or (depth and not counts.rounds):
        return (cell.check(NAME, None, None, None, sentence(cell.cell, depth, None, None)),)
    value, limit = (counts.drafted / counts.rounds, (depth + most) / 2) if depth else (counts.rounds / counts.of, least)
    return (cell.check(NAME, value <= limit, value, limit, sentence(cell.cell, depth, value, value <= limit)),)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Rounds and drafted tokens, and of how many steps (or tokens) they are."""

    rounds: int
    drafted: int
    of: int


def _of_answers(cell: CellEvidence) -> _Counts | None:
    """By the answers of the speculative arm in the steady window and their steps after the first; None where they tell none."""
    windows = {block.id: (block.window_open_ns, block.window_close_ns) for block in cell.blocks.speculative}
    records = [record for record in cell.records.speculative if record.outcome == "ok" and _inside(record, windows)]
    told = [(record.acceptance, len(record.event_tokens) - 1) for record in records if record.acceptance is not None]
    return _summed([(counts.rounds or 0, counts.drafted or 0, steps) for counts, steps in told])


def _of_counters(cell: CellEvidence) -> _Counts | None:
    """By the engine's counters over whole blocks, and its tokens; None where it does not tell."""
    blocks = [block.telemetry for block in cell.blocks.speculative if block.telemetry is not None and not block.telemetry.reset]
    told = [(telemetry.acceptance, telemetry.generated_tokens) for telemetry in blocks]
    return _summed([(a.rounds or 0, a.drafted or 0, tokens) for a, tokens in told if a is not None and tokens is not None])


def _summed(counts: Sequence[tuple[int, int, int]]) -> _Counts | None:
    rounds, drafted, of = (sum(one[place] for one in counts) for place in range(3))
    return _Counts(rounds, drafted, of) if of > 0 else None


def _inside(record: RequestRecord, windows: Mapping[str, tuple[int | None, int | None]]) -> bool:
    opens, closes = windows.get(record.block, (None, None))
    return opens is not None and closes is not None and opens <= record.sent_ns and record.sent_ns + record.end_ns <= closes
