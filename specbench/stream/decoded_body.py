"""The body of an answer behind its content encoding, and when each of its bytes had arrived. Pure."""

import zlib
from collections.abc import Mapping, Sequence

from specbench.model.records import Capture, TimedRead

WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


def encoding_of(headers: Mapping[str, str]) -> str:
    """The content encoding that these headers name, empty where the body is plain."""
    encoding = headers.get("content-encoding", "").strip().lower()
    return "" if encoding == "identity" else encoding


def plain_frames(capture: Capture) -> tuple[Sequence[TimedRead], str | None]:
    """The frames with their content encoding undone, each byte under the read from which it could first be decoded.

    Returns: the frames, and why they could not be decoded whole, None where they could.
    """
    encoding = encoding_of(capture.headers)
    if not encoding:
        return capture.frames, None
    if encoding not in WINDOW_BITS:
        return (), f"content encoding {encoding!r} was not asked for and cannot be read"
    unpack = zlib.decompressobj(WINDOW_BITS[encoding])
    frames = []
    for frame in capture.frames:
        try:
            frames.append(TimedRead(frame.stamp_ns, frame.read_ns, unpack.decompress(frame.data)))
        except zlib.error as error:
            return frames, f"content encoding {encoding}: {error}"
    return frames, None


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
