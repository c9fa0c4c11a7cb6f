"""Fetches metrics pages: once, when the engine is idle, or every second beside the load; a failure is a reason, never an error.

Nothing is read out of a page here: bodies stay as they came until the load is over.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from urllib.parse import urlsplit

from specbench.credentials import NO_SECRETS, Secrets, key_header
from specbench.explain.notes import metrics_moved
from specbench.model.scenario import Arm
from specbench.net.urls import origin
from specbench.telemetry.counters import span_of
from specbench.telemetry.engine import EngineSupport
from specbench.telemetry.gpu import gpu_page_of
from specbench.telemetry.http import HttpGetter, without
from specbench.telemetry.metrics_pages import HttpAnswer, Scrape, page_of

TIMEOUT_S = 2.0
PERIOD_S = 1.0
IDLE_LIMIT_S = 5.0
IDLE_POLL_S = 0.1
HELD_BYTES = 64 * 1024 * 1024  # of pages as they came, while the load lasts
READING_S = 5.0  # for all pages of a block's load; of larger ones, every second or tenth is read

Urls = tuple[tuple[str, Mapping[str, str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSource:
    """Where the metrics of one arm are, each URL with the headers that it may see; `gpus` limits what a GPU page may tell.

    `secrets` are taken out of what the pages say.
    """

    urls: Urls
    gpu_urls: Urls = ()
    gpus: frozenset[str] = frozenset()
    secrets: Secrets = NO_SECRETS


@dataclass(frozen=True, slots=True)
class _Raw:
    at_ns: int
    wall_s: float
    answers: tuple[HttpAnswer, ...]
    gpu_answers: tuple[HttpAnswer, ...]

    @property
    def size(self) -> int:
        """Characters of all its pages."""
        return sum(len(answer.body) for answer in (*self.answers, *self.gpu_answers))


def metrics_source(
    arm: Arm, url: str, headers: Mapping[str, str], engine: EngineSupport, secrets: Secrets = NO_SECRETS
) -> MetricsSource:
    """Where to scrape: beside the API at `url` (without `/v1`), or at the arm's `metrics_url`, replicas separated by commas.

    The arm's headers, its key among them, go to the API's own origin only. A key of the metrics' own, in the variable that
    `options.metrics_api_key_env` names, goes to every metrics URL. `options.gpu_metrics_url` names a DCGM exporter and
    `options.gpus` which of its GPUs (index or UUID) are this arm's.

    Raises:
        ScenarioError: the variable that `options.metrics_api_key_env` names is not set.
    """
    own = metrics_key(arm)
    paths = engine.metrics_paths
    replicas = _listed(arm.metrics_url)
    urls = [page for one in replicas for page in _pages_of(one, paths)] if replicas else [url + path for path in paths]
    gpus = arm.options.get("gpus")
    return MetricsSource(
        urls=tuple((page, {**(headers if origin(page) == origin(url) else {}), **own}) for page in urls),
        gpu_urls=tuple((page, own) for page in _listed(arm.options.get("gpu_metrics_url"))),
        gpus=frozenset(map(str, gpus)) if isinstance(gpus, list) else frozenset(),
        secrets=secrets,
    )


def scrape(source: MetricsSource) -> Scrape:
    """All metrics pages of one arm, now."""
    with HttpGetter() as getter:
        return _parsed(_fetched(getter, source), source)


def scrape_idle(source: MetricsSource, engine: EngineSupport, limit_s: float = IDLE_LIMIT_S) -> Scrape:
    """All metrics pages once the engine runs and queues nothing, or after `limit_s`; at once where it does not tell.

    Several counters move only when a request ends, so a scrape of a busy engine counts too little. What a page hands out
    only once (TensorRT-LLM's records) is kept from every try.
    """
    deadline = time.monotonic() + limit_s
    tries: list[Scrape] = []
    with HttpGetter() as getter:
        while True:
            tries.append(_parsed(_fetched(getter, source), source))
            if not _busy(tries[-1], engine) or time.monotonic() >= deadline:
                return _with_all_records(tries)
            time.sleep(IDLE_POLL_S)


def moved_pages(scrape: Scrape) -> tuple[str, ...]:
    """A clause for each metrics page that was read elsewhere than asked for, as it redirected there."""
    return tuple(metrics_moved(page.url, page.moved_to) for page in scrape.pages if page.moved_to is not None)


class Sampler:
    """Scrapes once a period while the context is open; `scrapes` holds what it got, in order, once the context is closed."""

    def __init__(self, source: MetricsSource, period_s: float = PERIOD_S) -> None:
        self.scrapes: tuple[Scrape, ...] = ()
        self._source = source
        self._period_s = period_s
        self._stop = threading.Event()
        self._raw: list[_Raw] = []
        self._thread = threading.Thread(target=self._sample, name="metrics", daemon=True)

    def __enter__(self) -> "Sampler":
        if self._source.urls or self._source.gpu_urls:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        # Parsing takes ten milliseconds a page, which the decoder of the load would have missed.
        self.scrapes = tuple(self._read())

    def _sample(self) -> None:
        with HttpGetter() as getter:
            while not self._stop.wait(self._period_s):
                self._raw.append(_fetched(getter, self._source))
                if sum(raw.size for raw in self._raw) > HELD_BYTES:
                    self._raw, self._period_s = self._raw[::2], 2 * self._period_s

    def _read(self) -> Iterator[Scrape]:
        """Every page, or as many of them, evenly, as can be read in time: the first one tells how long one takes."""
        raw, step = self._raw, 1
        while raw:
            began = time.monotonic()
            yield _parsed(raw[0], self._source)
            if raw is self._raw:
                step = 1 + int(len(raw) * (time.monotonic() - began) / READING_S)
            raw = raw[step:]


def _fetched(getter: HttpGetter, source: MetricsSource) -> _Raw:
    at_ns, wall_s = time.monotonic_ns(), time.time()
    answers = tuple(getter.get(url, headers, TIMEOUT_S) for url, headers in source.urls)
    gpu_answers = tuple(getter.get(url, headers, TIMEOUT_S) for url, headers in source.gpu_urls)
    return _Raw(at_ns, wall_s, answers, gpu_answers)


def _parsed(raw: _Raw, source: MetricsSource) -> Scrape:
    return Scrape(
        at_ns=raw.at_ns,
        wall_s=raw.wall_s,
        pages=tuple(page_of(without(source.secrets, answer)) for answer in raw.answers),
        gpu_pages=tuple(gpu_page_of(without(source.secrets, answer), source.gpus) for answer in raw.gpu_answers),
    )


def _busy(scrape: Scrape, engine: EngineSupport) -> bool:
    told = engine.read(span_of(scrape, [scrape], scrape, engine.metrics_paths))
    return any(told[name].value for name in ("running_mean", "waiting_mean") if name in told)


def _with_all_records(tries: Sequence[Scrape]) -> Scrape:
    last = tries[-1]
    earlier = {
        page.url: tuple(record for one in tries for tried in one.pages if tried.url == page.url for record in tried.records)
        for page in last.pages
    }
    return replace(last, pages=tuple(replace(page, records=earlier[page.url]) for page in last.pages))


def _pages_of(replica: str, paths: Sequence[str]) -> list[str]:
    """The metrics pages of one replica, given its address, that of its API (`/v1`) or that of one of its pages.

    Any other path (a gateway's) is taken as it stands.
    """
    base = replica.rstrip("/")
    known = next((path for path in (*sorted(paths, key=len, reverse=True), "/v1") if base.endswith(path)), "")
    if not known and urlsplit(base).path:
        return [base]
    base = base.removesuffix(known).rstrip("/")
    return [base + path for path in paths]


def _listed(urls: object) -> list[str]:
    return [url.strip() for url in str(urls or "").split(",") if url.strip()]


def metrics_key(arm: Arm) -> dict[str, str]:
    """The header with the key of the metrics' own; none where the arm names no variable.

    Raises:
        ScenarioError: the variable that `options.metrics_api_key_env` names is not set.
    """
    variable = arm.options.get("metrics_api_key_env")
    return key_header(variable if isinstance(variable, str) else None, "options.metrics_api_key_env")
