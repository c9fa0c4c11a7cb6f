"""Whether a run and each of its cells may be judged at all: the client was in time, the arms alike, the work the same.

Every check answers True, False, or None where there was too little to tell; None never stops a verdict. What a failed check
leads to is `verdict.py`'s. The checks themselves are in the modules beside this one, by what they look at.
"""

from collections.abc import Sequence
from dataclasses import replace

from specbench.analysis.cells import CellEvidence, planned_pairs
from specbench.analysis.integrity.engine_checks import (
    arms_equal,
    counters_whole,
    no_foreign_traffic,
    prefix_cache_alike,
    speculation_on,
)
from specbench.analysis.integrity.generator_limits import (
    clock_steady,
    concurrency_held,
    cpu_free,
    events_apart,
    machine_free,
    reads_in_time,
    sends_in_time,
)
from specbench.analysis.integrity.setting_in_effect import setting_in_effect
from specbench.analysis.integrity.workers import with_worst_worker, worker_checks
from specbench.analysis.integrity.workload import Drift, excess_checks, pairs_present, same_prompts
from specbench.analysis.stats.alpha_spending import holm
from specbench.explain.integrity import steady
from specbench.explain.rules.course_of_blocks import slows_within_blocks
from specbench.model.guardrails import SLOWS
from specbench.model.records import RunData
from specbench.model.result import IntegrityCheck, PerArm
from specbench.model.scenario import ARMS

STEADY_ALPHA = 0.01  # of a whole run: at 5 % one sound run in twenty would be void by chance (decision record 0020)


def run_checks(evidence: RunData) -> tuple[IntegrityCheck, ...]:
    """The checks on the run as a whole: are the arms equal beyond the change under test?"""
    return arms_equal(evidence.manifest)


def cell_checks(evidence: RunData, cell: CellEvidence) -> tuple[IntegrityCheck, ...]:
    """The checks on one cell, steadiness apart, in a fixed order; a cell without a block only should have had some."""
    scenario = evidence.manifest.scenario
    pairs = pairs_present(cell, planned_pairs(evidence), whole=not evidence.partial)
    if not cell.blocks.baseline and not cell.blocks.speculative:
        return (pairs,)
    return (
        *(
            with_worst_worker(cell, check(cell))
            for check in (events_apart, reads_in_time, sends_in_time, cpu_free, concurrency_held, machine_free, clock_steady)
        ),
        *worker_checks(evidence, cell),
        *(check(cell) for check in (counters_whole, no_foreign_traffic)),
        prefix_cache_alike(cell, same_prompts=not scenario.workload.own_history),
        *speculation_on(cell, PerArm(scenario.baseline.speculative, scenario.speculative.speculative)),
        *setting_in_effect(cell, scenario.speculative.speculative),
        *same_prompts(cell),
        *excess_checks(cell),
        pairs,
    )


def steadiness(drifts: Sequence[Drift], smallest_margin: float) -> dict[str, tuple[IntegrityCheck, ...]]:
    """For each cell by its id, whether either arm drifted within its blocks by more than half the smallest margin.

    Judged over all blocks of an arm in a cell together; the tests of all cells are one family (Holm), so that a large matrix is
    not called unsteady by chance.
    """
    adjusted = iter(holm([drift.p for drift in drifts if drift.p is not None]))
    checks: dict[str, tuple[IntegrityCheck, ...]] = {}
    for drift in drifts:
        p = None if drift.p is None else next(adjusted)
        check = _steady(drift, p, smallest_margin / 2)
        checks[drift.cell] = (*checks.get(drift.cell, ()), check)
    return {cell: _slowing_alone(cell, found, drifts) for cell, found in checks.items()}


def _slowing_alone(cell: str, checks: tuple[IntegrityCheck, ...], drifts: Sequence[Drift]) -> tuple[IntegrityCheck, ...]:
    """The checks of a cell's arms; where one arm slows and the other is steady, it is no lack of warm-up, and voids nothing."""
    unsteady = [check for check in checks if check.ok is False]
    if len(checks) != len(ARMS) or len(unsteady) != 1 or not all(check.ok for check in checks if check not in unsteady):
        return checks
    failed = unsteady[0]
    drift = next(one for one in drifts if one.cell == cell and f"steady_{one.arm}" == failed.id)
    if drift.change is None or drift.change <= 0 or failed.limit is None:
        return checks
    message = slows_within_blocks(drift.place, drift.arm, drift.change, failed.limit)
    slows = replace(failed, id=SLOWS, ok=None, message=message)
    return tuple(slows if check is failed else check for check in checks)


def _steady(drift: Drift, p: float | None, limit: float) -> IntegrityCheck:
    name = f"steady_{drift.arm}"
    ok = None if drift.change is None or p is None else not (p < STEADY_ALPHA and abs(drift.change) > limit)
    message = steady(drift.place, drift.arm, drift.change, limit, ok)
    return IntegrityCheck(id=name, cell=drift.cell, ok=ok, value=drift.change, limit=limit, message=message)
