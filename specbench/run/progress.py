"""How a run tells people where it is: one live line on a terminal, one plain line a block elsewhere. Goes to stderr."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from specbench.credentials import printable_line
from specbench.run.output import tell


class RunProgress(Protocol):
    """What a run tells while it runs."""

    def say(self, message: str) -> None:
        """A line that stays."""

    def start(self, blocks: int) -> None:
        """Load begins; that many blocks will run."""

    def block(self, done: int, description: str) -> None:
        """Block number `done` (from 1) has ended; `description` says which and what it saw."""


class LiveProgress:
    """A bar with the block under way, for terminals."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=self._console, transient=True)
        self._task = self._progress.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError):  # the terminal is gone
            self._progress.stop()

    def say(self, message: str) -> None:
        """Prints the line above the bar."""
        with suppress(OSError):
            self._console.print(printable_line(message), markup=False)

    def start(self, blocks: int) -> None:
        """Gives the bar its length."""
        self._progress.update(self._task, total=blocks, description="measuring")

    def block(self, done: int, description: str) -> None:
        """Moves the bar."""
        self._progress.update(self._task, completed=done, description=description[:40])


class LogProgress:
    """One line a block with the time since the start, for CI logs."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._blocks = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return

    def say(self, message: str) -> None:
        """Prints the line."""
        tell(message)

    def start(self, blocks: int) -> None:
        """Notes the number of blocks."""
        self._blocks = blocks

    def block(self, done: int, description: str) -> None:
        """Prints the block's line."""
        self.say(f"[{time.monotonic() - self._began:6.1f} s] {done:3d}/{self._blocks} {description}")


def progress_on() -> LiveProgress | LogProgress:
    """The live line on a terminal, plain lines elsewhere."""
    return LiveProgress() if sys.stderr is not None and sys.stderr.isatty() else LogProgress()
