"""Engines that died or started anew during a run: whose doing it was, and what of the run is left without it.

One kill from outside (an eviction, an operator, a neighbour's) says nothing about speculation, whichever arm it hit. Memory that
ran out, a crash, and a second death of the same arm do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.explain import verdict
from specbench.model.records import Block, RequestRecord, RunData
from specbench.model.scenario import ARMS, ArmName

# How a process ends that was told to; one that crashes is ended by SIGSEGV, SIGABRT and their like, or exits with another code.
_TOLD_TO_END = re.compile(r"was ended by SIG(KILL|TERM|INT|HUP|QUIT)|exited with code 0")
RESTARTED = "started anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """An engine that went down in a block, or was replaced there: `how`, and whether that came from outside, as far as known."""

    arm: ArmName
    block: Block
    how: str
    from_outside: bool


def outside_kills(evidence: RunData) -> tuple[Death, ...]:
    """The deaths of the run where each arm has at most one and all came from outside; else none, as engines die of themselves."""
    deaths = [death for arm in ARMS for death in _deaths(evidence, arm)]
    single = len({death.arm for death in deaths}) == len(deaths)
    return tuple(deaths) if single and all(death.from_outside for death in deaths) else ()


def without(evidence: RunData, deaths: Sequence[Death]) -> RunData:
    """The evidence without the pairs of blocks in which an engine died: a part of the run, whose missing pairs are no fault."""
    gone = {(death.block.cell, death.block.pair) for death in deaths}
    kept = tuple(block for block in evidence.blocks if (block.cell, block.pair) not in gone)
    return replace(evidence, blocks=kept, finished=None)


def sentence_of(death: Death, evidence: RunData) -> str:
    """What happened, where, and what that means for the figures."""
    cell = next(cell for cell in evidence.manifest.cells if cell.id == death.block.cell)
    return verdict.engine_ended(cell, death.arm, death.how, death.block.pair)


def _deaths(evidence: RunData, arm: ArmName) -> list[Death]:
    blocks = sorted((block for block in evidence.blocks if block.arm == arm), key=lambda block: block.order)
    records: dict[str, list[RequestRecord]] = {block.id: [] for block in blocks}
    for record in evidence.records:
        if record.block in records and record.outcome != "cut":
            records[record.block].append(record)
    found: list[Death] = []
    down = False  # whether the arm's last answer so far was a refused connection
    for place, block in enumerate(blocks):
        ended = sorted(records[block.id], key=lambda record: record.sent_ns + record.end_ns)
        refused = any(record.outcome == "connect_failed" for record in ended)
        later = refused and any(
            record.outcome == "ok" for other in blocks[place:] for record in _after_refusal(ended, block, other, records)
        )
        told = block.telemetry.restarts or 0 if block.telemetry is not None else 0
        times = max(1 if block.engine_exit is not None else 0, told, 1 if later and not down else 0)
        found += [_death(block, arm, ended)] * times
        down = refused and not any(record.outcome == "ok" for record in _after_refusal(ended, block, block, records))
    return found


def _after_refusal(
    ended: Sequence[RequestRecord], block: Block, other: Block, records: dict[str, list[RequestRecord]]
) -> Sequence[RequestRecord]:
    """What was answered in `other` once `block` had refused a connection for the last time."""
    if other is not block:
        return records[other.id]
    last = max((place for place, record in enumerate(ended) if record.outcome == "connect_failed"), default=len(ended))
    return ended[last + 1 :]


def _death(block: Block, arm: ArmName, ended: Sequence[RequestRecord]) -> Death:
    """The death in this block; an engine whose answers said that it is broken, or that its memory ran out, was not ended."""
    ran_out = block.telemetry is not None and bool(block.telemetry.oom_events)
    broken = any(record.outcome == "in_band_error" or record.status == 500 for record in ended)
    how = block.engine_exit or RESTARTED
    told_to_end = how == RESTARTED or _TOLD_TO_END.fullmatch(how) is not None
    return Death(arm=arm, block=block, how=how, from_outside=told_to_end and not ran_out and not broken)
