"""Which progress a run shows, and what a log gets of each block."""

import re
import sys

import pytest

from specbench.plan.trials import cells_of, trials_of
from specbench.run.progress import LiveProgress, LogProgress, progress_on
from specbench.run.running_figures import Pulse, RunningFigures
from tests.support.scenarios import code

FIGURES = RunningFigures(ok=12, failed=0, tpot_ms=12.3, tokens_per_s=79.2)


class Terminal:
    """A standard error that is a terminal and keeps what it is given."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Keeps the text."""
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, term: str = "xterm") -> Terminal:
    """Standard error as a terminal of 80 columns from now on."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", term)
    return made


@pytest.mark.parametrize(("term", "kind"), [("xterm-256color", LiveProgress), ("dumb", LogProgress), ("", LogProgress)])
def test_a_terminal_that_cannot_repaint_gets_lines(
    monkeypatch: pytest.MonkeyPatch, term: str, kind: type[LiveProgress] | type[LogProgress]
) -> None:
    """As a pipe does."""
    terminal(monkeypatch, term)

    assert type(progress_on()) is kind


def test_a_pipe_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A line a block, with the time since the start."""
    trials = trials_of(code(), cells_of(code()))
    with progress_on() as shown:
        shown.start(trials)
        shown.begin(trials[0])
        shown.block(1, trials[0], FIGURES)

    assert re.fullmatch(r"\[ +0\.\d s\]   1/24 .+: 12 ok, 0 failed, TPOT 12.3 ms, 79.2 tok/s.*\n", capsys.readouterr().err)


def test_the_grid_is_painted_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was said stays; the last thing written takes the grid away."""
    shown_on = terminal(monkeypatch)
    trials = trials_of(code(), cells_of(code()))
    with progress_on() as shown:
        shown.start(trials)
        shown.begin(trials[0])
        shown.say("a line that stays")
        shown.block(1, trials[0], FIGURES)

    assert "a line that stays" in shown_on.text
    assert "□" in shown_on.text
    assert "◧" not in shown_on.text.rsplit("\x1b[2K", 1)[-1]


@pytest.mark.parametrize(("load", "shown"), [("the same", [True, True]), ("another", [False, False])])
def test_pulses_of_both_arms_stand_until_another_load_begins(
    monkeypatch: pytest.MonkeyPatch, load: str, shown: list[bool]
) -> None:
    """The baseline's last figures stay while speculation is under load; those of another load go."""
    terminal_text = terminal(monkeypatch)
    trials = trials_of(code(), cells_of(code()))
    other = next(trial for trial in trials if trial.cell.id != trials[0].cell.id)
    with progress_on() as watcher:
        watcher.start(trials)
        watcher.begin(trials[0])
        watcher.pulse("baseline", Pulse(71.5, 51.0, 12.5, None, 0.1))
        watcher.block(1, trials[0], FIGURES)
        watcher.begin(trials[1])
        watcher.pulse("speculative", Pulse(63.5, 51.0, 17.5, 2.5, 0.1))
        watcher.begin(trials[1] if load == "the same" else other)

    assert [f"{figure} tok/s" in terminal_text.text for figure in ("71.5", "63.5")] == shown
