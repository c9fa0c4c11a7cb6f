"""HTTP/1 framing of one answer, removed by a C parser. No socket and no clock: bytes in, body bytes out."""

import re

import httptools

_HEAD = re.compile(rb"HTTP/1\.[01] (?!1\d\d\b).*?\r?\n\r?\n", re.DOTALL)  # the final one: interim answers come before
_LENGTH = re.compile(rb"(?im)^content-length[ \t]*:(.*)\n")
_BODY_END = re.compile(rb"(?i)\b(content-length|transfer-encoding)[ \t]*:")  # fields that say where the body ends
_CODING = re.compile(rb"(?im)^transfer-encoding[ \t]*:(.*)\n")


class ResponseParser:
    """Status, headers and end of one HTTP answer, and its body bytes read by read.

    Chunked, counted and close-delimited bodies, HTTP/1.0, interim (1xx) answers and trailers. Header names are in lower
    case; of repeated headers the last counts, which is enough for the few that matter here. A length beside chunks, which the
    parser refuses, is ignored (RFC 9112, 6.3), and one that is told twice alike counts once.
    """

    __slots__ = (
        "_head",
        "_head_done",
        "_odd_head",
        "_parser",
        "_pieces",
        "_pieces_at_end",
        "complete",
        "headers",
        "on_body",
        "reusable",
        "status",
    )

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.complete = False
        self.reusable = False
        self._head_done = False
        self._head = bytearray()
        self._odd_head = False
        self._pieces: list[bytes] = []
        self._pieces_at_end = 0
        self.on_body = self._pieces.append  # the parser calls it for every chunk: no function of ours in between
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> bytes:
        """The body bytes in what one read delivered.

        Raises: httptools.HttpParserError where the bytes are no HTTP answer.
        """
        if not self._head_done:
            self._head += data
        try:
            if not self._odd_head:
                self._parser.feed_data(data)
            elif any(blank in self._head[-len(data) - 3 :] for blank in (b"\n\r\n", b"\n\n")) and _HEAD.search(self._head):
                self._begin_again()
        except httptools.HttpParserUpgrade:  # no HttpParserError: the answer is its head, and what follows is no HTTP
            self.complete, self.reusable = True, False
        except httptools.HttpParserError:
            if not self._head_done and not self._odd_head and _BODY_END.search(self._head):
                self._odd_head, told = True, bytes(self._head)
                self._head.clear()
                return self.feed(told)
            if not self.complete:
                raise
            self.reusable = False  # bytes after the end: the answer is whole, the connection is not to be trusted
        pieces = self._pieces[: self._pieces_at_end] if self.complete else self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._pieces.clear()
        return body

    def _begin_again(self) -> None:
        """Read the head once more, without what the parser does not bear.  Raises: httptools.HttpParserError."""
        told, self._head = bytes(self._head), bytearray()
        self._odd_head, self.headers = False, {}
        self._parser = httptools.HttpResponseParser(self)
        try:
            self._parser.feed_data(_bearable(told))
        finally:
            if self._head_done and (length := _LENGTH.search(told)):
                self.headers["content-length"] = length[1].strip().decode("latin-1")

    def closed(self) -> bool:
        """Whether the answer is whole now that the peer has closed: only where nothing else marks its end (RFC 9112, 6.3)."""
        self.reusable = False
        delimited = "content-length" in self.headers or "chunked" in self.headers.get("transfer-encoding", "").lower()
        if self._head_done and not delimited:
            self.complete = True
        return self.complete

    def on_message_begin(self) -> None:
        """Only an interim answer can have come before; anything after the end is not ours."""
        if self.complete:
            self.reusable = False
        else:
            self.headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header of the head; a trailer may not change what the head said."""
        if not self._head_done:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head is known, unless it was an interim answer's."""
        status = self._parser.get_status_code()
        if not self._head_done and (status >= 200 or status == 101):
            self.status = status
            self._head_done = True

    def on_message_complete(self) -> None:
        """The answer has ended where HTTP says it does."""
        if self._head_done and not self.complete:
            self.complete = True
            self.reusable = self._parser.should_keep_alive()
            self._pieces_at_end = len(self._pieces)


def _bearable(told: bytes) -> bytes:
    """An answer whose head says once where its body ends: chunks count before a length, a length before any other coding."""
    found = _HEAD.search(told)
    if found is None:
        return told
    head = found[0]
    lengths = {part.strip() for length in _LENGTH.finditer(head) for part in length[1].split(b",")}
    codings = [part.strip().lower() for coding in _CODING.finditer(head) for part in coding[1].split(b",")]
    if codings and codings[-1] == b"chunked":
        head = _LENGTH.sub(b"", head)
    elif len(lengths) == 1:
        head = _CODING.sub(b"", _LENGTH.sub(b"", head))
        first, rest = head.split(b"\n", 1)
        head = first + b"\nContent-Length: " + lengths.pop() + b"\r\n" + rest
    return told[: found.start()] + head + told[found.end() :]
