"""Server-sent events out of a body, to the letter of the WHATWG text with one exception. Knows no JSON and no time.

Lines end in LF, CRLF or CR and in nothing else; a line that starts with a colon is a comment; an event is what a blank line
ends; without data it is none, whatever other fields came. The exception: an event that the end of the body cuts off before
its blank line is given, marked, where the text drops it; engines do end like that.
https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NOTHING = re.compile(rb"(?:(?::[^\r\n]*)?(?:\r\n|\n|\r))++")  # comments and blank lines outside an event
_NOTHING_BEGINS = (b"\n", b":", b"\r")
_LINE_END = re.compile(rb"\r\n|\n|\r")
MOST_DATA_LINES = 100_000
"""Lines of one event that are kept: an answer's events have one."""

BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its data, its name where it has one, and the offset in the body just past the byte that completed it."""

    data: bytes
    name: bytes
    end: int
    terminated: bool


def events_of(body: bytes) -> list[Event]:
    """The events of a whole body, in order."""
    return list(one_by_one(body))


def one_by_one(body: bytes) -> Iterator[Event]:
    """The events of a whole body, in order, none before it is asked for: a body of millions need not be held twice."""
    data: list[bytes] = []
    name = b""
    offset = 0
    for line, end in _lines(body):
        offset = end
        if line.startswith(b"data:"):
            if len(data) < MOST_DATA_LINES:
                data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
        elif not line:
            if whole := b"\n".join(data):
                yield Event(whole, name, end, True)
            data, name = [], b""
        elif line.startswith(b"event:"):
            name = line[6:].removeprefix(b" ")
        elif line == b"data" and len(data) < MOST_DATA_LINES:
            data.append(b"")
    if whole := b"\n".join(data):
        yield Event(whole, name, offset, False)


def _lines(body: bytes) -> Iterator[tuple[bytes, int]]:
    """Lines without their ends, each with the offset just past the first byte of its end; the rest is a line too, if any.

    Comments and blank lines behind a blank line mean nothing and are left out: a stream may consist of nothing else.
    """
    start = _behind_nothing(body, len(BOM) if body.startswith(BOM) else 0)
    if b"\r" in body:
        while mark := _LINE_END.search(body, start):
            yield body[start : mark.start()], mark.start() + 1
            start = _behind_nothing(body, mark.end()) if mark.start() == start else mark.end()
    else:
        while (end := body.find(b"\n", start)) >= 0:
            yield body[start:end], end + 1
            start = _behind_nothing(body, end + 1) if start == end else end + 1
    if start < len(body):
        yield body[start:], len(body)


def _behind_nothing(body: bytes, start: int) -> int:
    nothing = _NOTHING.match(body, start) if body.startswith(_NOTHING_BEGINS, start) else None
    return start if nothing is None else nothing.end()
