"""A pair is measured once more where one of its blocks is unlike its own arm's others."""

from dataclasses import replace

from specbench.calibrate.simulators import NoiseModel
from specbench.calibrate.worlds.evidence import WorldRun, evidence_in
from specbench.calibrate.worlds.outlier_pairs import outlier_pairs
from specbench.calibrate.worlds.setting import Behaviour, World
from specbench.model.records import RunData

RUN = WorldRun(streams=(4,), pairs=6, world=World(noise=NoiseModel(step_sd=0.02, block_sd=0.02)))


def slowed(evidence: RunData, block: str, factor: int) -> RunData:
    """The same run with every time of one block so many times as long."""
    longer = (
        replace(record, event_ns=tuple(factor * moment for moment in record.event_ns)) if record.block == block else record
        for record in evidence.records
    )
    return replace(evidence, records=tuple(longer))


def test_a_block_three_times_as_slow_is_an_outlier_of_its_arm() -> None:
    """An arm that is slower as a whole has none."""
    even = evidence_in(RUN, "even", 0)
    slower = evidence_in(replace(RUN, speculative=Behaviour(step_ratio=3.0)), "even", 0)

    assert outlier_pairs(even.blocks, even.records) == set()
    assert outlier_pairs(slower.blocks, slower.records) == set()
    assert outlier_pairs(even.blocks, slowed(even, "c4/p02/baseline", 3).records) == {("c4", 2)}


def test_a_repeated_pair_stands_in_the_place_of_the_first_one() -> None:
    """Both of its blocks are new, the other pairs are as they were."""
    world = replace(RUN.world, slow_share=0.1, slow_factor=3.0)
    number = next(
        n for n in range(20) if outlier_pairs((once := evidence_in(replace(RUN, world=world), "some", n)).blocks, once.records)
    )
    once, again = (evidence_in(replace(RUN, world=world, repeats=repeats), "some", number) for repeats in (False, True))
    outliers = {f"{cell}/p{pair:02d}" for cell, pair in outlier_pairs(once.blocks, once.records)}
    changed = {
        block.id
        for block in once.blocks
        if [r for r in once.records if r.block == block.id] != [r for r in again.records if r.block == block.id]
    }

    assert changed == {f"{pair}/{arm}" for pair in outliers for arm in ("baseline", "speculative")}
    assert {block.id for block in again.blocks} == {block.id for block in once.blocks}
