"""How late reads were, counted in classes of fixed number: a block of hours takes no more memory than one of seconds. Pure."""

from math import ceil, floor

import numpy as np
import numpy.typing as npt

_CLASSES = 256
"""In each doubling of the time: a class is half a percent wide at most, and stands for its middle."""

_DOUBLINGS = 64


class LagHistogram:
    """Times in nanoseconds, kept to a quarter of a percent; what is below one counts as one."""

    def __init__(self) -> None:
        self._counts = np.zeros(_DOUBLINGS * _CLASSES, dtype=np.int64)

    def add(self, lags_ns: npt.NDArray[np.int64]) -> None:
        """Counts these times in."""
        halves, doublings = np.frexp(np.maximum(lags_ns, 1).astype(np.float64))  # a time is halves · 2^doublings, .5 ≤ halves < 1
        places = doublings.astype(np.int64) * _CLASSES + ((halves - 0.5) * 2 * _CLASSES).astype(np.int64)
        self._counts += np.bincount(places, minlength=len(self._counts))

    def percentile_ns(self, rank: float) -> float | None:
        """The percentile, interpolated between neighbours as numpy does; None where nothing was counted."""
        upto = np.cumsum(self._counts)
        if not upto[-1]:
            return None
        at = (int(upto[-1]) - 1) * rank / 100
        below, above = (self._value_ns(int(np.searchsorted(upto, place, side="right"))) for place in (floor(at), ceil(at)))
        return below + (at - floor(at)) * (above - below)

    @staticmethod
    def _value_ns(place: int) -> float:
        doublings, part = divmod(place, _CLASSES)
        return float(np.ldexp(0.5 + (part + 0.5) / (2 * _CLASSES), doublings))
