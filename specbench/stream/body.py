"""The body of an answer behind its content encoding, and which read completed each byte. Pure."""

import zlib
from collections.abc import Sequence

from specbench.model.seen import Capture, Frame

WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
PLAIN = ("", "identity")


def plain_frames(capture: Capture) -> tuple[Sequence[Frame], str | None]:
    """The frames with their content encoding undone, each byte under the read from which it could first be decoded.

    Returns: the frames, and why they could not be decoded whole, None where they could.
    """
    encoding = capture.headers.get("content-encoding", "").strip().lower()
    if encoding in PLAIN:
        return capture.frames, None
    if encoding not in WINDOW_BITS:
        return (), f"content encoding {encoding!r} was not asked for and cannot be read"
    unpack = zlib.decompressobj(WINDOW_BITS[encoding])
    frames = []
    for frame in capture.frames:
        try:
            frames.append(Frame(frame.stamp_ns, frame.read_ns, unpack.decompress(frame.data)))
        except zlib.error as error:
            return frames, f"content encoding {encoding}: {error}"
    return frames, None


def arrivals(frames: Sequence[Frame], ends: Sequence[int]) -> list[int]:
    """The stamp (ns) of the read that delivered the byte before each offset; `ends` must not fall."""
    stamps = []
    reads = iter(frames)
    reached, stamp_ns = 0, 0
    for end in ends:
        while reached < end:
            frame = next(reads)
            reached += len(frame.data)
            stamp_ns = frame.stamp_ns
        stamps.append(stamp_ns)
    return stamps
