"""One request and its answer while they happen: stamps, body bytes, limits. Reads no clock and no socket: it is told."""

from array import array
from dataclasses import dataclass

import httptools

from specbench.model.captures import UNKNOWN
from specbench.model.records import Outcome, StampSource
from specbench.stream.decoded_body import LARGEST_BODY, Unpacking, unpacking_of
from specbench.stream.ending import ERROR, ERROR_WORD, MARK, MARK_BYTE, PIECE_BYTES, StreamEnding
from specbench.stream.http_response import ResponseParser
from specbench.units import ns_of_s

STEP_NS = 200_000
"""A change of the offset between realtime and monotonic clock beyond this is a step of the former: slewing moves both alike,
and the offset is known to a few microseconds."""

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes that a body may go on without a line end. One event carries a few tokens; images and logits do not come by line."""

LINE_FEED = 10

LARGEST_HEAD = 256 * 1024
"""Bytes of an answer's head that are read, interim answers included; the largest that servers and proxies allow is less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Limits of one request in seconds: opening a connection, silence before and between tokens, and the whole.

    `first_token_s` runs from the moment the request was sent, `between_tokens_s` from the last read that held a `data:`
    line (a comment keeps a connection open, it is no token) or anything of a compressed body, `total_s` from the moment the
    request was sent.
    """

    connect_s: float = 10.0
    first_token_s: float = 120.0
    between_tokens_s: float = 30.0
    total_s: float = 600.0


class Exchange:
    """What one request met on its way. The transport fills it, also where the request fails.

    A frame is what one read delivered of the body: `stamps[i]`, `reads[i]`, `firsts[i]` and `pieces[i]` belong together. When
    the first bytes of a frame were there is for an event loop to know, and to write into `firsts`.
    """

    def __init__(self, limits: Timeouts) -> None:
        self._first_token_ns = ns_of_s(limits.first_token_s)
        self._between_tokens_ns = ns_of_s(limits.between_tokens_s)
        self._total_ns = ns_of_s(limits.total_s)
        self.connect_ns: int | None = None
        self.retries = 0
        self.reused = False
        self.clock_step = False
        self.end_ns = 0
        self.begin(0, 0)

    def begin(self, now_ns: int, offset_ns: int) -> None:
        """A request is being made ready; nothing of an answer has been seen.

        `offset_ns` is what a kernel stamp needs to be on the monotonic clock.
        """
        self.sent(now_ns)
        self._offset_ns = offset_ns
        self.problem: Outcome | None = None
        self.problem_text: str | None = None
        self.finished = False  # whether nothing more is to be read, for good or ill
        self.over = False  # whether the stream itself said that it is: by its end mark, or by an error
        self.data_after_end = False  # whether there was more after that
        self.touched = False  # whether any byte of an answer has come: then the request must not be sent again
        self.framing = ResponseParser()
        self.stamps = array("q")
        self.reads = array("q")
        self.firsts = array("q")
        self.pieces: list[bytes] = []
        self._unstamped = 0
        self._unpacking: Unpacking | None = None
        self._plain = self.pieces  # without its encoding, where the body has one
        self._ending = StreamEnding(self._plain)
        self._open_line = 0
        self._size = 0
        self._head_size = 0
        self._data_lines = 0
        self._token_ns: int | None = None

    def sent(self, now_ns: int) -> None:
        """The very next thing is to write the request: here its clock starts."""
        self.sent_ns = self._last_ns = now_ns

    def take(self, data: bytes, stamp_ns: int | None, read_ns: int) -> bool:
        """Keep what one read delivered; `stamp_ns` is the kernel's (realtime), None where it gave none.

        This runs once per token and stream, between two reads: it does what cannot wait, and no more.

        Returns: whether it was a frame: whether there was anything of the body in it.
        """
        self.touched = True
        try:
            body = self.framing.feed(data)
        except httptools.HttpParserError as error:
            self.fail("protocol_error", f"not HTTP: {error}")
            return False
        self._last_ns = read_ns if stamp_ns is None else stamp_ns + self._offset_ns
        if body and self.over:
            self.data_after_end = True
            return False
        if body:
            if stamp_ns is None:
                self._unstamped += 1
            self.stamps.append(self._last_ns)
            self.reads.append(read_ns)
            self.firsts.append(UNKNOWN)
            self.pieces.append(body)
            size = self._size
            if not size:
                self._unpacking = unpacking_of(self.framing.headers)
            self._size = size = size + len(body) + PIECE_BYTES
            plain = body if self._unpacking is None else self._unpacked(body, self._unpacking)
            if plain:  # `find` takes half the time of `in`, `rfind` two thirds of that, and a single byte a tenth
                if plain.find(b"data:") >= 0 and (self._token_ns is not None or self._holds_token(plain)):
                    self._token_ns = read_ns
                ending = self._ending
                whole_lines = plain[-1] == LINE_FEED
                if ending.open or (MARK_BYTE in plain and plain.rfind(MARK) >= 0) or plain.rfind(ERROR_WORD) >= 0:
                    self.over = self.finished = ending.over(plain)
                elif not whole_lines:
                    ending.left_open(plain)
                if whole_lines and size <= LARGEST_BODY:
                    self._open_line = 0
                elif not self.over:
                    self._measure(plain)
        elif self.framing.status is None:
            self._head_size += len(data)
            if self._head_size > LARGEST_HEAD:
                self.fail("protocol_error", f"a head of more than {LARGEST_HEAD} bytes")
        if self.framing.complete:
            self.finished = True
        return bool(body)

    def _unpacked(self, body: bytes, unpacking: Unpacking) -> bytes:
        """The bytes behind the content encoding that came to light with this read; what cannot be decoded is not looked into."""
        if self._plain is self.pieces:
            self._plain = []
            self._ending = StreamEnding(self._plain)
        plain = unpacking.feed(body)
        if plain:
            self._plain.append(plain)
        if self._encoded():
            self._token_ns = self.reads[-1]
        if unpacking.too_large:
            self.fail("protocol_error", unpacking.problem or "")
        elif not plain:
            self._measure(plain)
        return plain

    def _measure(self, plain: bytes) -> None:
        """Neither a line nor the whole may grow without end."""
        line_end = max(plain.rfind(b"\n"), plain.rfind(b"\r"))
        self._open_line = self._open_line + len(plain) if line_end < 0 else len(plain) - line_end - 1
        if self._open_line > LONGEST_LINE:
            self.fail("line_too_long", f"more than {LONGEST_LINE} bytes without a line end")
        elif self._size > LARGEST_BODY:
            self.fail("protocol_error", f"an answer of more than {LARGEST_BODY} bytes")

    def _holds_token(self, body: bytes) -> bool:
        """Whether events seen so far can hold a token: one that only names the role comes before the prompt is read."""
        self._data_lines += body.count(b"data:")
        return self._data_lines > 1 or b'"role":' not in body

    def _encoded(self) -> bool:
        """Whether events cannot be seen from here, so that any byte of the body may be a token."""
        return self._unpacking is not None and not self._unpacking.plain

    def closed(self) -> bool:
        """Whether the answer is whole now that the peer has closed."""
        self.finished = whole = self.framing.closed()
        return whole

    @property
    def looks_successful(self) -> bool:
        """Whether the answer looks like tokens from outside; what it says is for the decoder to judge.

        Where the body is encoded and cannot be decoded here, status and problem decide.
        """
        status = self.framing.status
        well = self.problem is None and status is not None and 200 <= status < 300
        return well and self._token_ns is not None and not ERROR.search(b"".join(self._plain[-2:]))

    def deadline(self) -> tuple[int, Outcome]:
        """The moment at which the next read is too late, and what that is called."""
        total = self.sent_ns + self._total_ns
        if self._token_ns is None:
            silence = self.sent_ns + self._first_token_ns
            return (silence, "timeout_first_token") if silence < total else (total, "timeout_total")
        silence = self._token_ns + self._between_tokens_ns
        return (silence, "stalled") if silence < total else (total, "timeout_total")

    def fail(self, problem: Outcome, text: str) -> None:
        """Something went wrong; what went wrong first is kept."""
        if self.problem is None:
            self.problem, self.problem_text = problem, text
        self.finished = True

    def end(self, now_ns: int, offset_ns: int) -> None:
        """Nothing more will come; `offset_ns` is the offset of the two clocks as it is now.

        Stamps of two clocks do not mix: one read without the kernel's stamp, or a step of its clock since the request was
        sent, and the whole answer counts by the moments it was read.
        """
        whole = self.framing.complete and self.problem is None
        self.end_ns = self._last_ns if whole else now_ns
        stamped = len(self.stamps) > self._unstamped
        self.clock_step = stamped and abs(offset_ns - self._offset_ns) > STEP_NS
        if self.clock_step or self._unstamped:
            self.stamps = array("q", self.reads)
            self.firsts = array("q", [UNKNOWN]) * len(self.reads)
            self._unstamped = len(self.reads)
            self.end_ns = self.reads[-1] if whole and self.reads else now_ns

    @property
    def stamp_source(self) -> StampSource:
        """Where the stamps came from, once the exchange has ended."""
        return "user" if self._unstamped else "kernel"
