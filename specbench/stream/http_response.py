"""HTTP/1 framing of one answer, removed by a C parser. No socket and no clock: bytes in, body bytes out."""

import httptools


class ResponseParser:
    """Status, headers and end of one HTTP answer, and its body bytes read by read.

    Chunked, counted and close-delimited bodies, HTTP/1.0, interim (1xx) answers and trailers. Header names are in lower
    case; of repeated headers the last counts, which is enough for the few that matter here.
    """

    __slots__ = ("_head_done", "_parser", "_pieces", "_pieces_at_end", "complete", "headers", "on_body", "reusable", "status")

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.complete = False
        self.reusable = False
        self._head_done = False
        self._pieces: list[bytes] = []
        self._pieces_at_end = 0
        self.on_body = self._pieces.append  # the parser calls it for every chunk: no function of ours in between
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> bytes:
        """The body bytes in what one read delivered.

        Raises: httptools.HttpParserError where the bytes are no HTTP answer.
        """
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # no HttpParserError: the answer is its head, and what follows is no HTTP
            self.complete, self.reusable = True, False
        except httptools.HttpParserError:
            if not self.complete:
                raise
            self.reusable = False  # bytes after the end: the answer is whole, the connection is not to be trusted
        pieces = self._pieces[: self._pieces_at_end] if self.complete else self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._pieces.clear()
        return body

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
