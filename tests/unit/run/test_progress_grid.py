"""What a run shows while it lasts: where it is, both arms' figures so far, and how long the rest takes."""

from dataclasses import replace

import pytest

from specbench.plan.trials import Trial, cells_of, trials_of
from specbench.run.progress_grid import PLAIN_MARKS, BlockDone, RunState, block_line, clock, grid_lines, seconds_left
from specbench.run.running_figures import Pulse, RunningFigures
from tests.support.goldens import same_text
from tests.support.scenarios import code

PLAIN = RunningFigures(ok=12, failed=0, tpot_ms=12.3, tokens_per_s=79.2)
DRAFTING = RunningFigures(ok=25, failed=1, tpot_ms=5.61, tokens_per_s=161.0)


def trials(*settings: tuple[str, str]) -> tuple[Trial, ...]:
    """The blocks of a scenario of three loads in two pairs, load by load."""
    scenario = code(("matrix.pairs", "2"), *settings)
    return tuple(sorted(trials_of(scenario, cells_of(scenario)), key=lambda one: (one.cell.concurrency or 0, one.pair, one.arm)))


def after(blocks: int, found: tuple[Trial, ...]) -> RunState:
    """The run after so many blocks of 10 s, 4 s into the next one."""
    done = tuple(BlockDone(one, PLAIN if one.arm == "baseline" else DRAFTING, 10.0) for one in found[:blocks])
    at_hand = found[blocks] if blocks < len(found) else found[-1]
    return RunState(trials=found, done=done, at_hand=at_hand, since_s=10.0 * blocks)


def test_the_grid_shows_pairs_done_figures_of_both_arms_failures_and_time_left() -> None:
    """After five blocks of twelve: one load is done, of the next one arm's first block."""
    state = after(5, trials())

    same_text("five blocks of twelve", *grid_lines(state, 54.0))
    same_text("before the first", *grid_lines(after(0, trials()), 4.0))
    same_text("all of them", *grid_lines(after(12, trials()), 120.0))


def test_each_arm_has_a_line_with_what_it_showed_last() -> None:
    """Between the loads and the foot, while a block is under way; workers and acceptance only where there are any."""
    plain = Pulse(tokens_per_s=79.2, ttft_ms=51.04, itl_ms=12.31, acceptance_length=None, lag_ms=0.12)
    drafting = Pulse(tokens_per_s=161.0, ttft_ms=50.9, itl_ms=16.02, acceptance_length=2.871, lag_ms=None, workers=2)
    state = replace(after(5, trials()), pulses=(("baseline", plain), ("speculative", drafting)))

    same_text("with pulses", *grid_lines(state, 54.0, 100))
    assert grid_lines(replace(state, phase="asking the baseline"), 54.0) == grid_lines(
        replace(after(5, trials()), phase="asking the baseline"), 54.0
    )


def test_what_follows_the_blocks_stands_at_the_head() -> None:
    """With the time since it began; the grid below stays as it was."""
    state = replace(after(12, trials()), at_hand=None, phase="asking the baseline", since_s=120.0)

    assert grid_lines(state, 131.0)[0] == "asking the baseline, 11s"
    assert grid_lines(state, 131.0)[1:-1] == grid_lines(after(12, trials()), 131.0)[1:-1]


@pytest.mark.parametrize("width", [200, 80, 64, 40, 20])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """A terminal of 40 columns loses figures, never the grid."""
    lines = grid_lines(after(5, trials()), 54.0, width)

    assert max(map(len, lines)) <= width
    assert "□□" in lines[-2]


def test_a_console_without_the_marks_gets_others() -> None:
    """In ASCII alone."""
    lines = grid_lines(after(5, trials()), 54.0, 80, PLAIN_MARKS)

    assert all(line.isascii() for line in lines)
    assert ["##" in lines[1], "+." in lines[2], ".." in lines[3]] == [True, True, True]


def test_many_pairs_share_marks_and_many_rows_are_counted() -> None:
    """100 pairs take 20 marks; of 20 loads those around the block at hand are shown."""
    many = after(150, trials(("matrix.pairs", "100"), ("matrix.concurrency", "[1]"), ("matrix.primary", "1")))
    levels = str([*range(1, 21)])
    wide = after(79, trials(("matrix.concurrency", levels)))

    assert grid_lines(many, 1504.0)[1].startswith("  1 stream  ■■■■■■■■■■■■■■■□□□□□  75/100")
    assert len(grid_lines(wide, 794.0)) == 15
    assert "  20 streams  ■◧" in grid_lines(wide, 794.0)[12]


def test_the_time_left_is_what_blocks_of_each_load_took() -> None:
    """Blocks of a load take what they took; of one not measured yet what all took on average; the block at hand less."""
    found = trials()
    slow = replace(after(1, found), done=(BlockDone(found[0], PLAIN, 30.0), BlockDone(found[4], PLAIN, 10.0)))

    assert seconds_left(RunState(trials=found), 5.0) is None
    assert seconds_left(after(12, found), 125.0) == 0.0
    assert seconds_left(after(5, found), 54.0) == 66.0
    assert seconds_left(replace(slow, at_hand=None), 0.0) == 2 * 30.0 + 4 * 10.0 + 4 * 20.0


def test_a_log_gets_a_line_a_block() -> None:
    """With the figures of the block, and the time left but after the last."""
    same_text("the second block", block_line(after(2, trials()), 20.0))
    same_text("the last block", block_line(after(12, trials()), 120.0))
    dead = replace(after(1, trials()), done=(BlockDone(trials()[0], RunningFigures(0, 7, None, None), 1.0),))
    same_text("a block without an answer", block_line(dead, 20.0))


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0s"), (59.4, "59s"), (59.6, "1m00s"), (65, "1m05s"), (7380, "2h03m")])
def test_a_span_is_short(seconds: float, text: str) -> None:
    """Seconds below a minute, minutes below an hour."""
    assert clock(seconds) == text


def test_a_block_that_has_ended_is_no_longer_at_hand() -> None:
    """Until the next one begins, the time since its beginning is not taken off the rest."""
    found = trials()
    state = after(2, found).with_block(BlockDone(found[2], PLAIN, 10.0))

    assert state.at_hand is None
    assert seconds_left(state, 1000.0) == 90.0


def test_a_fleet_shows_its_workers_and_the_lag_of_the_worst() -> None:
    """In the line of a block and under the grid; one process shows neither. A pair that is measured again is counted once."""
    found = trials()
    driven = BlockDone(found[0], replace(PLAIN, workers=2, lag_ms=0.34), 10.0)
    state = after(0, found).with_block(BlockDone(found[0], PLAIN, 10.0)).with_block(driven)

    assert state.done == (driven,)
    same_text("a block by two workers", block_line(state, 24.0), grid_lines(state, 24.0)[-1])
