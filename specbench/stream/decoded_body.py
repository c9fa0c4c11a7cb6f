"""The body of an answer behind its content encoding, and when each of its bytes had arrived. Pure."""

import zlib
from collections.abc import Mapping, Sequence

from specbench.model.records import Capture, TimedRead

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
            self.problem = f"content encoding {self._encoding!r} was not asked for and cannot be read"


def unpacking_of(headers: Mapping[str, str]) -> Unpacking | None:
    """What undoes the content encoding that these headers name; None where they name none."""
    encoding = encoding_of(headers)
    return Unpacking(encoding) if encoding else None


def plain_frames(capture: Capture) -> tuple[Sequence[TimedRead], str | None]:
    """The frames with their content encoding undone, each byte under the read from which it could first be decoded.

    Returns: the frames, and why they could not be decoded whole, None where they could.
    """
    unpacking = unpacking_of(capture.headers)
    if unpacking is None:
        return capture.frames, None
    frames = []
    for frame in capture.frames:
        frames.append(TimedRead(frame.stamp_ns, frame.read_ns, unpacking.feed(frame.data)))
        if unpacking.problem is not None:
            break
    return frames, unpacking.problem


def encoding_flags(capture: Capture) -> set[str]:
    """What there is to know of the body's encoding: that it is compressed, or that its head names a coding it does not have."""
    unpacking = unpacking_of(capture.headers)
    if unpacking is None:
        return set()
    for frame in capture.frames:
        unpacking.feed(frame.data[:_SLICE])
        if unpacking.plain is not None or unpacking.problem is not None:
            break
    return {"unknown_encoding" if unpacking.plain else "compressed_stream"}


def event_stamps(frames: Sequence[TimedRead], ends: Sequence[int]) -> list[int]:
    """The moment (ns) at which the byte before each offset had arrived; `ends`, where events end, must not fall.

    That is the stamp of the read that delivered it. Where one read delivered several events, the first of them has the
    moment of the read's first bytes, if that is known.
    """
    moments: list[int] = []
    reads = iter(frames)
    start = reached = 0
    frame = None
    for place, end in enumerate(ends):
        opens = frame is None or reached < end
        while frame is None or reached < end:
            frame = next(reads)
            start, reached = reached, reached + len(frame.data)
        several = place + 1 < len(ends) and ends[place + 1] <= reached
        if opens and several and frame.first_ns is not None and _is_first_event(frame.data, end - start):
            moments.append(min(frame.first_ns, frame.stamp_ns))
        else:
            moments.append(frame.stamp_ns)
    return moments


def _is_first_event(data: bytes, end: int) -> bool:
    """Whether no other event ends in a read's data before the one that ends there."""
    return all(data.find(blank, 0, end - len(blank)) < 0 for blank in (b"\n\n", b"\n\r\n"))
