"""What an endpoint answered to a GET, and what a metrics page among those answers holds.

Nothing is fetched here (`scrape.py` and `endpoint.py` do that) and nothing compared.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from specbench.telemetry.prometheus_text import MOST_SERIES, Exposition, parse, series_in

PROCESS_START = "process_start_time_seconds"
# Despite its name it holds microseconds since the machine started (seen on a build of October 2026): a name, not a time.
LLAMACPP_PROCESS_HEADER = "process-start-time-unix"

# certificate: nobody vouches for it, or its name, date or form is refused; environment: the proxy or the certificates that it
# names cannot be used; tls: the other side does not speak it; hung_up: it took the connection and broke it off.
Failure = Literal[
    "certificate",
    "certificate_name",
    "certificate_date",
    "certificate_form",
    "environment",
    "tls",
    "not_reached",
    "hung_up",
    "unreadable",
    "too_large",
]
REMEDIES: dict[Failure, str] = {
    "certificate": "if the certificate is your own, name its authority's file in SSL_CERT_FILE",
    "certificate_name": "use a name or address that the certificate holds, or reissue it for this one",
    "certificate_date": "renew the certificate, or set this machine's clock right",
    "certificate_form": "SSL_CERT_FILE does not help: Python 3.13 and later refuse certificates without the fields of RFC 5280"
    " (key identifiers, critical basic constraints, key usage); reissue it with them",
    "environment": "fix what the environment variable names, or unset it",
    "tls": "try http:// instead of https://",
    "hung_up": "try https://, or check that this is the engine's port",
    "not_reached": "start the engine, or correct the URL",
    "unreadable": "check that this is the engine's address",
    "too_large": "name the page of one engine; an answer so large is not read",
}
"""What to try, by how a GET failed."""
_REFUSED = "refused"  # by the system's own word, whatever the error's class


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """One GET as it ended: a status and a body, or a `failure` and the `problem` in words. Header names are in lower case.

    `moved_to`: where the answer came from, if `url` redirected there.
    """

    url: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    failure: Failure | None = None
    problem: str | None = None
    moved_to: str | None = None

    @property
    def connected(self) -> bool:
        """False where nobody took the connection, so that asking the same origin again is idle."""
        return self.failure in (None, "hung_up", "unreadable", "too_large")

    def json(self) -> Any:
        """The decoded body of a good answer; None where there is no good answer or it is not JSON."""
        if self.status != 200:
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


def unreachable(url: str, answer: HttpAnswer) -> str:
    """Why nothing was read at `url`, and what to try, as one line."""
    remedy = "check the URL" if answer.failure is None else REMEDIES[answer.failure]
    if answer.failure == "not_reached" and _REFUSED in (answer.problem or ""):
        return f"nothing listens at {url} (connection refused); {remedy}"
    return f"{url} does not answer ({answer.problem}); {remedy}"


HttpAnswers = Mapping[str, HttpAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One metrics URL at one moment: samples, or the records of a JSON page, or (`absent`) why there is neither.

    `process` tells the answering process from others, None where nothing does; `started_s` is the Unix time at which it
    says that it started, None where it does not say. `moved_to`: the URL to which this one redirected.
    """

    url: str
    samples: Exposition | None = None
    records: tuple[Mapping[str, Any], ...] = ()
    process: str | None = None
    started_s: float | None = None
    absent: str | None = None
    moved_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """All metrics pages of one arm at one moment: `at_ns` on the monotonic clock, `wall_s` the same moment in Unix time.

    `pages` are the engine's own (several where there are replicas), `gpu_pages` those of a DCGM exporter.
    """

    at_ns: int
    wall_s: float
    pages: tuple[Page, ...]
    gpu_pages: tuple[Page, ...] = ()


def page_of(answer: HttpAnswer) -> Page:
    """The metrics page that `answer` is; any answer makes one, if only one that says why there are no metrics."""
    return replace(_page_of(answer), moved_to=answer.moved_to)


def _page_of(answer: HttpAnswer) -> Page:
    absent = _why_absent(answer)
    if absent is not None:
        return Page(url=answer.url, absent=absent)
    if answer.body.lstrip()[:1] == "[":
        records = answer.json()
        if isinstance(records, list) and all(isinstance(record, dict) for record in records):
            return Page(url=answer.url, records=tuple(records))
        return Page(url=answer.url, absent="not_metrics: a JSON body that is no list of records")
    if (series := series_in(answer.body)) > MOST_SERIES:
        told = f"the page has {series} series, and more than {MOST_SERIES} are not read; name one engine's own page (metrics_url)"
        return Page(url=answer.url, absent=f"too_many_series: {told}")
    samples = parse(answer.body)
    if not samples.values and samples.unreadable:
        return Page(url=answer.url, absent="not_metrics: the body is no Prometheus text")
    return page_with(answer.url, samples, answer.headers.get(LLAMACPP_PROCESS_HEADER))


def page_with(url: str, samples: Exposition, process: str | None = None) -> Page:
    """A page of these samples; `process` tells the answering process apart where the samples do not say when it started."""
    started_s = _started_s(samples)
    return Page(url=url, samples=samples, process=process if started_s is None else str(started_s), started_s=started_s)


def _why_absent(answer: HttpAnswer) -> str | None:
    if answer.status is None:
        word = "too_large" if answer.failure == "too_large" else "unreachable"
        return f"{word}: {answer.problem or 'no answer'}"
    if answer.status in (401, 403):
        return f"http_{answer.status}: the metrics page wants a key, or another one"
    if answer.status in (404, 501):
        return f"http_{answer.status}: there is no metrics page, or it is switched off"
    if 300 <= answer.status < 400 and (location := answer.headers.get("location")):
        return f"http_{answer.status}: the metrics page is redirected to {location[:200]!r}; name its address as metrics_url"
    if answer.status != 200:
        return f"http_{answer.status}: the metrics page answers an error"
    return None


def _started_s(samples: Exposition) -> float | None:
    """When the process started, by the standard metric or else the earliest `_created` time."""
    said = [value for (stem, _), value in samples.values.items() if stem == PROCESS_START]
    return min(said or samples.created.values(), default=None)
