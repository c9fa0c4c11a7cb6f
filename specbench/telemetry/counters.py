"""Differences, means and peaks over the scrapes of one block, each a value or the reason why there is none.

No engine's names and no sockets: the file of an engine asks here by name.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from specbench.telemetry.metrics_pages import Page, Scrape
from specbench.telemetry.process_continuity import Continuity, continuity_of
from specbench.telemetry.prometheus_text import Exposition, Labels

T = TypeVar("T")
# Which label sets of a page's family count, chosen among all of them.
Keep = Callable[[Collection[Labels]], Collection[Labels]]
NOT_ASKED = "not_asked: this engine has no metrics page, or none was named"


@dataclass(frozen=True, slots=True)
class Reported(Generic[T]):
    """A quantity, or None with the reason why it cannot be had."""

    value: T | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrapeWindow:
    """The scrapes around and within one block. Counters are read from its ends, gauges from all of it.

    `paths` are those of the engine's own pages, the main one first; none where all pages are of one kind.
    """

    before: Scrape
    during: tuple[Scrape, ...]
    after: Scrape
    continuity: Continuity
    paths: tuple[str, ...] = ()


def span_of(before: Scrape, during: Sequence[Scrape], after: Scrape, paths: tuple[str, ...] = ()) -> ScrapeWindow:
    """The span of these scrapes, with whether the same processes answered them all."""
    continuity = continuity_of([before, *during, after])
    return ScrapeWindow(before=before, during=tuple(during), after=after, continuity=continuity, paths=paths)


def every_series(family: Collection[Labels]) -> Collection[Labels]:
    """The whole family: sum over all label sets."""
    return family


def increase(span: ScrapeWindow, stem: str, keep: Keep = every_series) -> Reported[float]:
    """How much a counter grew in the block: differences per series, summed over label sets and replicas.

    A series that is there only at the end was created in the block, by the same process, and started at 0. A family that
    is there at neither end is unknown, never 0, and so is a sum of which one replica did not tell its part.
    """
    if span.continuity.broken is not None:
        return Reported(None, span.continuity.broken)
    if any(_not_finite(page, stem, keep) for end in (span.before, span.after) for page in end.pages):
        return Reported(None, f"not_a_number: {stem} was NaN or infinite")
    start, end = (_reading(scrape, span.paths, stem, keep) for scrape in (span.before, span.after))
    if end.value is None:
        return Reported(None, end.reason)
    unread = [page.absent for page in span.before.pages if page.absent and any(url == page.url for url, _ in end.value)]
    if unread or (start.value is None and start.reason != not_exposed(stem)):
        return Reported(None, start.reason if not unread else unread[0])
    begun = start.value or {}
    return Reported(sum(value - begun.get(series, 0.0) for series, value in end.value.items()))


def increase_by_label(span: ScrapeWindow, stem: str, label: str) -> Reported[dict[str, float]]:
    """How much a counter grew in the block for each value of one of its labels, summed over the others."""
    total = increase(span, stem)
    if total.value is None:
        return Reported(None, total.reason)
    names = {dict(labels).get(label) for page in span.after.pages for labels, _ in _series(page, stem)}
    rises = {name: increase(span, stem, _label_is(label, name)) for name in names}
    return Reported({name: told.value for name, told in rises.items() if name is not None and told.value is not None})


def observed_mean(span: ScrapeWindow, stem: str, keep: Keep = every_series) -> Reported[float]:
    """Mean of what a histogram or summary observed in the block: rise of `_sum` ÷ rise of `_count`."""
    total, count = increase(span, f"{stem}_sum", keep), increase(span, f"{stem}_count", keep)
    if total.value is None or count.value is None:
        return Reported(None, total.reason or count.reason)
    if count.value == 0:
        return Reported(None, f"no_observation: {stem} saw nothing in this block")
    return Reported(total.value / count.value)


def gauge_peak(span: ScrapeWindow, stem: str, keep: Keep = every_series) -> Reported[float]:
    """The highest value of any series of a gauge at any scrape, those at the ends included."""
    return _of_moments(span, [span.before, *span.during, span.after], stem, keep, lambda rows: max(map(max, rows)))


def gauge_mean(span: ScrapeWindow, stem: str, keep: Keep = every_series) -> Reported[float]:
    """Mean over the scrapes within the block of a gauge summed over its series and replicas.

    The ends stay out of it: the engine is idle there, by design.
    """
    if not span.during:
        return Reported(None, f"not_sampled: {stem} was not scraped within the block")
    return _of_moments(span, span.during, stem, keep, lambda rows: sum(map(sum, rows)) / len(rows))


def exposes(span: ScrapeWindow, stem: str) -> bool:
    """Whether any page at the end of the block has a series of that name, or had at its start."""
    return any(_series(page, stem) for end in (span.before, span.after) for page in end.pages)


def whole(told: Reported[float]) -> Reported[int]:
    """The count as an integer."""
    return Reported(None if told.value is None else round(told.value), told.reason)


def not_exposed(stem: str) -> str:
    """The reason for a family that no page has."""
    return f"not_exposed: no series {stem}"


def records(span: ScrapeWindow) -> list[Mapping[str, Any]]:
    """Every record that the JSON pages handed out in the block, in order; such pages give each record once.

    What the first scrape drained belongs to the time before the block.
    """
    return [record for scrape in (*span.during, span.after) for page in scrape.pages for record in page.records]


def _of_moments(
    span: ScrapeWindow, scrapes: Sequence[Scrape], stem: str, keep: Keep, combine: Callable[[list[list[float]]], float]
) -> Reported[float]:
    readings = [_reading(scrape, span.paths, stem, keep) for scrape in scrapes]
    rows = [list(reading.value.values()) for reading in readings if reading.value is not None]
    return Reported(combine(rows)) if rows else Reported(None, readings[0].reason)


def _reading(scrape: Scrape, paths: tuple[str, ...], stem: str, keep: Keep) -> Reported[dict[tuple[str, Labels], float]]:
    """The values of a family at one moment by URL and labels; None where a part of them is missing.

    A page that did not answer matters where another of its kind has the family: then it is a replica, and the rest
    would pass for the sum.
    """
    found = {(page.url, labels): value for page in scrape.pages for labels, value in _series(page, stem, keep)}
    silent = {_kind(page.url, paths): page.absent for page in scrape.pages if page.absent}
    gap = next((silent[kind] for url, _ in found if (kind := _kind(url, paths)) in silent), None)
    if found and gap is None:
        return Reported(found)
    if gap is None and any(page.samples is not None for page in scrape.pages):
        return Reported(None, not_exposed(stem))
    return Reported(None, gap or next(iter(silent.values()), NOT_ASKED))


def _kind(url: str, paths: tuple[str, ...]) -> str:
    """The longest of the engine's paths that the address ends with, whatever comes before it; else its main page's.

    A page under a name of its own (a gateway's) may hold anything, so it is taken for the main one.
    """
    address = urlsplit(url).path.rstrip("/")
    return max((path for path in paths if address.endswith(path)), key=len, default=next(iter(paths), ""))


def _series(page: Page, stem: str, keep: Keep = every_series) -> list[tuple[Labels, float]]:
    if page.samples is None:
        return []
    values = page.samples.values
    return [(labels, values[stem, labels]) for labels in _kept(page.samples, stem, keep) if (stem, labels) in values]


def _not_finite(page: Page, stem: str, keep: Keep) -> bool:
    samples = page.samples
    return samples is not None and any((stem, labels) in samples.not_finite for labels in _kept(samples, stem, keep))


def _kept(samples: Exposition, stem: str, keep: Keep) -> Collection[Labels]:
    """The label sets that count, chosen with those in mind whose sample is no number: they must not be replaced in silence."""
    return keep([labels for name, labels in chain(samples.values, samples.not_finite) if name == stem])


def _label_is(label: str, value: str | None) -> Keep:
    return lambda family: [labels for labels in family if dict(labels).get(label) == value]
