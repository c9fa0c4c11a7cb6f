"""What a load that rises showed, over the rate at which requests came: for drawing alone, and apart from all that is judged.

Nothing in a rise is steady, so that no pair of it says what a load of its own would: it enters neither verdict nor check.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from specbench.model.records import Block, RequestRecord, RunData
from specbench.model.scenario import ARMS, RAMP, ArmName, LoadRamp
from specbench.model.shown import RampCourse
from specbench.units import ms, seconds

SLOTS = 20


def without_ramp(evidence: RunData) -> RunData:
    """The evidence that is judged; of the rise only stays that a run ended early, where an engine died in it."""
    rising = [block for block in evidence.blocks if block.cell == RAMP]
    if not rising:
        return evidence
    names = {block.id for block in rising}
    return replace(
        evidence,
        blocks=tuple(block for block in evidence.blocks if block.cell != RAMP),
        records=tuple(record for record in evidence.records if record.block not in names),
        finished=None if any(block.engine_exit is not None for block in rising) else evidence.finished,
    )


def ramp_courses(evidence: RunData) -> tuple[RampCourse, ...]:
    """The course of each arm that has a block of the rise; empty where the scenario has none."""
    ramp = evidence.manifest.scenario.matrix.ramp
    if ramp is None:
        return ()
    courses = []
    for arm in ARMS:
        blocks = {b.id: b for b in evidence.blocks if b.cell == RAMP and b.arm == arm and b.window_open_ns is not None}
        if blocks:
            courses.append(_course(arm, ramp, blocks, [record for record in evidence.records if record.block in blocks]))
    return tuple(courses)


def _course(arm: ArmName, ramp: LoadRamp, blocks: dict[str, Block], records: Sequence[RequestRecord]) -> RampCourse:
    slot_s = ramp.lasts_s / SLOTS
    first: list[list[float]] = [[] for _ in range(SLOTS)]
    token: list[list[float]] = [[] for _ in range(SLOTS)]
    busy_s = np.zeros(SLOTS)
    edges = np.arange(SLOTS + 1) * slot_s
    for record in records:
        due_ns = record.sent_ns if record.scheduled_ns is None else record.scheduled_ns
        opened_ns = blocks[record.block].window_open_ns or 0
        sent_s, end_s = (seconds(at - opened_ns) for at in (record.sent_ns, record.sent_ns + record.end_ns))
        busy_s += np.clip(np.minimum(end_s, edges[1:]) - np.maximum(sent_s, edges[:-1]), 0, None)
        slot = int(seconds(due_ns - opened_ns) / slot_s)
        if record.outcome == "ok" and record.event_ns and 0 <= slot < SLOTS:
            first[slot].append(ms(record.sent_ns + record.event_ns[0] - due_ns))
            if (later := sum(record.event_tokens[1:])) > 0:
                token[slot].append(ms(record.event_ns[-1] - record.event_ns[0]) / later)
    middles = edges[:-1] + slot_s / 2
    return RampCourse(
        arm=arm,
        blocks=len(blocks),
        offered_rps=tuple((ramp.to * np.minimum(middles / ramp.over_s, 1.0)).tolist()),
        in_flight=tuple((busy_s / slot_s / len(blocks)).tolist()),
        ttft_ms=tuple(map(_median, first)),
        tpot_ms=tuple(map(_median, token)),
        backlog=tuple(_backlog(blocks, float(middle)) for middle in middles),
    )


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


def _backlog(blocks: dict[str, Block], at_s: float) -> float:
    """The mean backlog of the blocks at this moment, as of the second before."""
    known = [block.backlog[min(int(at_s), len(block.backlog) - 1)] for block in blocks.values() if block.backlog]
    return float(np.mean(known)) if known else 0.0
