"""What a load generator gives back to the system."""

import ctypes
import os
from pathlib import Path

import pytest

from specbench.load.process_limits import give_back_memory


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library gives nothing back when asked")
def test_freed_memory_between_what_is_kept_goes_back() -> None:
    """100 MB in pieces of 1 kB, of which one in a thousand is kept: the others are holes that no later free can close."""
    pieces = [bytes(1000) + str(number).encode() for number in range(100_000)]
    kept = pieces[::1000]
    del pieces
    before_mb = _resident_mb()
    give_back_memory()

    assert _resident_mb() < before_mb - 50
    assert len(kept) == 100
