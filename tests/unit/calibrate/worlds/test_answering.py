"""One block of a world: streams that wait for their answers, arrivals that wait for nobody, and what an arm does to both."""

from dataclasses import replace

import numpy as np
import pytest

from specbench.calibrate.simulators import NoiseModel, random_of
from specbench.calibrate.worlds.answering import (
    BlockSetting,
    PairPrompts,
    SimulatedAnswer,
    SteadyWindow,
    answers_of,
    arrivals,
    prompts_for,
)
from specbench.calibrate.worlds.setting import EQUAL, Behaviour, RequestClass, World

# Steps of exactly 10 ms and prefills that no draw changes.
STILL = World(noise=NoiseModel(step_sd=0.0, block_sd=0.0), ttft_sd=0.0)
FIVE = (RequestClass(answer=(5, 5)),)
TWO_BINS = (RequestClass(name="quick"), RequestClass(name="heavy"))
WINDOW = SteadyWindow(open_ms=300.0, close_ms=1300.0)
BLOCK = BlockSetting(world=STILL, arm=EQUAL, classes=FIVE, window=WINDOW, streams=2, slower=1.0)


def answered(block: BlockSetting) -> list[SimulatedAnswer]:
    """What this block's clients saw, always of the same prompts."""
    return answers_of(block, prompts_for(block.classes, 2, None, random_of(1, "prompts")), random_of(1, "block"))


def gaps(answers: list[SimulatedAnswer]) -> list[float]:
    """All times between events."""
    return [gap for answer in answers for gap in np.diff(answer.event_ms).round(6).tolist()]


def test_an_answer_is_one_token_a_step_and_its_stream_then_asks_again() -> None:
    """Five tokens, 10 ms apart; the next request of the same stream leaves 0.2 ms after the last of them."""
    answers = answered(BLOCK)
    first, second = (answer for answer in answers if answer.stream == 0 and answer.index in (0, 2))

    assert set(gaps(answers)) == {10.0}
    assert first.tokens.tolist() == [1, 1, 1, 1, 1]
    assert second.sent_ms == pytest.approx(first.event_ms[-1] + 0.2)
    assert all(answer.sent_ms < 1300 for answer in answers)


def test_a_block_twice_as_slow_takes_twice_as_long_for_everything() -> None:
    """Steps and prefills alike."""
    slow = answered(replace(BLOCK, slower=2.0))

    assert set(gaps(slow)) == {20.0}
    assert min(answer.event_ms[0] - answer.sent_ms for answer in slow) > 130
    assert max(answer.event_ms[0] - answer.sent_ms for answer in answered(BLOCK)) < 145


def test_one_bin_alone_can_be_slowed() -> None:
    """The quick bin's steps take 1.4 times as long, the heavy one's as ever."""
    arm = Behaviour(step_ratio_of={"quick": 1.4}, ttft_ratio_of={"heavy": 3.0})
    answers = answered(replace(BLOCK, classes=TWO_BINS, arm=arm))
    quick, heavy = ([answer for answer in answers if answer.kind == kind] for kind in (0, 1))

    assert (set(gaps(quick)), set(gaps(heavy))) == ({14.0}, {10.0})
    assert min(a.event_ms[0] - a.sent_ms for a in heavy) > max(a.event_ms[0] - a.sent_ms for a in quick)


def test_a_request_that_hangs_has_no_event_and_holds_its_stream() -> None:
    """If all hang, each stream has asked once."""
    answers = answered(replace(BLOCK, arm=Behaviour(hung=1.0)))

    assert [(answer.stream, len(answer.event_ms)) for answer in answers] == [(0, 0), (1, 0)]


def test_an_answer_that_stalls_stands_still_once() -> None:
    """One gap of 2,010 ms, the rest of 10 ms."""
    answer = answered(replace(BLOCK, arm=Behaviour(stalled=1.0)))[0]

    assert sorted(gaps([answer])) == [10.0, 10.0, 10.0, 2010.0]


def test_an_engine_that_freezes_stops_all_its_streams_at_once() -> None:
    """Both streams see the same silence of 2 s."""
    answers = answered(replace(BLOCK, classes=(RequestClass(answer=(60, 60)),), arm=Behaviour(freeze=1.0)))
    silent = [(a.event_ms[:-1][np.diff(a.event_ms) > 1000]).tolist() for a in answers if max(gaps([a])) > 1000]

    assert len(silent) == 2
    assert silent[0] == silent[1]


def test_an_arm_can_slow_in_the_last_third_of_its_block() -> None:
    """Steps of 10 ms up to two thirds of the window, of 15 ms after it."""
    answers = answered(replace(BLOCK, arm=Behaviour(last_third=0.5)))
    late = [answer for answer in answers if answer.event_ms[0] > 1000]

    assert set(gaps(late)) == {15.0}
    assert set(gaps([answer for answer in answers if answer.event_ms[-1] < 960])) == {10.0}


def test_speculation_brings_several_tokens_a_step_after_the_first() -> None:
    """With every draft accepted an answer of twelve tokens is 1, 5, 5 and what is left."""
    answers = answered(replace(BLOCK, classes=(RequestClass(answer=(12, 12)),), arm=Behaviour(alpha=1.0)))

    assert answers[0].tokens.tolist() == [1, 5, 5, 1]
    assert set(gaps(answers)) == {10.0}


def test_prefills_in_line_wait_for_each_other() -> None:
    """Where one is served at once, two streams' first tokens are at least a prefill apart."""
    both = answered(replace(BLOCK, world=replace(STILL, prefills_at_once=1)))
    firsts = sorted(answer.event_ms[0] for answer in both)

    assert min(np.diff(firsts)) >= 60
    assert min(np.diff(sorted(answer.event_ms[0] for answer in answered(BLOCK)))) < 60


def test_arrivals_wait_for_a_slot_and_are_sent_all_the_same() -> None:
    """Three at once with one slot: each is sent when it is due, and begins when the one before it has ended."""
    prompts = PairPrompts(np.zeros(3, dtype=np.int64), np.full(3, 5), np.full(3, 100.0), np.zeros(3))
    block = replace(BLOCK, world=replace(STILL, slots=1), streams=None)
    answers = answers_of(block, prompts, random_of(1, "block"))

    assert [answer.sent_ms for answer in answers] == [0.0, 0.0, 0.0]
    assert [answer.event_ms[0] for answer in answers] == pytest.approx([100.0, 240.0, 380.0], abs=10.1)


def test_arrivals_come_at_their_rate_until_the_window_closes() -> None:
    """A tenth of one a millisecond, over 100 s."""
    due = arrivals(0.1, 100_000.0, random_of(1, "due"))

    assert 9_500 < len(due) < 10_500
    assert due.tolist() == sorted(due)
    assert due[-1] < 100_000
