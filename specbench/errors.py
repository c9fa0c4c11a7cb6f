"""Everything that ends a command early, and the exit codes that users script against.

SpecbenchError
├── ScenarioError       64  the scenario (or what overrides it) is wrong
├── DataError           65  a run folder or a data file cannot be read
├── UnreachableError    69  an endpoint does not answer, or answers an error to the first request
├── RefusedError        30  the arms cannot be compared: no streaming, another model, unequal arms
└── InternalError       70  the program broke a promise to itself
A message is one line: what, where, what to try. A failed request is no error but a record with an outcome.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process answers; 1 and 2 never carry a verdict (Python and command-line parsers use them)."""

    PROMOTE = 0
    HOLD = 10
    CAPPED = 11
    ROLLBACK = 20
    INVALID = 30
    COMMAND_LINE = 2
    SCENARIO = 64
    DATA = 65
    UNREACHABLE = 69
    INTERNAL = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of these names that the word was probably meant to be; None where none is near."""
    names = {name.casefold(): name for name in known}
    asked = word.strip().casefold()
    found = get_close_matches(asked, names, n=5, cutoff=0.6)
    # Of equally near ones that with the same beginning: people mistype the middle of a word.
    found.sort(key=lambda name: (-SequenceMatcher(None, asked, name).ratio(), name[:1] != asked[:1]))
    return names[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """'; did you mean NAME?', to end an error with; '' where no name is near."""
    name = nearest(word, known)
    return "" if name is None else f"; did you mean {name}?"


class SpecbenchError(Exception):
    """A command cannot go on; the message is one line that says what, where and what to try."""

    exit_code = ExitCode.INTERNAL


class Interrupted(BaseException):
    """The command was asked to end by a signal; what was measured has been kept."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class ScenarioError(SpecbenchError):
    """The scenario, or an option that overrides it, is wrong."""

    exit_code = ExitCode.SCENARIO


class DataError(SpecbenchError):
    """A run folder or a data file cannot be read."""

    exit_code = ExitCode.DATA


class UnreachableError(SpecbenchError):
    """An endpoint does not answer, or answered the first request with an error."""

    exit_code = ExitCode.UNREACHABLE


class RefusedError(SpecbenchError):
    """The arms cannot be compared; nothing was measured."""

    exit_code = ExitCode.INVALID


class InternalError(SpecbenchError):
    """A part of the program broke a promise to another; please report it."""

    exit_code = ExitCode.INTERNAL
