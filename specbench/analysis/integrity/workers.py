"""Did the workers of a fleet hold, and can their moments be put on one clock? Both are judged by the client alone."""

from collections.abc import Callable
from dataclasses import replace

from specbench.analysis.cells import CellEvidence
from specbench.explain.rules import fleet_of_workers
from specbench.model.records import MOST_CLOCK_ERROR_MS, GeneratorHealth, RunData
from specbench.model.result import IntegrityCheck

REPEATED_SHARE = 0.1
"""More pairs than that measured again, and a cell would be made of the moments at which its machines were well."""


def workers_held(evidence: RunData, cell: CellEvidence) -> IntegrityCheck:
    """At most a tenth of a cell's pairs were measured again because workers were lost."""
    blocks = [block for block in cell.all_blocks if block.fleet is not None]
    void = {block.pair for block in evidence.void_blocks if block.cell == cell.cell.id}
    pairs = void | {block.pair for block in blocks}
    ok = len(void) <= REPEATED_SHARE * len(pairs) if pairs else None
    message = fleet_of_workers.workers_held(cell.cell, len(void), len(pairs), REPEATED_SHARE, ok)
    share = len(void) / len(pairs) if pairs else None
    return cell.check("workers_held", ok, share, REPEATED_SHARE, message)


def clocks_agree(evidence: RunData, cell: CellEvidence) -> IntegrityCheck:
    """Every worker's clock was known closely enough, in each block that counts, and in those of pairs that are missing for it."""
    counted = {block.pair for block in cell.blocks.baseline} & {block.pair for block in cell.blocks.speculative}
    blind = (one for one in evidence.void_blocks if one.cell == cell.cell.id and one.pair not in counted)
    known = [
        (worker.clock_error_ms + worker.clock_drift_ms, worker.name)
        for block in (*cell.all_blocks, *blind)
        if block.fleet is not None
        for worker in block.fleet.workers
        if worker.clock_error_ms is not None and worker.clock_drift_ms is not None
    ]
    if not known:
        return cell.check("clocks_agree", None, None, None, fleet_of_workers.clocks_agree(cell.cell, None, 0.0, None))
    error_ms, name = max(known)
    ok = error_ms <= MOST_CLOCK_ERROR_MS
    message = fleet_of_workers.clocks_agree(cell.cell, (name, error_ms), MOST_CLOCK_ERROR_MS, ok)
    return cell.check("clocks_agree", ok, error_ms, MOST_CLOCK_ERROR_MS, message)


def worker_checks(evidence: RunData, cell: CellEvidence) -> tuple[IntegrityCheck, ...]:
    """The checks on workers and clocks, where a fleet drove the load; none where one process did."""
    by_fleet = any(block.fleet is not None for block in (*cell.all_blocks, *evidence.void_blocks))
    return (workers_held(evidence, cell), clocks_agree(evidence, cell)) if by_fleet else ()


_FIGURES: dict[str, Callable[[GeneratorHealth], float | None]] = {
    "send_delay": lambda health: health.send_delay_ms_p95,
    "client_saturated": lambda health: health.cpu_share,
    "merged_events": lambda health: health.events_per_stamp,
    "achieved_concurrency": lambda health: None if health.achieved_concurrency is None else -health.achieved_concurrency,
}


def with_worst_worker(cell: CellEvidence, check: IntegrityCheck) -> IntegrityCheck:
    """The check on the generator, which names the worst worker where it fails and there are several."""
    figure = _FIGURES.get(check.id)
    if check.ok is not False or figure is None:
        return check
    known = [
        (value, worker.name)
        for block in cell.all_blocks
        if block.fleet is not None
        for worker in block.fleet.workers
        if worker.health is not None and (value := figure(worker.health)) is not None
    ]
    return replace(check, message=f"{check.message} {fleet_of_workers.worst_worker(max(known)[1])}") if known else check
