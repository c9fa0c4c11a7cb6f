"""How a run tells people where it is, on stderr: a grid that is repainted on a terminal, one plain line a block elsewhere."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from specbench.credentials import printable_line
from specbench.model.scenario import ARMS, ArmName
from specbench.plan.trials import Trial
from specbench.run.output import tell
from specbench.run.progress_grid import MARKS, PLAIN_MARKS, BlockDone, RunState, block_line, grid_lines
from specbench.run.running_figures import Pulse, RunningFigures

REPAINTS_PER_S = 2


class RunProgress(Protocol):
    """What a run tells while it runs."""

    def say(self, message: str) -> None:
        """A line that stays."""

    def phase(self, message: str) -> None:
        """What the run does from now on, where it is no block."""

    def start(self, trials: Sequence[Trial]) -> None:
        """Load begins; these blocks will run."""

    def begin(self, trial: Trial) -> None:
        """This block begins; with both arms at once, the first of a pair."""

    def pulse(self, arm: ArmName, pulse: Pulse) -> None:
        """What the arm under load shows now; comes once a second, of both arms at once from two threads."""

    def block(self, done: int, trial: Trial, figures: RunningFigures) -> None:
        """Block number `done` (from 1) has ended, with these figures."""


class _Followed:
    """Keeps the state of the run by the clock."""

    def __init__(self) -> None:
        self._state = RunState(trials=(), began_s=time.monotonic())
        self._pulses: dict[ArmName, Pulse] = {}
        self._cell = ""

    def start(self, trials: Sequence[Trial]) -> None:
        """Notes the blocks that will run."""
        self._state = replace(self._state, trials=tuple(trials))

    def begin(self, trial: Trial) -> None:
        """Notes the block at hand, and when it began; pulses of another load are over."""
        if self._cell != trial.cell.id:
            self._cell = trial.cell.id
            self._pulses.clear()
        self._state = replace(self._state, at_hand=trial, since_s=time.monotonic())

    def phase(self, message: str) -> None:
        """Notes what the run does beside its blocks."""
        self._state = replace(self._state, at_hand=None, phase=message, since_s=time.monotonic())

    def pulse(self, arm: ArmName, pulse: Pulse) -> None:
        """Notes what the arm shows now."""
        self._pulses[arm] = pulse

    def _ended(self, trial: Trial, figures: RunningFigures) -> None:
        now = time.monotonic()
        done = BlockDone(trial, figures, now - self._state.since_s)
        self._state = replace(self._state.with_block(done), since_s=now)  # of two at once, the second took no time of its own


class LiveProgress(_Followed):
    """A grid of loads and pairs with the block under way, for terminals; it is gone at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._console = Console(stderr=True, highlight=False)
        self._marks = MARKS if (self._console.encoding or "").lower().startswith("utf") else PLAIN_MARKS
        self._live = Live(get_renderable=self._painted, console=self._console, transient=True, refresh_per_second=REPAINTS_PER_S)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError):  # the terminal is gone
            self._live.stop()

    def say(self, message: str) -> None:
        """Prints the line above the grid."""
        with suppress(OSError):
            self._console.print(printable_line(message), markup=False)

    def block(self, done: int, trial: Trial, figures: RunningFigures) -> None:
        """Marks the block in the grid and adds its figures."""
        self._ended(trial, figures)

    def _painted(self) -> Text:
        if not self._state.trials:
            return Text(printable_line(self._state.phase or "starting"))
        state = replace(self._state, pulses=tuple((arm, self._pulses[arm]) for arm in ARMS if arm in self._pulses))
        lines = grid_lines(state, time.monotonic(), self._console.width, self._marks)
        return Text("\n".join(map(printable_line, lines)), no_wrap=True, overflow="crop")


class LogProgress(_Followed):
    """One line a block with the time since the start, for CI logs and terminals that cannot repaint."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return

    def say(self, message: str) -> None:
        """Prints the line."""
        tell(message)

    def phase(self, message: str) -> None:
        """Prints what the run does beside its blocks."""
        super().phase(message)
        self.say(f"[{time.monotonic() - self._state.began_s:6.1f} s] {message}")

    def block(self, done: int, trial: Trial, figures: RunningFigures) -> None:
        """Prints the block's line."""
        self._ended(trial, figures)
        now = time.monotonic()
        self.say(f"[{now - self._state.began_s:6.1f} s] {block_line(self._state, now)}")


def progress_on() -> LiveProgress | LogProgress:
    """The grid on a terminal that can repaint, plain lines elsewhere."""
    repaints = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "")
    return LiveProgress() if repaints else LogProgress()
