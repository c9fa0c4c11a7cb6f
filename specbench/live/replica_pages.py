"""The pages of the replicas of one arm over one period, and what the period came to: replicas that were not there throughout
are left out and counted. No socket is opened here; `source.py` does that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from specbench.model.live.live_period import BucketCounts, LivePeriod
from specbench.model.scenario import ArmName
from specbench.telemetry import ENGINES, EngineSupport, telemetry_of
from specbench.telemetry.bucket_counts import bucket_counts
from specbench.telemetry.counters import ScrapeWindow, span_of
from specbench.telemetry.metrics_pages import Page, Scrape
from specbench.telemetry.process_continuity import RESET, continuity_of

LATE_SCRAPES = 2.5  # times the usual distance between two pages, after which the last one is of a replica that went


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaPages:
    """The pages of one replica in order, each with its own Unix time; `host` is the machine that it runs on, as it is named."""

    name: str
    host: str
    pages: tuple[tuple[float, Page], ...]

    @property
    def gap_s(self) -> float | None:
        """The usual distance between two pages; None with less than two."""
        moments = [at for at, _ in self.pages]
        return median(later - earlier for earlier, later in pairwise(moments)) if len(moments) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodSpan:
    """Which period of which arm, in Unix seconds."""

    arm: ArmName
    start_s: float
    end_s: float


def engine_in(replicas: Sequence[ReplicaPages]) -> EngineSupport | None:
    """The engine whose names the pages have; None where no engine that is known has such names."""
    names = {name for replica in replicas for _, page in replica.pages if page.samples for name, _ in page.samples.values}
    engines = [engine for engine in ENGINES.values() if engine.prefixes and engine.name != "embedded"]
    return next((engine for engine in engines if any(name.startswith(engine.prefixes) for name in names)), None)


def live_period(span: PeriodSpan, replicas: Sequence[ReplicaPages], engine: EngineSupport | None) -> LivePeriod:
    """The period as the replicas that were there from its start to its end counted it; a `problem` where none was."""
    replicas = [replica for replica in replicas if not _gone_before(span, replica)]
    found = LivePeriod(arm=span.arm, start_s=span.start_s, end_s=span.end_s, replicas=0, hosts=_hosts(replicas))
    if not replicas:
        return replace(found, problem="no_series")
    if engine is None:
        unread = next((page.absent for replica in replicas for _, page in replica.pages if page.absent), None)
        return replace(found, problem="unread" if unread else "no_engine", absent={"pages": unread} if unread else {})
    models = _models(replicas)
    if len(models) > 1:
        return replace(found, problem="several_models", models=models)
    left_out: dict[str, int] = {}
    kept: list[list[tuple[float, Page]]] = []
    for replica in replicas:
        pages, reason = _within(span, replica)
        if reason is None:
            kept.append(pages)
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
    found = replace(found, left_out=left_out, models=models)
    if not kept:
        return replace(found, problem="mixed_replicas" if "mixed" in left_out else "no_replica_throughout")
    return _counted(found, kept, engine)


def _counted(found: LivePeriod, kept: Sequence[Sequence[tuple[float, Page]]], engine: EngineSupport) -> LivePeriod:
    """The period with what the replicas that are kept told."""
    scrapes = _together(kept)
    window = span_of(scrapes[0], scrapes[1:-1], scrapes[-1], engine.metrics_paths)
    prefix = next((one for one in engine.prefixes if _has_prefix(scrapes[-1], one)), engine.prefixes[0])
    told = {name: bucket_counts(window, prefix + stem) for name, stem in engine.histograms.items()}
    observed: dict[str, BucketCounts] = {name: one.value for name, one in told.items() if one.value is not None}
    absent = {name: one.reason or "" for name, one in told.items() if one.value is None}
    rise = [_running(window, scrape, engine) for scrape in (scrapes[0], scrapes[-1])]
    return replace(
        found,
        replicas=len(kept),
        seconds=sum(pages[-1][0] - pages[0][0] for pages in kept),
        told=telemetry_of(scrapes[0], scrapes[1:-1] or scrapes[-1:], scrapes[-1], engine),
        observed=observed,
        absent=absent,
        running_rise=None if rise[0] is None or rise[1] is None else rise[1] - rise[0],
    )


def _gone_before(span: PeriodSpan, replica: ReplicaPages) -> bool:
    """Whether it was no longer there when the period began: the end of a replica costs the period in which it came alone."""
    if not replica.pages:
        return False
    at, page = replica.pages[-1]
    return page.absent is None and at < span.start_s - LATE_SCRAPES * (replica.gap_s or 0.0)


def _within(span: PeriodSpan, replica: ReplicaPages) -> tuple[list[tuple[float, Page]], str | None]:
    """The replica's pages from the last one before the start to the last one before the end; or why it is left out."""
    readable = [(at, page) for at, page in replica.pages if page.absent is None]
    if not readable:
        return [], "unread"
    before = [one for one in readable if one[0] <= span.start_s]
    inside = [one for one in readable if span.start_s < one[0] <= span.end_s]
    if not before:
        return [], "came"
    gap = replica.gap_s or 0.0
    if not inside and before[-1][0] < span.start_s - LATE_SCRAPES * gap:
        return [], "unread"
    if not inside or span.end_s - inside[-1][0] > LATE_SCRAPES * gap:
        return [], "went"
    pages = [before[-1], *inside]
    broken = continuity_of([_scrape(at, (page,)) for at, page in pages]).broken
    if broken is not None:
        return [], "restarted" if broken == RESET else "mixed"
    return pages, None


def _together(kept: Sequence[Sequence[tuple[float, Page]]]) -> list[Scrape]:
    """One scrape of all replicas for each moment of the one with the fewest pages: first with first, last with last."""
    moments = min(len(pages) for pages in kept)
    scrapes = []
    for moment in range(moments):
        chosen = [pages[round(moment * (len(pages) - 1) / (moments - 1))] for pages in kept]
        scrapes.append(_scrape(max(at for at, _ in chosen), tuple(page for _, page in chosen)))
    return scrapes


def _scrape(at_s: float, pages: tuple[Page, ...]) -> Scrape:
    return Scrape(at_ns=round(at_s * 1e9), wall_s=at_s, pages=pages)


def _running(window: ScrapeWindow, scrape: Scrape, engine: EngineSupport) -> float | None:
    told = engine.read(replace(window, during=(scrape,))).get("running_mean")
    return None if told is None else told.value


def _has_prefix(scrape: Scrape, prefix: str) -> bool:
    return any(name.startswith(prefix) for page in scrape.pages if page.samples for name, _ in page.samples.values)


def _models(replicas: Sequence[ReplicaPages]) -> tuple[str, ...]:
    labels = [
        dict(series).get("model_name")
        for replica in replicas
        for _, page in replica.pages[-1:]
        if page.samples
        for _, series in page.samples.values
    ]
    return tuple(sorted({name for name in labels if name}))


def _hosts(replicas: Sequence[ReplicaPages]) -> tuple[str, ...]:
    return tuple(sorted({replica.host for replica in replicas}))
