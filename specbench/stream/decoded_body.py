"""The body of an answer behind its content encoding, and when each of its bytes had arrived. Pure."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from specbench.model.captures import UNKNOWN, Capture, column

LARGEST_BODY = 24 * 1024 * 1024
"""Bytes of one answer that are kept, as sent and as decoded: some eighty thousand events, and little of a machine's memory."""

NOT_READ = frozenset({"br", "zstd", "compress", "x-compress"})
"""Codings that are known and that nothing here can undo."""

_GZIP, _ZLIB, _RAW = 31, 15, -15  # what zlib calls its formats
_NO_CODING = frozenset({"", "identity"})
_STREAM_STARTS = (b"data:", b":", b"event:", b"id:", b"retry:")
_TEXT_STARTS = (b"{", b"[", b"<")
_BOM = b"\xef\xbb\xbf"
_SLICE = 4096  # of what is handed over at once, as zlib copies what stands behind a member
_MEMBER_BYTES = 256  # what a member counts for beside its content: empty ones must end as well


def encoding_of(headers: Mapping[str, str]) -> str:
    """The content encoding that these headers name, empty where the body is plain."""
    codings = [coding.strip() for coding in headers.get("content-encoding", "").lower().split(",")]
    return ", ".join(coding for coding in codings if coding not in _NO_CODING)


class Unpacking:
    """A body's content encoding, undone read by read as far as LARGEST_BODY.

    The bytes decide, not the name: a plain event stream under any name but those of NOT_READ is plain, gzip may come in several
    members (RFC 1952, 2.2) and deflate without its header. `plain`: whether the body is plain, None while that is open.
    `problem`: why nothing more can be decoded.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._held = b""
        self._unpack: zlib._Decompress | None = None
        self._size = 0
        self.plain: bool | None = None
        self.problem: str | None = None
        self.too_large = False
        if encoding in NOT_READ:
            self._refuse()

    def feed(self, data: bytes) -> bytes:
        """What can be decoded now that these bytes have come; nothing where there is a problem."""
        if self.plain:
            return data
        return b"".join(
            [piece for start in range(0, len(data), _SLICE) for piece in self._unpacked(data[start : start + _SLICE])]
        )

    def _unpacked(self, data: bytes) -> list[bytes]:
        pieces: list[bytes] = []
        while data and self.problem is None:
            if self.plain:
                pieces.append(data)
                break
            if self._unpack is None:
                data, self._held = self._held + data, b""
                if not self._begun(data):
                    break
            else:
                data = self._inflated(data, pieces)
        return pieces

    def _begun(self, data: bytes) -> bool:
        """Whether the first bytes, of the body or of a further member, tell what they are; they wait for more where not."""
        if self.plain is None:
            text = data.removeprefix(_BOM).lstrip()
            if text.startswith((*_STREAM_STARTS, *_TEXT_STARTS)):
                self.plain = True
                return True
            if _BOM.startswith(data) or any(start.startswith(text) for start in _STREAM_STARTS):
                self._held = data
                return False
        elif not (data := data.lstrip(b"\0")):  # padding behind a member
            return False
        if len(data) < 2:
            self._held = data
            return False
        window_bits = self._window_bits(data)
        if window_bits is None:
            self._refuse("" if self.plain is None else f"{len(data)} bytes behind its end are no further member")
            return False
        self.plain = False
        self._unpack = zlib.decompressobj(window_bits)
        return True

    def _window_bits(self, data: bytes) -> int | None:
        if data.startswith(b"\x1f\x8b"):
            return _GZIP
        if self._encoding in ("deflate", "x-deflate"):
            return _ZLIB if data[0] & 15 == 8 else _RAW  # no encoder begins a raw block with a stored one that is padded so
        return _ZLIB if data[0] & 15 == 8 and (data[0] * 256 + data[1]) % 31 == 0 else None  # RFC 1950, 2.2

    def _inflated(self, data: bytes, pieces: list[bytes]) -> bytes:
        """What of `data` stands behind the member at hand; what is in the member is added to `pieces`."""
        assert self._unpack is not None
        try:
            piece = self._unpack.decompress(data, LARGEST_BODY - self._size + 1)
        except zlib.error as error:
            self._refuse(str(error))
            return b""
        pieces.append(piece)
        self._size += len(piece) + _MEMBER_BYTES * self._unpack.eof
        if self._size > LARGEST_BODY:
            self.too_large = True
            self.problem = f"an answer of more than {LARGEST_BODY} bytes once its {self._encoding} is undone"
        elif self._unpack.eof:
            data, self._unpack = self._unpack.unused_data, None
            return data
        return b""

    def _refuse(self, why: str = "") -> None:
        if why:
            self.problem = f"content encoding {self._encoding}: {why}"
        else:
            self.problem = f"content encoding {self._encoding!r} was not requested and cannot be read"


def unpacking_of(headers: Mapping[str, str]) -> Unpacking | None:
    """What undoes the content encoding that these headers name; None where they name none."""
    encoding = encoding_of(headers)
    return Unpacking(encoding) if encoding else None


@dataclass(frozen=True, slots=True)
class PlainBody:
    """A body with its content encoding undone: its bytes, how many of them each read brought, and why there are no more.

    A byte counts for the read from which it could first be decoded. `problem` is None where the whole body could be.
    """

    data: bytes
    sizes: Sequence[int]
    problem: str | None = None


def plain_body(capture: Capture) -> PlainBody:
    """The capture's body behind its content encoding, as far as that can be undone."""
    sizes = column(capture.sizes)
    unpacking = unpacking_of(capture.headers)
    if unpacking is None:
        return PlainBody(capture.body, sizes)
    pieces: list[bytes] = []
    for end, size in zip(accumulate(sizes), sizes, strict=True):
        pieces.append(unpacking.feed(capture.body[end - size : end]))
        if unpacking.problem is not None:
            break
    return PlainBody(b"".join(pieces), [len(piece) for piece in pieces], unpacking.problem)


def encoding_flags(capture: Capture) -> set[str]:
    """What there is to know of the body's encoding: that it is compressed, or that its head names a coding it does not have."""
    unpacking = unpacking_of(capture.headers)
    if unpacking is None:
        return set()
    sizes = column(capture.sizes)
    for end, size in zip(accumulate(sizes), sizes, strict=True):
        unpacking.feed(capture.body[end - size : end][:_SLICE])
        if unpacking.plain is not None or unpacking.problem is not None:
            break
    return {"unknown_encoding" if unpacking.plain else "compressed_stream"}


def event_stamps(capture: Capture, body: PlainBody, ends: Sequence[int]) -> list[int]:
    """The moment (ns) at which the byte before each offset of the body had arrived; `ends`, where events end, must not fall.

    That is the stamp of the read that delivered it. Where one read delivered several events, the first of them has the
    moment of the read's first bytes, if that is known.
    """
    stamps, firsts = column(capture.stamps), column(capture.firsts)
    moments: list[int] = []
    read, start, reached = -1, 0, 0
    for place, end in enumerate(ends):
        opens = read < 0 or reached < end
        while read < 0 or reached < end:
            read += 1
            start, reached = reached, reached + body.sizes[read]
        stamp_ns = stamps[read]
        if opens and firsts[read] != UNKNOWN:
            several = place + 1 < len(ends) and ends[place + 1] <= reached
            if several and _is_first_event(body.data, start, end):
                stamp_ns = min(firsts[read], stamp_ns)
        moments.append(stamp_ns)
    return moments


def _is_first_event(data: bytes, start: int, end: int) -> bool:
    """Whether no other event ends between the start of a read and the end of this one."""
    return all(data.find(blank, start, end - len(blank)) < 0 for blank in (b"\n\n", b"\n\r\n"))
