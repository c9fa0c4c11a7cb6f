"""What the order of blocks does to a ratio: carry-over voids a run, what the balanced order takes out does not."""

import random
from dataclasses import replace
from itertools import accumulate, pairwise
from math import exp

import pytest

from specbench.analysis.judge import judge
from specbench.model.records import Block, RequestRecord, RunData
from specbench.model.result import IntegrityCheck, Result
from specbench.model.scenario import ArmName
from specbench.plan.trials import trials_of
from tests.support.evidence import Effect, a_scenario, evidence
from tests.support.goldens import same_text

WINS = Effect(tpot=0.6)


def _led(run: RunData) -> RunData:
    """The run with its blocks in the order of a plan."""
    planned = {(t.cell.id, t.pair, t.arm): t for t in trials_of(run.manifest.scenario, run.manifest.cells)}
    trials = [planned[block.cell, block.pair, block.arm] for block in run.blocks]
    blocks = (replace(b, order=trial.order, launch=trial.launch) for b, trial in zip(run.blocks, trials, strict=True))
    return replace(run, blocks=tuple(blocks))


def _old_order(run: RunData) -> RunData:
    """The run of one cell in which AB BA BA AB followed each other, as older versions had it."""

    def change(block: Block) -> Block:
        speculative_leads = (block.pair + 1) // 2 % 2 == 1
        return replace(block, order=2 * block.pair + ((block.arm == "speculative") != speculative_leads))

    return replace(run, blocks=tuple(change(block) for block in run.blocks))


def _slower(
    run: RunData, share: float, *arms: ArmName, cell: str = "c", gain: float = 0.6, shared: float = 0.0, drift: float = 0.0
) -> RunData:
    """The run with 20 ms a token, blocks slower by this share: of one arm after the other, or of both where they are second.

    Blocks scatter by 2 %, those of a pair together by `shared`; `drift` is from end to end.
    """
    blocks = {block.id: block for block in run.blocks}
    first = {(b.cell, b.pair): min(o.order for o in run.blocks if (o.cell, o.pair) == (b.cell, b.pair)) for b in run.blocks}
    in_order = sorted(run.blocks, key=lambda block: block.order)
    follows = {after.id for before, after in pairwise(in_order) if before.arm != after.arm}
    draw = random.Random(5)
    pairs = {key: draw.gauss(0.0, shared) for key in sorted(first)}
    own = {name: draw.gauss(0.0, 0.02) for name in sorted(blocks)}

    def change(record: RequestRecord) -> RequestRecord:
        block = blocks[record.block]
        place = block.cell, block.pair
        late = block.order > first[place] if len(arms) == 2 else block.id in follows
        hit = late and block.arm in arms and block.cell.startswith(cell)
        scatter = exp(own[block.id] + pairs[place] + drift * block.pair / 10)
        each_ns = 2e7 * (gain if block.arm == "speculative" else 1.0) * (1 + share if hit else 1.0) * scatter
        events = tuple(round(2e8 + each_ns * tokens) for tokens in accumulate(record.event_tokens))
        return replace(record, event_ns=events, end_ns=events[-1])

    return replace(run, records=tuple(change(record) for record in run.records))


def _run(effect: Effect = WINS, levels: tuple[int, ...] = (4,), pairs: int = 10) -> RunData:
    return _led(evidence(effect, a_scenario(levels, pairs=pairs), requests=24))


def _carried(result: Result) -> list[IntegrityCheck]:
    checks = [*result.integrity, *(check for cell in result.cells for check in cell.integrity)]
    return [check for check in checks if check.id == "carry_over"]


def test_equal_arms_with_a_carry_over_are_no_win() -> None:
    """The baseline is 15 % slower after a speculative block, which 6 in 10 of its blocks are: a gain of 8 % out of nothing."""
    result = judge(_slower(_run(), 0.15, "baseline", gain=1.0), "0")
    (found,) = _carried(result)

    assert (result.verdict, found.ok) == ("INVALID", False)
    assert found.value == pytest.approx(0.085, abs=0.025)
    assert "carry_over" in {reason.code for reason in result.reasons}
    same_text("carry-over", found.message)


def test_a_run_in_the_order_of_older_versions_shows_it_too() -> None:
    """In half of its pairs the first block follows the other arm as well, and they tell nothing."""
    result = judge(_slower(_old_order(_run()), 0.15, "baseline", gain=1.0), "0")
    (found,) = _carried(result)

    assert (result.verdict, found.ok) == ("INVALID", False)
    assert found.value == pytest.approx(0.105, abs=0.03)


def test_under_restart_what_ran_before_is_the_other_engine() -> None:
    """All blocks of a start follow the other engine, not each other."""
    scenario = a_scenario((1, 4, 16), pairs=10)
    scenario = replace(scenario, matrix=replace(scenario.matrix, schedule="restart"))
    result = judge(_slower(_led(evidence(WINS, scenario, requests=24)), 0.15, "baseline", "speculative"), "0")

    assert [check.ok for check in _carried(result) if check.cell is None] == [True]


def test_over_several_cells_too_few_pairs_of_each_are_enough() -> None:
    """Five pairs at each of three loads."""
    result = judge(_slower(_run(levels=(1, 4, 16), pairs=5), 0.15, "baseline"), "0")

    assert [(check.cell, check.ok) for check in _carried(result)] == [(None, False)]


def test_a_carry_over_in_one_cell_of_three_is_found_there() -> None:
    """Pooled it may drown; each cell that has pairs enough is tested by itself."""
    result = judge(_slower(_run(levels=(1, 4, 16)), 0.2, "baseline", cell="c4"), "0")

    assert result.verdict == "INVALID"
    assert ("c4", False) in {(check.cell, check.ok) for check in _carried(result)}


@pytest.mark.parametrize("drift", [0.0, 0.4])
def test_without_one_nothing_is_said(drift: float) -> None:
    """Also where the machine gets slower all along."""
    result = judge(_slower(_run(), 0.0, drift=drift), "0")

    assert (result.verdict, [check.ok for check in _carried(result)]) == ("PROMOTE", [True])
    assert not any("order" in note for note in result.notes)


def test_a_carry_over_of_no_weight_voids_nothing() -> None:
    """Two per cent move the ratio by one, which two loads of sixty pairs know well."""
    result = judge(_slower(_run(levels=(1, 4), pairs=60), 0.02, "baseline"), "0")

    assert [check.ok for check in _carried(result)] == [True]
    assert _carried(result)[0].value == pytest.approx(0.01, abs=0.01)


def test_a_second_block_that_is_slower_in_both_arms_cancels_out() -> None:
    """Ten per cent, balanced: a note where limits hold by more than is left of it, HOLD where pairs scatter too much to know."""
    quiet = judge(_slower(_run(pairs=20), 0.1, "baseline", "speculative"), "0")
    room = judge(_slower(_run(), 0.1, "baseline", "speculative", shared=0.02), "0")
    open_ = judge(_slower(_run(), 0.1, "baseline", "speculative", shared=0.08), "0")

    assert (quiet.verdict, room.verdict) == ("PROMOTE", "PROMOTE")
    same_text("order that cancels out", *(note for run in (quiet, room) for note in run.notes if "order" in note))
    assert (open_.verdict, open_.reasons[0].code) == ("HOLD", "order_not_excluded")
    same_text("order not excluded", open_.reasons[0].message)


def test_a_gain_that_order_may_have_made_is_held() -> None:
    """A gain of 6 % beside an effect of order that pairs of unlike levels leave open by more."""
    result = judge(_slower(_run(), 0.0, gain=0.94, shared=0.06), "0")

    assert (result.verdict, result.reasons[0].code) == ("HOLD", "order_not_excluded")
    same_text("gain by order", result.reasons[0].message)


def test_a_carry_over_that_scatter_hides_promotes_nothing() -> None:
    """The sum of a pair's blocks does not tell it where machines change from pair to pair; their ratio does."""
    result = judge(_slower(_run(), 0.15, "baseline", gain=1.0, shared=0.08), "0")

    assert result.verdict in ("HOLD", "INVALID")


@pytest.mark.parametrize(
    ("pairs", "levels", "tested"), [(7, (4,), False), (8, (4,), True), (4, (1, 4), False), (5, (1, 4), True)]
)
def test_few_pairs_are_not_asked(pairs: int, levels: tuple[int, ...], tested: bool) -> None:
    """Eight pairs of one cell, or five of two."""
    result = judge(_run(levels=levels, pairs=pairs), "0")

    assert bool(_carried(result)) is tested
    assert any("order not tested" in note for note in result.notes) is not tested


def test_where_one_arm_always_led_nothing_can_be_tested() -> None:
    """It is said, and stops nothing."""
    result = judge(evidence(WINS, a_scenario([4]), requests=24), "0")

    assert _carried(result) == []
    same_text("one arm leads", *(note for note in result.notes if "order" in note))


def test_blocks_at_the_same_time_have_no_order() -> None:
    """`schedule: simultaneous`."""
    scenario = a_scenario([4])
    both = replace(scenario, matrix=replace(scenario.matrix, schedule="simultaneous"))

    result = judge(_slower(_led(evidence(WINS, both, requests=24)), 0.15, "baseline"), "0")

    assert _carried(result) == []
    assert not any("order" in note for note in result.notes)
