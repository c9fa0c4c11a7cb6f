"""Writes what people and programs read to standard output and error. A stream that fails costs its text, never an exit code.

A reader that is gone (`| true`), a full disk, a closed descriptor and a console that lacks a character are told in one line on
standard error, and never as a traceback.
"""

import codecs
import contextlib
import errno
import os
import sys
from typing import TextIO

from specbench.credentials import printable, printable_line
from specbench.errors import DataError

_PLAIN = {
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{DIVISION SIGN}": "/",
    "\N{INFINITY}": "inf",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{ALMOST EQUAL TO}": "~",
    "\N{PLUS-MINUS SIGN}": "+/-",
    "\N{GREEK SMALL LETTER ALPHA}": "alpha",
    "\N{GREEK SMALL LETTER GAMMA}": "gamma",
}
"""What stands for a character where the console has none; a question mark for every other one."""

_HANDLER = "specbench.plain"


def prepare() -> None:
    """Lets both streams write every character in some form, and keeps closed ones from being taken by the next open file."""
    codecs.register_error(_HANDLER, _in_plain)
    with contextlib.suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:  # a closed standard stream: the lowest number is given first
            os.set_inheritable(opened, True)
        os.close(opened)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def say(text: str, styled: bool = False) -> None:
    """Prints the text on standard output, fit for a terminal; where that fails, says so on standard error, and no more.

    A styled text has colours of this program's own and was made fit for a terminal before they were put in.
    """
    lost = _written(sys.stdout, text if styled else printable(text))
    if lost is not None:
        tell(f"specbench: standard output cannot be written ({lost}); its text is lost, the exit code stands")


def deliver(content: str | bytes) -> None:
    """Prints what a command was asked for, as it is; a reader that has gone wants no more of it.

    Raises:
        DataError: it cannot be written for another reason.
    """
    lost = _written(sys.stdout, content)
    if lost is not None and lost != os.strerror(errno.EPIPE):
        raise DataError(f"standard output cannot be written ({lost}); send it elsewhere")
    if lost is not None:
        tell(f"specbench: standard output cannot be written ({lost}); the rest of its text is lost")


def tell(line: str) -> None:
    """Prints the line on standard error, fit for a terminal, if there is one that can be written."""
    _written(sys.stderr, printable_line(line))


def _written(stream: TextIO | None, content: str | bytes) -> str | None:
    """Why the stream did not take the text; None where it did. One that failed is not written to again."""
    if stream is None:
        return "it is closed"
    try:
        if isinstance(content, bytes):
            stream.flush()
            stream.buffer.write(content)
        else:
            stream.write(f"{content}\n")
        stream.flush()
    except (OSError, ValueError) as error:  # ValueError: it was closed meanwhile
        _silence(stream)
        return error.strerror if isinstance(error, OSError) and error.strerror else "it is closed"
    return None


def _silence(stream: TextIO) -> None:
    """What the stream still holds goes nowhere: the interpreter would try again at its end, and exit with 120."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end
