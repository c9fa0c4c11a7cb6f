"""Server-sent events out of a body, to the letter of the WHATWG text with one exception. Knows no JSON and no time.

Lines end in LF, CRLF or CR and in nothing else; a line that starts with a colon is a comment; an event is what a blank line
ends; without data it is none, whatever other fields came. The exception: an event that the end of the body cuts off before
its blank line is given, marked, where the text drops it; engines do end like that.
https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6
"""

import re
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its data, its name where it has one, and the offset in the body just past the byte that completed it."""

    data: bytes
    name: bytes
    end: int
    terminated: bool


def events_of(body: bytes) -> list[Event]:
    """The events of a whole body, in order."""
    found: list[Event] = []
    data: list[bytes] = []
    name = b""
    offset = 0
    for line, end in _lines(body):
        offset = end
        if line.startswith(b"data:"):
            data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
        elif not line:
            if whole := b"\n".join(data):
                found.append(Event(whole, name, end, True))
            data, name = [], b""
        elif line.startswith(b"event:"):
            name = line[6:].removeprefix(b" ")
        elif line == b"data":
            data.append(b"")
    if whole := b"\n".join(data):
        found.append(Event(whole, name, offset, False))
    return found


def _lines(body: bytes) -> list[tuple[bytes, int]]:
    """Lines without their ends, each with the offset just past the first byte of its end; the rest is a line too, if any."""
    start = len(BOM) if body.startswith(BOM) else 0
    lines = []
    if b"\r" in body:
        for mark in _LINE_END.finditer(body, start):
            lines.append((body[start : mark.start()], mark.start() + 1))
            start = mark.end()
    else:
        while (end := body.find(b"\n", start)) >= 0:
            lines.append((body[start:end], end + 1))
            start = end + 1
    if start < len(body):
        lines.append((body[start:], len(body)))
    return lines
