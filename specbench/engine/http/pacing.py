"""Lets virtual time pass: steps are computed, and their outputs leave when the accelerator would have had them.

The only reader of the clock in the engine, besides the stamps of what was sent. Step k + 1 begins when step k was due, so that
small lateness does not add up; a step whose computing outlasts its time is counted. After a stall of the machine the next step
begins when the late one left: an accelerator does not hurry to catch up, and two steps must not leave at once.
"""

import asyncio
import select
import selectors
import time
from collections.abc import Callable

from specbench.engine.core.core import Engine, Step
from specbench.engine.core.truth import Timing
from specbench.units import NS_PER_MS, NS_PER_S, ns_of_s

STALL_NS = 2 * NS_PER_MS

# Gets a step when it is due, with the moments at which it began and was due.
Deliver = Callable[[Step, int, int], None]


class Pacer:
    """Drives one engine in real time, every step `factor` times as long as its accelerator takes."""

    def __init__(self, engine: Engine, factor: float, timing: Timing, deliver: Deliver) -> None:
        self._engine = engine
        self._factor = factor
        self._timing = timing
        self._deliver = deliver
        self._work = asyncio.Event()

    def wake(self) -> None:
        """Says that a request has been submitted."""
        self._work.set()

    async def run(self) -> None:
        """Steps until cancelled."""
        due_ns = 0
        while True:
            if not self._engine.busy:
                self._work.clear()
                await self._work.wait()
                due_ns = time.monotonic_ns()
            due_ns = await self._step(due_ns)

    async def _step(self, began_ns: int) -> int:
        started_ns = time.monotonic_ns()
        step = self._engine.step()
        if step is None:
            raise RuntimeError("the engine has requests but none that can take part in a step")
        seconds = step.seconds * self._factor
        due_ns = began_ns + ns_of_s(seconds)
        ready_ns = time.monotonic_ns()
        self._timing.step_s += seconds
        self._timing.computing_s += (ready_ns - started_ns) / NS_PER_S
        if ready_ns > due_ns:
            self._timing.overrun_steps += 1
            due_ns = ready_ns
        else:
            await asyncio.sleep((due_ns - ready_ns) / NS_PER_S)
            woke_ns = time.monotonic_ns()
            if woke_ns - due_ns > STALL_NS:
                self._timing.late_steps += 1
                due_ns = woke_ns
        self._deliver(step, began_ns, due_ns)
        # Clients are written to before the next step is computed.
        await asyncio.sleep(0)
        return due_ns


class PreciseSelector(selectors.DefaultSelector):
    """The platform's selector with timeouts to the microsecond.

    epoll counts whole milliseconds and Python rounds them up, which would make every step up to a millisecond late. An epoll
    descriptor can itself be waited for by select(2), whose timeout is finer. Other selectors are precise by themselves.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0 and hasattr(select, "epoll"):
            select.select([self.fileno()], [], [], timeout)
            timeout = 0
        return super().select(timeout)
