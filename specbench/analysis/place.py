"""Where the arms stand: whether a difference between them can only come from speculation, and whether starts were enough.

Facts of the run only; what follows for the verdict is `slices.py`'s.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from specbench.analysis.headlines import MIN_LAUNCHES
from specbench.model.asked import ARMS
from specbench.model.seen import Block, Manifest


def place_controlled(manifest: Manifest) -> bool:
    """Whether the arms share a place: both on this machine, one URL, or declared or shown alike (`place: same`, or a run's id).

    Two addresses on one host that is not this machine do not count: a gateway may send them to different accelerators.
    """
    if manifest.scenario.place is not None:
        return True
    urls = [_url(manifest, index) for index in range(len(ARMS))]
    if None in urls or urls[0] == urls[1]:
        return True
    return all(_loopback(urlsplit(url).hostname or "") for url in urls if url is not None)


def enough_launches(manifest: Manifest, blocks: Sequence[Block]) -> bool:
    """Whether each arm was started at least four times, where the schedule makes a start the unit; always True elsewhere."""
    if manifest.scenario.matrix.schedule != "restart":
        return True
    return all(len({block.launch for block in blocks if block.arm == arm}) >= MIN_LAUNCHES for arm in ARMS)


def _url(manifest: Manifest, index: int) -> str | None:
    """The arm's address: None where specbench itself started the engine, which is on this machine."""
    return manifest.scenario.arm(ARMS[index]).url


def _loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")
