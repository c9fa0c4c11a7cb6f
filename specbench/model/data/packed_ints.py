"""Whole numbers of a record as they are kept while a large run is read: eight bytes each, where a tuple takes forty."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from sys import intern
from typing import overload

from specbench.model.records import Block, RequestRecord


class PackedInts(Sequence[int]):
    """A sequence of whole numbers that never changes, equal to any other sequence of the same ones."""

    __slots__ = ("packed",)

    def __init__(self, values: Iterable[int]) -> None:
        self.packed = array("q", values)

    def __len__(self) -> int:
        return len(self.packed)

    def __iter__(self) -> Iterator[int]:
        return iter(self.packed)

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...

    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        return tuple(self.packed[place]) if isinstance(place, slice) else self.packed[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedInts):
            return self.packed == other.packed
        return isinstance(other, Sequence) and len(other) == len(self) and all(map(int.__eq__, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self.packed))

    def __repr__(self) -> str:
        return repr(tuple(self.packed))


def pack(found: Block | RequestRecord) -> None:
    """A record that was just read takes a fourth of the memory: its moments are packed, its names are the run's, held once."""
    if isinstance(found, RequestRecord):
        object.__setattr__(found, "event_ns", PackedInts(found.event_ns))  # nobody else has it yet
        for name in ("block", "bin", "sampling"):
            object.__setattr__(found, name, intern(getattr(found, name)))
