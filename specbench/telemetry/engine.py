"""What specbench knows of one kind of serving engine: how it streams, what to ask of it and how to read what it tells.

One value per engine, made in that engine's own file; no engine's names here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from specbench.model.records import StreamFormat, Telemetry
from specbench.model.scenario import Route
from specbench.telemetry.counters import NOT_ASKED, Reported, ScrapeWindow, span_of
from specbench.telemetry.engines.rulers import COMPLETIONS, Ruler
from specbench.telemetry.gpu import gpu_quantities
from specbench.telemetry.metrics_pages import HttpAnswers, Scrape

Quantities = dict[str, Reported[Any]]

_QUANTITIES = frozenset(one.name for one in fields(Telemetry)) - {"reset", "restarts", "absent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSupport:
    """One kind of serving engine.

    `request_extras(route, streaming)` is what a request body gains so that the answer tells how many tokens an event holds.
    `metrics_paths` are fetched per replica, and `read` turns them into quantities named as in `Telemetry`; a dotted name
    ("acceptance.rounds") gives the reason for a part that is None.
    `fact_paths` are fetched once, before load: `recognises` says whether such answers are this engine's, `facts` what it
    says of itself, by the names of `facts.py`.
    `prefixes` begin the names of its series, the first one its own; `histograms` names, without a prefix, those that `watch`
    reads, by the names of `LivePeriod`.
    `tokenize(model, text)` is the path and body that ask for a text's token ids, None where the engine has no such route.
    `ruler`: how it is asked what it thinks of given tokens.
    """

    name: str
    label: str
    stream: StreamFormat
    request_extras: Callable[[Route, bool], dict[str, Any]]
    metrics_paths: tuple[str, ...]
    read: Callable[[ScrapeWindow], Quantities]
    fact_paths: tuple[str, ...]
    recognises: Callable[[HttpAnswers], bool]
    facts: Callable[[HttpAnswers], dict[str, str]]
    tokenize: Callable[[str, str], tuple[str, dict[str, Any]]] | None = None
    prefixes: tuple[str, ...] = ()
    histograms: Mapping[str, str] = field(default_factory=dict)
    ruler: Ruler = COMPLETIONS


def telemetry_of(before: Scrape, during: Sequence[Scrape], after: Scrape, engine: EngineSupport) -> Telemetry:
    """What the engine said of itself over one block: counters as differences, gauges as peak and mean.

    Args:
        before: Scraped before the block's first request, with the engine idle.
        during: Scraped while load was on, in order; without any, gauges have no mean.
        after: Scraped once the engine was idle again, since some counters move only when a request ends.
        engine: Whose names to read.

    Returns:
        Every quantity as a value, or None with its reason in `absent`.
    """
    span = span_of(before, during, after, engine.metrics_paths)
    told = dict(engine.read(span))
    if before.gpu_pages:
        exporter = gpu_quantities(before, during, after)
        # An exporter that is silent must not take away what the engine itself tells.
        told |= {name: one for name, one in exporter.items() if one.value is not None or told.get(name, one).value is None}
    silent = next((page.absent for page in after.pages if page.absent), NOT_ASKED)
    told["restarts"] = Reported(span.continuity.restarts, span.continuity.broken or silent)
    absent = dict.fromkeys(_QUANTITIES - told.keys(), f"not_told: {engine.label} does not report it")
    absent |= {name: one.reason or "unknown: nothing says why" for name, one in told.items() if one.value is None}
    values = {name: one.value for name, one in told.items() if "." not in name}
    return Telemetry(**values, reset=span.continuity.reset, absent=dict(sorted(absent.items())))
