"""Of several tries at a pair one counts, whatever it showed; a death of its own always does."""

from dataclasses import replace

import pytest

from specbench.analysis.attempts import counted_blocks
from specbench.analysis.judge import judge
from specbench.model.records import Block
from specbench.model.scenario import ArmName
from tests.support.evidence import ONE_CELL, Effect, evidence
from tests.support.records import a_block


def block(arm: ArmName, attempt: int, exit: str | None = None) -> Block:
    """A block of pair 0, of this attempt."""
    return replace(a_block(0, arm=arm, name=f"{arm[0]}{attempt}"), attempt=attempt, engine_exit=exit)


B1, S1, B2, S2, B3, S3 = (block(arm, attempt) for attempt in (1, 2, 3) for arm in ("baseline", "speculative"))
CRASH, KILL = (block("speculative", 1, how) for how in ("was ended by SIGSEGV", "was ended by SIGKILL"))


@pytest.mark.parametrize(
    ("blocks", "counts"),
    [
        ((B1, S1), (B1, S1)),
        ((B1,), (B1,)),
        ((B1, B2, S2), (B2, S2)),
        ((B1, S1, B2, S2), (B1, S1)),
        ((S1, B2, S2, B3, S3), (B2, S2)),
        ((B1, B2), (B2,)),
        ((B1, CRASH, B2, S2), (B1, CRASH)),
    ],
)
def test_the_first_complete_attempt_counts(blocks: tuple[Block, ...], counts: tuple[Block, ...]) -> None:
    """Of none that is complete the latest is shown; an engine that crashed is not measured away."""
    assert counted_blocks(blocks) == counts


def test_a_pair_with_a_kill_from_outside_is_replaced() -> None:
    """Only where the kill is known to have come from outside."""
    assert counted_blocks((B1, KILL, B2, S2), {"s1"}) == (B2, S2)


def test_a_run_with_pairs_measured_again_is_judged_as_one_without_a_gap() -> None:
    """The half try of pair 3 enters no figure; the note says that there was one."""
    whole = evidence(Effect(), ONE_CELL)
    moved = tuple(replace(block, id=f"{block.id}/a2", attempt=2) if block.pair == 3 else block for block in whole.blocks)
    renamed = {old.id: new.id for old, new in zip(whole.blocks, moved, strict=True)}
    records = tuple(replace(record, block=renamed[record.block]) for record in whole.records)
    half = next(block for block in whole.blocks if block.pair == 3)
    slow = tuple(replace(record, end_ns=9 * record.end_ns) for record in whole.records if record.block == half.id)
    again = judge(replace(whole, blocks=(half, *moved), records=(*slow, *records), resumed=1), "0")
    plain = judge(whole, "0")

    assert again.cells[0].metrics == plain.cells[0].metrics
    assert (again.verdict, again.cells[0].counts) == (plain.verdict, plain.cells[0].counts)
    assert len(again.notes) == len(plain.notes) + 1


@pytest.mark.parametrize(("again", "verdict"), [(False, "HOLD"), (True, "PROMOTE")])
def test_an_outside_kill_holds_the_run_until_its_pair_was_measured_again(again: bool, verdict: str) -> None:
    """The kill stays in the notes."""
    whole = evidence(Effect(), ONE_CELL)
    last = whole.blocks[-1]
    killed = replace(last, engine_exit="was ended by SIGKILL")
    repeated = tuple(replace(block, id=f"{block.id}/a2", attempt=2) for block in whole.blocks if block.pair == last.pair)
    copies = tuple(
        replace(record, block=f"{record.block}/a2")
        for record in whole.records
        if f"{record.block}/a2" in {b.id for b in repeated}
    )
    blocks = (*whole.blocks[:-1], killed)
    run = (
        replace(whole, blocks=(*blocks, *repeated), records=(*whole.records, *copies)) if again else replace(whole, blocks=blocks)
    )
    result = judge(run, "0")

    assert result.verdict == verdict
    assert ("killed_from_outside" in {reason.code for reason in result.reasons}) is not again
