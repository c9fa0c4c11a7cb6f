"""Scrapes from literal texts, at moments a second apart, so that a test shows both ends of a block."""

from pathlib import Path

from specbench.model.records import Telemetry
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.counters import ScrapeWindow, span_of
from specbench.telemetry.metrics_pages import HttpAnswer, Scrape, page_of

METRICS = Path(__file__).parent.parent / "golden" / "metrics"
URL = "http://engine:8000/metrics"
BEFORE_S = 1_000_000.0


def recorded(name: str) -> str:
    """A page under tests/golden/metrics."""
    return (METRICS / name).read_text()


def answer(text: str, url: str = URL, status: int | None = 200, headers: dict[str, str] | None = None) -> HttpAnswer:
    """A GET that ended with this body; a status of None is no answer at all."""
    return HttpAnswer(url=url, status=status, body=text, headers=headers or {}, problem="refused" if status is None else None)


def scrape_of(*answers: HttpAnswer | str, second: int = 0) -> Scrape:
    """One scrape; a plain text stands for a good answer of the one URL."""
    pages = tuple(page_of(answer(one) if isinstance(one, str) else one) for one in answers)
    return Scrape(at_ns=second * 1_000_000_000, wall_s=BEFORE_S + second, pages=pages)


def span(before: HttpAnswer | str, after: HttpAnswer | str, *during: HttpAnswer | str) -> ScrapeWindow:
    """A block between two pages of one URL."""
    within = [scrape_of(one, second=second) for second, one in enumerate(during, start=1)]
    return span_of(scrape_of(before), within, scrape_of(after, second=len(within) + 1))


def told(engine: str, before: HttpAnswer | str, after: HttpAnswer | str, *during: HttpAnswer | str) -> Telemetry:
    """What that engine tells of such a block."""
    block = span(before, after, *during)
    return telemetry_of(block.before, block.during, block.after, ENGINES[engine])
