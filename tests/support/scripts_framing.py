"""Scripts of server-sent events and HTTP: how the bytes of an answer come apart, and what comes instead of them."""

import zlib

from tests.support.scripts import (
    ROLE,
    STEP_MS,
    Script,
    Write,
    counts,
    delta,
    ended,
    event,
    head,
    one_by_one,
    said,
)

WHOLE = b'{"object":"chat.completion","choices":[{"index":0,"message":{"content":"all of it"},"finish_reason":"stop"}]}'
ERROR = b'{"error":{"message":"no worker","code":503}}'
PAGE = b"<html><script>alert(1)</script>Bad gateway</html>"
KIB = 1 << 10
PIECE_MS = 2.0


def _keep_alives() -> Script:
    """Comments while the prompt is read, the first right after an event with an id."""
    waits = (Write(b":\n\n"), Write(b": keep-alive\n\n"))
    return Script(
        writes=(Write(b"id: 7\n" + ROLE, after_ms=2.0), *waits, *one_by_one("ABC"), Write(ended(3, "length"), after_ms=1.0))
    )


def _several_in_one_read() -> Script:
    last = said("C") + said("D") + ended(4, "length")
    return Script(writes=(Write(ROLE + said("A") + said("B"), (1, 1)), Write(last, (1, 1))))


def _split_event() -> Script:
    """Cut inside a word of the JSON, inside the word data, and between the two bytes of a line's end."""
    first, second = said("hello"), said(" you").replace(b"\n\n", b"\r\n\r\n")
    ending = ended(2)
    return Script(
        writes=(
            Write(first[:40]),
            Write(first[40:] + second[:2], (1,)),
            Write(second[2:-3]),
            Write(second[-3:] + ending[:3], (1,)),
            Write(ending[3:]),
        )
    )


def _split_characters() -> Script:
    """A character of three bytes cut after two, one of four after one, and an event that comes byte by byte."""
    day, smile, slow = said("日"), said("😀"), said("é")
    cut_day, cut_smile = day.index("日".encode()) + 2, smile.index("😀".encode()) + 1
    letters = [Write(slow[place : place + 1], after_ms=0.2) for place in range(len(slow) - 1)]
    return Script(
        writes=(
            Write(day[:cut_day]),
            Write(day[cut_day:] + smile[:cut_smile], (1,)),
            Write(smile[cut_smile:], (1,)),
            *letters,
            Write(slow[-1:], (1,)),
            Write(ended(3)),
        )
    )


def _line_separators() -> Script:
    texts = ("a\u2028b", "\u0085", "✅")
    return Script(
        head=head("Content-Type: text/event-stream", "Transfer-Encoding: chunked"),
        writes=(*(Write(said(text), (1,)) for text in texts), Write(ended(3))),
    )


def _no_space() -> Script:
    pieces = [Write(event(delta(content=letter), lead="data:"), (1,)) for letter in "ab"]
    ending = event(delta(finish="stop"), lead="data:  ") + event({"choices": [], "usage": counts(2)}, lead="data:")
    return Script(writes=(*pieces, Write(ending + b"data:[DONE] \n\n")))


def _unterminated() -> Script:
    last = event(delta(finish="stop")) + event({"choices": [], "usage": counts(2)})
    return Script(writes=(*one_by_one("AB"), Write(last[:-1])))


def _whole(body: bytes) -> Script:
    lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    return Script(head=head(*lines), framed=False, writes=(Write(body, after_ms=3 * STEP_MS),))


def _gzip() -> Script:
    """The packer's own head comes early, and nothing that can be unpacked before all of it."""
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(b"".join(said(letter) for letter in "abcdefghijklmnopqrst") + ended(20)) + packer.flush()
    return Script(
        head=head("Content-Type: text/event-stream", "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        writes=(Write(packed[:10], after_ms=2.0), Write(packed[10:], (1,) * 20, after_ms=5 * STEP_MS)),
    )


def _burst() -> Script:
    letters = "abcdefghijklmnopqrstuvwxyz" * 2
    return Script(writes=(Write(b"".join(map(said, letters)) + ended(len(letters)), (1,) * len(letters), after_ms=8 * STEP_MS),))


def _long_line(size: int) -> Script:
    """One event with so much text, in pieces as a socket takes them."""
    body = said("x" * size)
    pieces = [body[place : place + 64 * KIB] for place in range(0, len(body), 64 * KIB)]
    writes = [Write(piece, after_ms=PIECE_MS) for piece in pieces[:-1]]
    return Script(writes=(*writes, Write(pieces[-1], (1,), after_ms=PIECE_MS), Write(said("!"), (1,)), Write(ended(2))))


def _status(status: str, kind: str, body: bytes, *lines: str) -> Script:
    return Script(
        head=head(f"Content-Type: {kind}", f"Content-Length: {len(body)}", *lines, status=status),
        framed=False,
        writes=(Write(body, after_ms=0.0),),
    )


FRAMING: dict[str, Script] = {
    "keep_alives": _keep_alives(),
    "several_in_one_read": _several_in_one_read(),
    "split_event": _split_event(),
    "split_characters": _split_characters(),
    "line_separators": _line_separators(),
    "no_space": _no_space(),
    "unterminated": _unterminated(),
    "whole_json": _whole(WHOLE),
    "error_json": _whole(ERROR),
    "gzip": _gzip(),
    "burst": _burst(),
    "long_line": _long_line(300 * KIB),
    "endless_line": _long_line(20 * KIB * KIB),
    "idle_close": Script(refuses_reused=True, writes=(*one_by_one("ab"), Write(ended(2)))),
    "too_many_requests": _status("429 Too Many Requests", "application/json", b"{}", "Retry-After: 2"),
    "bad_gateway": _status("502 Bad Gateway", "text/html", PAGE),
    "no_keys": Script(refuses_keys=True, writes=(*one_by_one("ab"), Write(ended(2)))),
}
