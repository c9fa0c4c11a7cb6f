"""Whether the same processes answered every scrape of a block: restarts and mixed replicas, told apart.

No quantity is read here; `counters.py` differences only where this module finds nothing broken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specbench.telemetry.metrics_pages import Page, Scrape

RESET = "counter_reset: the engine restarted between two scrapes"
MIXED = "mixed_replicas: one URL was answered by different processes; list every replica's own metrics URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuity:
    """`broken` says why no counter may be differenced (None: they may); `restarts` is None where it cannot be told."""

    broken: str | None
    restarts: int | None

    @property
    def reset(self) -> bool:
        """Whether a restart was seen."""
        return bool(self.restarts)


def continuity_of(scrapes: Sequence[Scrape]) -> Continuity:
    """What became of the answering processes from the first of `scrapes` (two at least, in order) to the last."""
    changes: list[str | None] = []
    for url in dict.fromkeys(page.url for scrape in scrapes for page in scrape.pages):
        answered = [(page, scrape.wall_s) for scrape in scrapes for page in scrape.pages if page.url == url and page.samples]
        changes.extend(_change(old, new, wall_s) for (old, wall_s), (new, _) in pairwise(answered))
    if MIXED in changes:
        return Continuity(broken=MIXED, restarts=None)
    if RESET in changes:
        return Continuity(broken=RESET, restarts=changes.count(RESET))
    return Continuity(broken=None, restarts=0 if changes else None)


def _change(old: Page, new: Page, old_wall_s: float) -> str | None:
    """RESET, MIXED, or None where one process answered both.

    A process that started after the older scrape replaced the one that answered it; one that was up already by then is
    another replica. Where nothing says when it started, a counter that fell is a restart (it alone sets counters back);
    another process without one that fell is another replica, and so is a series that vanished, since a process never
    forgets one.
    """
    if old.samples is None or new.samples is None:
        return None
    known = old.process is not None and new.process is not None
    other = known and old.process != new.process
    if other and new.started_s is not None:
        return RESET if new.started_s > old_wall_s else MIXED
    before, after = old.samples.values, new.samples.values
    if any(after[key] < before[key] for key in old.samples.monotone & new.samples.monotone):
        return RESET
    gone = old.samples.monotone - after.keys() - new.samples.not_finite
    return MIXED if other or (gone and not known) else None
