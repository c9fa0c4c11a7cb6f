"""Frames of an answer as columns, as they are kept between reads and sent through pipes, and as values. Nothing else."""

from collections.abc import Iterable

from specbench.model.seen import Frame

UNKNOWN = -1
"""Stands in a column for a first moment that is not known."""


def frames_of(stamps: Iterable[int], reads: Iterable[int], pieces: Iterable[bytes], firsts: Iterable[int]) -> tuple[Frame, ...]:
    """Frames out of columns of equal length; a first moment of UNKNOWN becomes None."""
    known = (None if first_ns == UNKNOWN else first_ns for first_ns in firsts)
    return tuple(map(Frame, stamps, reads, pieces, known))
