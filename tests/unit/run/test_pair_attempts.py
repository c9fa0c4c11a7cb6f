"""Which blocks are measured again after one that counts for nothing."""

from dataclasses import replace

from specbench.model.records import Cell
from specbench.plan.trials import Trial
from specbench.run.pair_attempts import PairAttempts

CELL = Cell(id="c4", concurrency=4, rate=None, bin=None, sampling=None, required=True, traffic_share=None)
PLAN = (
    Trial(order=0, cell=CELL, pair=0, arm="baseline"),
    Trial(order=1, cell=CELL, pair=0, arm="speculative"),
    Trial(order=2, cell=CELL, pair=1, arm="speculative"),
    Trial(order=3, cell=CELL, pair=1, arm="baseline"),
)


def run(attempts: PairAttempts, *void: str) -> list[str]:
    """The names of the blocks as they run, where those named are void."""
    ran = []
    while attempts.next() is not None:
        trial = attempts.take()
        ran.append(trial.block_id)
        if trial.block_id in void:
            attempts.void(trial)
    return ran


def test_without_a_void_block_the_plan_runs() -> None:
    """In its order, each block once."""
    assert run(PairAttempts(PLAN)) == ["c4/p00/baseline", "c4/p00/speculative", "c4/p01/speculative", "c4/p01/baseline"]


def test_a_void_second_block_brings_both_arms_again() -> None:
    """In the order of the pair, under names of their own, before the next pair."""
    assert run(PairAttempts(PLAN), "c4/p00/speculative") == [
        *("c4/p00/baseline", "c4/p00/speculative"),
        *("c4/p00/baseline/a2", "c4/p00/speculative/a2"),
        *("c4/p01/speculative", "c4/p01/baseline"),
    ]


def test_a_void_first_block_leaves_the_second_out() -> None:
    """It would be measured for nothing."""
    assert run(PairAttempts(PLAN), "c4/p00/baseline")[:3] == ["c4/p00/baseline", "c4/p00/baseline/a2", "c4/p00/speculative/a2"]


def test_a_pair_comes_again_only_once() -> None:
    """Then it is left out, and the run goes on."""
    assert run(PairAttempts(PLAN), "c4/p00/baseline", "c4/p00/baseline/a2") == [
        *("c4/p00/baseline", "c4/p00/baseline/a2"),
        *("c4/p01/speculative", "c4/p01/baseline"),
    ]


def test_a_resumed_pair_has_its_second_try_too() -> None:
    """What an interrupted run tried is not counted against it."""
    resumed = tuple(replace(trial, attempt=2) for trial in PLAN[:2])

    assert run(PairAttempts(resumed), "c4/p00/baseline/a2") == [
        "c4/p00/baseline/a2",
        "c4/p00/baseline/a3",
        "c4/p00/speculative/a3",
    ]


def test_where_engines_start_anew_nothing_comes_again() -> None:
    """A pair is then no two blocks side by side."""
    assert len(run(PairAttempts(PLAN, again=False), "c4/p00/baseline")) == 4
