"""Whether speculation pays at today's load: tokens per step against the step cost that the cited run measured there.

It needs no second arm. Acceptance alone does not see the load: with equal acceptance a larger batch makes a step dearer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specbench.analysis.live import live_figures as figures
from specbench.explain.live import live_reasons
from specbench.model.live.cited_run import CitedRun, TestedLoad
from specbench.model.live.live_period import LivePeriod
from specbench.model.result import Reason

LOSING_WINDOWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """What a window's tokens per step are worth: `needed` at its batch, and the speed-up that follows by the model."""

    batch: float
    tokens: float
    needed: float

    @property
    def speed_up(self) -> float:
        """Tokens per step ÷ what breaks even."""
        return self.tokens / self.needed


def break_even(window: LivePeriod, run: CitedRun) -> BreakEven | None:
    """The window held against the run's step cost; None where the engine does not tell or the load is beyond all tested ones."""
    batch, tokens = figures.batch_size(window), figures.tokens_per_step(window)
    needed = None if batch is None else step_ratio_at(run.loads, batch)
    return None if batch is None or tokens is None or needed is None else BreakEven(batch=batch, tokens=tokens, needed=needed)


def step_ratio_at(loads: Sequence[TestedLoad], batch: float) -> float | None:
    """The step-time ratio at this batch: linear between tested loads, that of the lowest below it, None above the highest."""
    if not loads or batch > loads[-1].batch * 1.05:
        return None
    if batch <= loads[0].batch:
        return loads[0].step_ratio
    for low, high in pairwise(loads):
        if batch <= high.batch:
            return low.step_ratio + (high.step_ratio - low.step_ratio) * (batch - low.batch) / (high.batch - low.batch)
    return loads[-1].step_ratio


def below_break_even(windows: Sequence[LivePeriod], run: CitedRun) -> Reason | None:
    """An alarm where the newest three windows all lose, with the cause; None while one of them does not."""
    found = [break_even(window, run) for window in windows[-LOSING_WINDOWS:]]
    losing = [one for one in found if one is not None and one.speed_up < 1]
    if len(losing) < LOSING_WINDOWS:
        return None
    newest = losing[-1]
    return live_reasons.below_break_even(cause(newest, run), newest.speed_up, newest.tokens, newest.needed, newest.batch)


def cause(found: BreakEven, run: CitedRun) -> live_reasons.Cause:
    """What loses: today's load with the run's tokens per step, today's tokens at the run's load, or only both together."""
    tested = run.primary
    if tested is None or tested.tokens_per_step is None:
        return "both"
    by_load = tested.tokens_per_step < found.needed
    by_acceptance = found.tokens < tested.step_ratio
    if by_load == by_acceptance:
        return "both"
    return "load" if by_load else "acceptance"
