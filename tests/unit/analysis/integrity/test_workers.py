"""Whether the workers of a fleet held, and whether their clocks agree."""

from dataclasses import replace

from specbench.analysis.attempts import counted, counted_blocks, is_complete
from specbench.analysis.cells import CellEvidence
from specbench.analysis.integrity.workers import clocks_agree, with_worst_worker, worker_checks, workers_held
from specbench.model.records import Block, Cell, FleetFacts, RunData, Void, WorkerFacts
from specbench.model.result import PerArm
from specbench.model.scenario import ArmName
from tests.support.goldens import same_text
from tests.support.records import HEALTH, a_block

CELL = Cell(id="c4", concurrency=4, rate=None, bin=None, sampling=None, required=True, traffic_share=None)


def driven(pair: int, arm: ArmName = "baseline", void: Void | None = None, error_ms: float = 0.1, drift_ms: float = 0.0) -> Block:
    """A block that two workers drove."""
    workers = (
        WorkerFacts(name="rack/1", streams=2, health=HEALTH, clock_error_ms=0.1, clock_drift_ms=0.0),
        WorkerFacts(name="rack/2", streams=2, health=HEALTH, clock_error_ms=error_ms, clock_drift_ms=drift_ms),
    )
    return replace(a_block(pair, arm=arm), fleet=FleetFacts(workers=workers, void=void))


def evidence(*void: Block) -> RunData:
    return RunData(manifest=None, blocks=(), records=(), finished="now", problems=(), void_blocks=void)  # type: ignore[arg-type]


def cell(*blocks: Block) -> CellEvidence:
    arms = PerArm(*(tuple(block for block in blocks if block.arm == arm) for arm in ("baseline", "speculative")))
    return CellEvidence(cell=CELL, primary=True, blocks=arms, records=PerArm((), ()))


def pairs(count: int) -> list[Block]:
    return [driven(pair, arm) for pair in range(count) for arm in ("baseline", "speculative")]


def test_one_process_has_no_such_checks() -> None:
    """Nothing changes without a fleet."""
    assert worker_checks(evidence(), cell(a_block())) == ()


def test_a_tenth_of_the_pairs_may_be_measured_again() -> None:
    """One of ten is allowed, two are not."""
    lost, twice = driven(3, void="worker_lost"), driven(4, void="worker_lost")

    assert workers_held(evidence(lost), cell(*pairs(10))).ok is True
    assert workers_held(evidence(lost, twice), cell(*pairs(10))).ok is False


def test_what_both_checks_say() -> None:
    """The counts, the limit, the worker by name and what to do."""
    bad = cell(*pairs(1), driven(1, error_ms=4.0, drift_ms=2.0))
    same_text("held", workers_held(evidence(driven(0, void="worker_lost")), cell(*pairs(10))).message)
    same_text("not held", workers_held(evidence(driven(0, void="worker_lost")), bad).message)
    same_text("clocks agree", clocks_agree(evidence(), cell(*pairs(1))).message)
    same_text("clocks disagree", clocks_agree(evidence(), bad).message)


def test_doubt_and_drift_of_a_clock_add_up() -> None:
    """Five milliseconds are allowed."""
    assert clocks_agree(evidence(), cell(driven(0, error_ms=3.0, drift_ms=2.0))).ok is True
    assert clocks_agree(evidence(), cell(driven(0, error_ms=3.0, drift_ms=2.1))).ok is False


def test_a_pair_that_no_clock_could_time_voids_its_cell() -> None:
    """Measured again in vain, it would else leave no trace; one that was measured again well is forgiven."""
    blind = driven(1, void="clocks_disagree", error_ms=9.0)

    assert clocks_agree(evidence(blind), cell(*pairs(1))).ok is False
    assert clocks_agree(evidence(blind), cell(*pairs(2))).ok is True


def test_a_failed_check_names_the_worst_worker() -> None:
    """One late worker among many is found by its name."""
    late = replace(HEALTH, send_delay_ms_p95=80.0)
    block = driven(0)
    assert block.fleet is not None
    workers = (block.fleet.workers[0], replace(block.fleet.workers[1], health=late))
    hit = cell(replace(block, fleet=replace(block.fleet, workers=workers)))

    named = with_worst_worker(hit, hit.check("send_delay", False, 80.0, 5.0, "Late."))

    assert "rack/2" in named.message
    assert with_worst_worker(hit, hit.check("send_delay", True, 1.0, 5.0, "In time.")).message == "In time."


def test_a_void_block_never_counts() -> None:
    """The second try does, whole; where that is void as well, the pair is missing."""
    first = [driven(0), driven(0, "speculative", void="worker_lost")]
    again = [replace(driven(0, arm), id=f"{arm}-0/a2", attempt=2) for arm in ("baseline", "speculative")]

    assert not is_complete(first)
    assert counted_blocks([*first, *again]) == tuple(again)
    assert [block.attempt for block in counted_blocks([first[1], replace(again[0], fleet=first[1].fleet)])] == []


def test_void_blocks_stay_known() -> None:
    """They are no evidence, and what is missing is judged by them."""
    lost = driven(0, void="workers_missing")
    known = counted(replace(evidence(), blocks=(*pairs(1), replace(lost, pair=1))))

    assert [block.pair for block in known.void_blocks] == [1]
    assert known.partial
