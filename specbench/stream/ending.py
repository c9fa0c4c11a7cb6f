"""Notices that an event stream has said that it is over, read by read, without decoding what only brings tokens. Pure."""

import re
from typing import Final

from specbench.stream.decoded_body import LARGEST_BODY
from specbench.stream.parse_stream import ODD_DONE, parse_stream

LARGEST_LOOK = LARGEST_BODY // 2
"""Bytes that are looked into in all: a stream that always seems to end must not take the time of others."""

LONGEST_EVENT = 1024 * 1024
"""Bytes behind a blank line that can be an end: a mark is short, and so is an error."""

PIECE_BYTES = 16  # what a read counts for beside its bytes

MARK, ERROR_WORD = b"DONE", b"error"
"""What stands in an event that may end the answer; most hold neither."""

MARK_BYTE = MARK[0]  # a capital, which most events have none of: one byte is looked for in no time

_LONGEST_WORD: Final = 5
_BLANKS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LINE_ENDS = (b"\n", b"\r")
_LINE_END = re.compile(rb"[\r\n]")
_ODD_MARK = re.compile(rb"(?:^|[\r\n])data: *" + ODD_DONE.pattern + rb" *[\r\n]")

ERROR = re.compile(
    rb'"error"\s*:(?!\s*(?:null|false|0|""|\{\s*\}|\[\s*\]))'
    rb'|"(?:object|finish_reason)"\s*:\s*"error"'
    rb"|(?:^|[\r\n])event: ?error[\r\n]"
)
"""An error that says anything: some servers send an empty one in every event, which is none in `parse_stream.py` either. The word
as a token of the answer is none."""


class StreamEnding:
    """Tells whether the stream is over with a read: after its end mark, or an error.

    It is to be asked where MARK or ERROR_WORD is in the read, or where it is `open`: where the read before ended inside a line
    (`left_open`), or in an event that may be the end. What may be the end is read as the decoder reads it, from the last blank
    line on; the same words in a text are none.

    Args:
        pieces: the body without its encoding, in the hands of who calls; the read that is asked for is its last.
    """

    __slots__ = ("_aligned", "_looked", "_looked_whole", "_pieces", "_start", "_suspect", "_tail", "open")

    def __init__(self, pieces: list[bytes]) -> None:
        self.open = False
        self._pieces = pieces
        self._start = 0  # no event at hand begins in an earlier piece than this
        self._aligned = True  # whether one begins where that piece does
        self._suspect = False  # whether what has come of the event at hand may be the end
        self._tail = b""
        self._looked = 0
        self._looked_whole = False

    def left_open(self, read: bytes) -> None:
        """A read for which there was no need to ask ended inside a line: a word may be split."""
        self._tail = read[-_LONGEST_WORD:]
        self.open = True

    def over(self, read: bytes) -> bool:
        """Whether the stream is over with this read."""
        text = self._tail + read
        if (self._suspect or MARK in text or ERROR_WORD in text) and self._look():
            return True
        self._tail = b"" if read.endswith(_LINE_ENDS) else text[-_LONGEST_WORD:]
        self.open = self._suspect or bool(self._tail)
        return False

    def _look(self) -> bool:
        if self._looked > LARGEST_LOOK:
            self._suspect = False
            return False
        place = len(self._pieces) - 1
        while place > self._start and not self._pieces[place - 1].endswith(_BLANKS):
            place -= 1
        if place > self._start:
            self._start, self._aligned = place, True
        window = b"".join(self._pieces[place:])
        self._looked += len(window) + PIECE_BYTES * (len(self._pieces) - place)
        if not self._aligned:
            line_end = _LINE_END.search(window)
            window = window[line_end.end() :] if line_end else b""
        if len(window) <= LONGEST_EVENT and (MARK in window or ERROR.search(window)):
            answer = parse_stream(window)
            half = "unterminated" in answer.flags and not window.rstrip().endswith(b"}")  # there is more of the error to come
            if answer.done or (answer.error is not None and not half) or (_ODD_MARK.search(window) and self._ended_before()):
                return True
        self._move_on(window)
        return False

    def _ended_before(self) -> bool:
        """Whether the whole answer had its finish before an odd mark; asked once, as all of it is read for that."""
        if self._looked_whole:
            return False
        self._looked_whole = True
        return parse_stream(b"".join(self._pieces)).done

    def _move_on(self, window: bytes) -> None:
        """What stands before the last blank line need not be looked at again."""
        blank = max(window.rfind(blank) + len(blank) if blank in window else 0 for blank in _BLANKS)
        left = window[blank:]
        self._suspect = MARK in left or ERROR_WORD in left
        if blank:
            behind, place = 0, len(self._pieces)
            while behind < len(left):
                place -= 1
                behind += len(self._pieces[place])
            self._start, self._aligned = place, behind == len(left)
