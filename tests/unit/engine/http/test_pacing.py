"""Virtual time passes as it should: steps end when due, and lateness does not add up."""

import asyncio
import socket
import time

import pytest

from specbench.engine.core.core import Step
from specbench.engine.core.output_text import OutputLimits
from specbench.engine.core.truth import Timing
from specbench.engine.http.pacing import Pacer, PreciseSelector
from specbench.units import ns_of_s
from tests.support.engines import generation, small_engine


def paced(factor: float = 1.0) -> tuple[list[tuple[Step, int, int]], Timing]:
    """One answer of six tokens, paced: each step with its beginning and its due moment."""
    engine = small_engine()
    timing = Timing()
    delivered: list[tuple[Step, int, int]] = []

    async def run() -> None:
        pacer = Pacer(engine, factor, timing, lambda *step: delivered.append(step))
        task = asyncio.create_task(pacer.run())
        await asyncio.sleep(0)
        engine.submit("a", generation(limits=OutputLimits(6)))
        pacer.wake()
        while engine.busy or len(delivered) < 6:
            await asyncio.sleep(0.002)
        task.cancel()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(PreciseSelector())) as runner:
        runner.run(run())
    return delivered, timing


def test_a_step_begins_when_the_one_before_was_due() -> None:
    """Six steps in a row without a gap, whatever the clock said when they were delivered."""
    delivered, _ = paced()

    assert len(delivered) == 6
    assert [began for _, began, _ in delivered[1:]] == [due for *_, due in delivered[:-1]]


def test_steps_take_their_virtual_time() -> None:
    """Exactly, unless computing took longer; and none is delivered before it is due."""
    delivered, timing = paced()
    overrun = [due - began != ns_of_s(step.seconds) for step, began, due in delivered]

    assert sum(overrun) == timing.overrun_steps + timing.late_steps
    assert all(due - began >= ns_of_s(step.seconds) for step, began, due in delivered)
    assert time.monotonic_ns() >= delivered[-1][2]


def test_a_slowed_engine_takes_longer() -> None:
    """30 % more for every step, and the sum says so."""
    delivered, timing = paced(1.3)
    expected = sum(step.seconds for step, *_ in delivered) * 1.3

    assert abs(timing.step_s - expected) < 1e-9
    assert all(due - began >= ns_of_s(step.seconds * 1.3) for step, began, due in delivered)


def test_an_engine_that_is_not_timed_takes_a_part_of_the_time() -> None:
    """A tenth for every step, or as long as it takes to compute."""
    delivered, timing = paced(0.1)

    assert timing.step_s == pytest.approx(sum(step.seconds for step, *_ in delivered) / 10)
    assert all(due - began >= ns_of_s(step.seconds * 0.1) for step, began, due in delivered)


def test_the_selector_sees_events_and_keeps_timeouts() -> None:
    """A waiting byte is reported at once, and without one it waits at least as long as asked."""
    selector = PreciseSelector()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        selector.register(ours, 1)
        began = time.monotonic()
        assert selector.select(0.0103) == []
        assert time.monotonic() - began >= 0.0103
        assert selector.select(0) == []
        theirs.send(b"x")
        ((key, _),) = selector.select(10)
        assert key.fileobj is ours
        ((key, _),) = selector.select()
        assert key.fileobj is ours
    selector.close()
