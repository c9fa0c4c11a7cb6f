"""What a histogram observed between two scrapes, bucket by bucket, summed over replicas; or the reason why it cannot be had.

What the buckets mean for a quantile is worked out in `analysis/buckets.py`.
"""

from math import inf, isfinite

from specbench.model.live.live_period import BucketCounts
from specbench.telemetry.counters import Reported, ScrapeWindow, increase
from specbench.telemetry.metrics_pages import Page, Scrape

NATIVE = "no_buckets: the series has a _count and no _bucket (converted to a native histogram?); keep the classic buckets"
ENDLESS = 'no_top_bucket: the histogram has no bucket le="+Inf", so what it counts is not known'
CHANGED = "edges_changed: the edges of the buckets changed between two pages"


def bucket_counts(span: ScrapeWindow, stem: str) -> Reported[BucketCounts]:
    """The observations of one histogram by bucket; shares and means need no more, and quantiles get no more."""
    total, count = increase(span, f"{stem}_sum"), increase(span, f"{stem}_count")
    if total.value is None or count.value is None:
        return Reported(None, count.reason or total.reason)
    began, ended = (_by_edge(scrape, f"{stem}_bucket") for scrape in (span.before, span.after))
    if not ended:
        return Reported(None, NATIVE)
    if began and began.keys() != ended.keys():
        return Reported(None, CHANGED)
    if inf not in ended:
        return Reported(None, ENDLESS)
    edges = tuple(sorted(edge for edge in ended if isfinite(edge)))
    up_to = tuple(ended[edge] - began.get(edge, 0.0) for edge in edges)
    return Reported(BucketCounts(edges=edges, up_to=up_to, count=count.value, sum=total.value))


def _by_edge(scrape: Scrape, stem: str) -> dict[float, float]:
    found: dict[float, float] = {}
    for page in scrape.pages:
        for edge, value in _buckets(page, stem):
            found[edge] = found.get(edge, 0.0) + value
    return found


def _buckets(page: Page, stem: str) -> list[tuple[float, float]]:
    if page.samples is None:
        return []
    listed = [(dict(labels).get("le", ""), value) for (name, labels), value in page.samples.values.items() if name == stem]
    return [(float(edge), value) for edge, value in listed if _is_number(edge)]


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False
