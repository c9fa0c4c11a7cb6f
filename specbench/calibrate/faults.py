"""Campaigns of faults: a good simulated run of a true win, one thing put wrong, and the state that must follow.

Each fault is a function of the facts; where the analysis looks for it is not known here.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from specbench.analysis.judge import judge
from specbench.calibrate.simulators import Treatment, random_of
from specbench.calibrate.synthetic_runs import endpoints_of
from specbench.calibrate.whole_runs import ONE_BIN, SEED, SHIFTING, Outcome, simulated_run
from specbench.model.records import Block, RequestRecord, RunData, SpeculationCounts, Telemetry
from specbench.model.result import PerArm

Fault = Callable[[RunData, int], RunData]
WIN = Treatment(step_ratio=0.75)
DRAFTED = SpeculationCounts(rounds=10, drafted=40, accepted=20, per_position=(9, 6, 3, 2))
NOT_DRAFTED = SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=None)


def faulty(name: str, index: int) -> Outcome:
    """The verdict of a run with this fault in it, and the one that is right."""
    fault, wanted = FAULTS[name]
    good = simulated_run(f"fault-{name}", index, SHIFTING, ONE_BIN, (4,), lambda cell: WIN)
    return {"verdict": judge(fault(good, index), "calibrate").verdict, "wanted": wanted}


def starved(evidence: RunData, index: int) -> RunData:
    """The load generator's core had nothing left in one block."""
    return _one_block(evidence, index, lambda block: replace(block, health=replace(block.health, cpu_share=0.97)))


def merged(evidence: RunData, index: int) -> RunData:
    """In the speculative arm one event in twenty was read together with a later one."""
    draw = random_of(SEED, "merged", index)

    def spoil(record: RequestRecord) -> RequestRecord:
        late = draw.random(len(record.event_ns)) < 0.05
        return replace(record, censored=tuple(place for place in range(1, len(late) - 1) if late[place]))

    return _records(evidence, "speculative", spoil)


def reset(evidence: RunData, index: int) -> RunData:
    """An engine's counters began anew in one block."""
    return _one_block(evidence, index, lambda block: replace(block, telemetry=Telemetry(reset=True)))


def another_model(evidence: RunData, index: int) -> RunData:
    """The speculative endpoint serves another model."""
    manifest = evidence.manifest
    changed = tuple(
        replace(e, facts=e.facts | {"model": f"simulated-{index}"}) if e.arm == "speculative" else e for e in manifest.endpoints
    )
    return replace(evidence, manifest=replace(manifest, endpoints=changed))


def gave_up(evidence: RunData, index: int) -> RunData:
    """The engine stopped drafting in the middle of one block, though the scenario declares a method."""
    scenario = evidence.manifest.scenario
    method = {"method": "draft_model", "num_speculative_tokens": 4}
    declared = replace(scenario, speculative=replace(scenario.speculative, speculative=method, declare={"speculation": "on"}))
    manifest = replace(evidence.manifest, scenario=declared, endpoints=endpoints_of(declared))
    told = _records(replace(evidence, manifest=manifest), "speculative", lambda r: replace(r, acceptance=DRAFTED))
    told = _records(told, "baseline", lambda r: replace(r, acceptance=NOT_DRAFTED))
    block = _block_of(told, index, "speculative")
    ours = sorted(r.sent_ns for r in told.records if r.block == block.id)
    middle = ours[len(ours) // 2]
    stopped = (replace(r, acceptance=NOT_DRAFTED) if r.block == block.id and r.sent_ns >= middle else r for r in told.records)
    return replace(told, records=tuple(stopped))


def warm(evidence: RunData, index: int) -> RunData:
    """The speculative arm found its prompts in the cache, the baseline did not."""
    hits = PerArm(0, 500)
    told = (replace(b, telemetry=Telemetry(prefix_queries=1000, prefix_hits=hits.of(b.arm))) for b in evidence.blocks)
    return replace(evidence, blocks=tuple(told))


def failing(evidence: RunData, index: int) -> RunData:
    """One request in ten of the speculative arm is answered with status 503."""
    draw = random_of(SEED, "failing", index)

    def fail(record: RequestRecord) -> RequestRecord:
        if draw.random() >= 0.1:
            return record
        gone = replace(record, outcome="http_error", status=503, reason="status 503", event_ns=(), event_tokens=())
        return replace(gone, output_tokens=None, token_source=None, finish_reason=None, first_answer_ns=None)

    return _records(evidence, "speculative", fail)


def clock_set(evidence: RunData, index: int) -> RunData:
    """The machine's clock was set again and again in one block."""
    return _one_block(evidence, index, lambda block: replace(block, health=replace(block.health, clock_steps=20)))


FAULTS: dict[str, tuple[Fault, str]] = {
    "starved": (starved, "INVALID"),
    "merged": (merged, "INVALID"),
    "reset": (reset, "INVALID"),
    "another-model": (another_model, "INVALID"),
    "gave-up": (gave_up, "INVALID"),
    "warm": (warm, "INVALID"),
    "failing": (failing, "ROLLBACK"),
    "clock-set": (clock_set, "INVALID"),
    "none": (lambda evidence, index: evidence, "PROMOTE"),
}
RUNS = {name: partial(faulty, name) for name in FAULTS}


def _block_of(evidence: RunData, index: int, arm: str) -> Block:
    blocks = [block for block in evidence.blocks if block.arm == arm]
    return blocks[index % len(blocks)]


def _one_block(evidence: RunData, index: int, change: Callable[[Block], Block]) -> RunData:
    chosen = _block_of(evidence, index, "speculative" if index % 2 else "baseline")
    return replace(evidence, blocks=tuple(change(block) if block.id == chosen.id else block for block in evidence.blocks))


def _records(evidence: RunData, arm: str, change: Callable[[RequestRecord], RequestRecord]) -> RunData:
    ours = {block.id for block in evidence.blocks if block.arm == arm}
    return replace(evidence, records=tuple(change(r) if r.block in ours else r for r in evidence.records))
