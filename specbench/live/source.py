"""Where live figures come from: a Prometheus server's raw samples, or the engines' own metrics pages. Only here are they fetched.

No rate() and no increase(): they extrapolate and hide restarts. One query per period and arm brings the samples as they were
scraped, and they become the pages that a run reads.
"""

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from specbench.credentials import NO_SECRETS, Secrets, one_line
from specbench.errors import DataError, UnreachableError, nearest
from specbench.live.replica_pages import ReplicaPages
from specbench.telemetry import ENGINES
from specbench.telemetry.http import HttpGetter
from specbench.telemetry.metrics_pages import HttpAnswer, Page, Scrape, page_with, unreachable
from specbench.telemetry.prometheus_text import Exposition, Key
from specbench.telemetry.scrape import MetricsSource, scrape

TIMEOUT_S = 10.0
CLOCKS_APART_S = 30.0
_MATCHER = re.compile(r'(\w+)\s*=\s*"([^"]*)"')
NO_SAMPLES = "answers with no samples of Prometheus; is this its address?"
_NOT_SAMPLES = (KeyError, IndexError, TypeError, ValueError, AttributeError)
_MONOTONE = ("_total", "_count", "_bucket")
_TARGET = ("instance", "pod")  # labels that tell one replica from another


class LiveSource(Protocol):
    """The pages of one arm's replicas around a period."""

    def look(self) -> None:
        """Fetches what only now can be fetched; nothing where the past can be fetched later."""

    def replicas(self, start_s: float, end_s: float) -> tuple[ReplicaPages, ...]:
        """Every replica with its pages from before the start to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusServer:
    """A Prometheus server by its address, with the headers that it may see."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Secrets = NO_SECRETS

    def ask(self, path: str, **parameters: object) -> Any:
        """The `data` of its answer.

        Raises:
            UnreachableError: It does not answer, refuses the key, or is no Prometheus.
            DataError: It refuses the query.
        """
        url = f"{self.url.rstrip('/')}{path}?{urlencode(parameters, doseq=True)}"
        with HttpGetter(self.secrets) as getter:
            answer = getter.get(url, self.headers, TIMEOUT_S)
        body = _json(answer)
        if answer.status == 200 and isinstance(body, dict) and body.get("status") == "success":
            self._check_clock(answer)
            return body.get("data")
        if answer.status in (401, 403):
            raise UnreachableError(
                f"--prometheus {self.url} wants a key (HTTP {answer.status}); name its variable: --prometheus-key-env"
            )
        if isinstance(body, dict) and body.get("status") == "error":
            word = one_line(str(body.get("error", "")), 200)
            raise DataError(f"--prometheus {self.url} refuses the query (HTTP {answer.status}): {word}; correct it")
        if answer.status is None:
            raise UnreachableError(f"--prometheus: {unreachable(self.url, answer)}")
        page = "a web page" if "html" in answer.headers.get("content-type", "") else "no JSON of Prometheus"
        raise UnreachableError(f"--prometheus {self.url} answers {page} (HTTP {answer.status}); is this its address?")

    def _check_clock(self, answer: HttpAnswer) -> None:
        try:
            there = parsedate_to_datetime(answer.headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError):
            return
        if there - time.time() > CLOCKS_APART_S:
            behind = round(there - time.time())
            raise DataError(
                f"this machine's clock is {behind} s behind that of {self.url}; set it right, or no period is the newest"
            )


class PrometheusSource:
    """The replicas that a selector matches, from a Prometheus server's raw samples."""

    def __init__(self, server: PrometheusServer, selector: str, engine: str | None = None) -> None:
        self._server = server
        self._selector = selector.strip()
        if not (self._selector.startswith("{") and self._selector.endswith("}")) or not self._selector.strip("{} "):
            raise DataError(f'{selector}: no selector; write label matchers in braces, such as {{job="vllm",arm="spec"}}')
        known = [ENGINES[engine]] if engine else list(ENGINES.values())
        prefixes = "|".join(dict.fromkeys(prefix for one in known for prefix in one.prefixes))
        self._names = f'__name__=~"({prefixes}).+|process_start_time_seconds"'

    @property
    def arm_label(self) -> str | None:
        """What the selector asks of the label `arm`, by which a query of both arms may name this one."""
        return dict(_MATCHER.findall(self._selector)).get("arm")

    def look(self) -> None:
        """Nothing: the server keeps what it scraped."""

    def replicas(self, start_s: float, end_s: float) -> tuple[ReplicaPages, ...]:
        """Every replica with its pages from before the start to the end: one query.

        Raises:
            UnreachableError: The server does not answer.
            DataError: It refuses the query.
        """
        reach = math.ceil((end_s - start_s) * 1.5)
        query = f"{{{self._names},{self._selector[1:-1].strip().rstrip(',')}}}[{reach}s]"
        data = self._server.ask("/api/v1/query", query=query, time=f"{end_s:.3f}")
        try:
            found = _replicas_of(data.get("result", []) if isinstance(data, dict) else [])
        except _NOT_SAMPLES:
            raise DataError(f"--prometheus {self._server.url} {NO_SAMPLES}") from None
        gaps = [replica.gap_s for replica in found if replica.gap_s is not None]
        if found and (not gaps or min(gaps) > (end_s - start_s) / 2):
            often = f"every {min(gaps):.0f} s, less often than twice a window" if gaps else f"only once in {reach} s"
            every = f"pages are scraped {often}"
            raise DataError(f"{self._selector}: {every}; make --window longer, or scrape more often")
        return found

    def matches_now(self) -> bool:
        """Whether the selector matches a series of an engine now, whatever it matched in the past."""
        query = f"count({{{self._names},{self._selector[1:-1].strip().rstrip(',')}}})"
        data = self._server.ask("/api/v1/query", query=query)
        return bool(data.get("result")) if isinstance(data, dict) else False

    def nearest_values(self) -> str:
        """Which label of the selector has no such value, and which values are nearest, to end an error with."""
        for label, wanted in _MATCHER.findall(self._selector):
            values = self._server.ask(f"/api/v1/label/{label}/values", **{"match[]": f"{{{self._names}}}"})
            if isinstance(values, list) and wanted not in values:
                shown = nearest(wanted, map(str, values))
                listed = [shown] if shown else list(map(str, values[:3]))
                return (
                    f"the nearest: {' or '.join(f'{label}={value}' for value in listed)}"
                    if listed
                    else f"no series of an engine has the label {label}"
                )
        return "no series of an engine has all of these labels"


def page_url(url: str) -> str:
    """The metrics page of a replica; the usual one where the address names none."""
    return url.rstrip("/") if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/metrics"


class PagesSource:
    """The replicas at these metrics URLs; what was fetched in earlier looks is kept as long as a period needs it."""

    def __init__(self, urls: Sequence[str], headers: Mapping[str, str] | None = None, keep_s: float = 900.0) -> None:
        self._urls = tuple(map(page_url, urls))
        self._source = MetricsSource(urls=tuple((url, headers or {}) for url in self._urls))
        self._keep_s = keep_s
        self._scrapes: list[Scrape] = []

    def look(self) -> None:
        """Fetches every page once."""
        self._scrapes.append(scrape(self._source))
        oldest = self._scrapes[-1].wall_s - self._keep_s
        self._scrapes = [one for one in self._scrapes if one.wall_s >= oldest]

    def replicas(self, start_s: float, end_s: float) -> tuple[ReplicaPages, ...]:
        """Every replica with the pages that were fetched until the end."""
        return tuple(
            ReplicaPages(
                name=url,
                host=urlsplit(url).hostname or url,
                pages=tuple(
                    (one.wall_s, page) for one in self._scrapes if one.wall_s <= end_s for page in one.pages if page.url == url
                ),
            )
            for url in self._urls
        )


def failed_shares(server: PrometheusServer, query: str, at_s: float) -> dict[str, float]:
    """The share of failed requests by arm that the gateway's query tells: series labelled `arm`, or one without is the
    speculative arm's.

    Raises:
        DataError: It tells no share from 0 to 1, or is refused.
    """
    try:
        data = server.ask("/api/v1/query", query=query, time=f"{at_s:.3f}")
    except DataError as error:
        raise DataError(f"--errors: {error}") from None
    found = {}
    try:
        for row in data.get("result", []) if isinstance(data, dict) and data.get("resultType") == "vector" else []:
            share = float(row["value"][1])
            if math.isfinite(share):
                found[str(row.get("metric", {}).get("arm", "speculative"))] = share
    except _NOT_SAMPLES:
        raise DataError(f"--errors: {server.url} {NO_SAMPLES}") from None
    if wrong := [share for share in found.values() if not 0 <= share <= 1]:
        raise DataError(f"--errors: {wrong[0]:g} is no share; let the query divide failed requests by all of them")
    return found


def _replicas_of(result: Sequence[Mapping[str, Any]]) -> tuple[ReplicaPages, ...]:
    """The raw samples of a matrix as pages: those of one target and one moment are one page."""
    pages: dict[tuple[str, ...], dict[float, dict[tuple[str, Key], float]]] = {}
    for series in result:
        labels = dict(series.get("metric", {}))
        name = str(labels.pop("__name__", ""))
        target = tuple(str(labels.pop(label, "")) for label in _TARGET)
        key = (name.removesuffix("_total"), tuple(sorted(labels.items())))
        for at, value in series.get("values", []):
            pages.setdefault(target, {}).setdefault(float(at), {})[name, key] = float(value)
    return tuple(
        ReplicaPages(
            name=" ".join(filter(None, target)),
            host=target[0].rsplit(":", 1)[0],
            pages=tuple((at, _page("|".join(target), samples)) for at, samples in sorted(moments.items())),
        )
        for target, moments in sorted(pages.items())
    )


def _page(url: str, samples: Mapping[tuple[str, Key], float]) -> Page:
    created = {key: value for (name, key), value in samples.items() if name.endswith("_created")}
    told = {(name, key): value for (name, key), value in samples.items() if not name.endswith("_created")}
    return page_with(
        url,
        Exposition(
            values={key: value for (_, key), value in told.items() if math.isfinite(value)},
            monotone=frozenset(key for (name, key), value in told.items() if name.endswith(_MONOTONE) and math.isfinite(value)),
            not_finite=frozenset(key for (_, key), value in told.items() if not math.isfinite(value)),
            created=created,
            unreadable=0,
        ),
    )


def _json(answer: HttpAnswer) -> Any:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
