"""How far a worker's clock is from the master's, and how closely that is known. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from specbench.model.records import MOST_CLOCK_ERROR_MS
from specbench.units import ms

PINGS = 20


@dataclass(frozen=True, slots=True)
class Echo:
    """One ping: when it left and came back by the master's clock, and what the worker's clock said in between."""

    sent_ns: int
    worker_ns: int
    back_ns: int

    @property
    def round_trip_ns(self) -> int:
        """How long it was under way, both ways together."""
        return self.back_ns - self.sent_ns


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """The worker's clock minus the master's; the true one lies within `error_ns` of it."""

    offset_ns: int
    error_ns: int


def offset_of(echoes: Iterable[Echo]) -> ClockOffset | None:
    """The offset by the quickest of these pings, as it leaves the least doubt; None where none came back."""
    quickest = min(echoes, key=lambda echo: echo.round_trip_ns, default=None)
    if quickest is None:
        return None
    middle_ns = (quickest.sent_ns + quickest.back_ns) // 2
    return ClockOffset(quickest.worker_ns - middle_ns, (quickest.round_trip_ns + 1) // 2)


def drift_ns(before: ClockOffset, after: ClockOffset) -> int:
    """How far the clocks moved apart, as far as the two offsets prove it."""
    return max(0, abs(after.offset_ns - before.offset_ns) - before.error_ns - after.error_ns)


def clocks_agree(error_ns: int, moved_ns: int) -> bool:
    """Whether the moments of two machines can be put on one clock closely enough."""
    return ms(error_ns + moved_ns) <= MOST_CLOCK_ERROR_MS
