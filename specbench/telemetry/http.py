"""One GET, bounded in time and size, whose every failure is an answer too; loopback never goes through a proxy.

What is asked and what the answers mean is decided elsewhere (`scrape.py`, `endpoint.py`).
"""

import ssl
import time
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

from specbench.telemetry.metrics_pages import Failure, HttpAnswer
from specbench.urls import is_loopback, proxy_of, redirect_target

LARGEST_BODY = 32 * 1024 * 1024


class HttpGetter:
    """Connections to the endpoints of one arm, kept open for as long as the context is."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, bool], httpx.Client] = {}

    def __enter__(self) -> "HttpGetter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for client in self._clients.values():
            client.close()

    def get(self, url: str, headers: Mapping[str, str], timeout_s: float) -> HttpAnswer:
        """What `url` answers, within about twice `timeout_s` and 32 MiB; one redirect to the same origin is followed."""
        return self._followed("GET", url, headers, timeout_s, None)

    def post(self, url: str, headers: Mapping[str, str], timeout_s: float, body: object) -> HttpAnswer:
        """What `url` answers to this JSON body, within the same limits."""
        return self._followed("POST", url, headers, timeout_s, body)

    def _followed(self, method: str, url: str, headers: Mapping[str, str], timeout_s: float, body: object) -> HttpAnswer:
        """The answer, or that of where it redirects the same request to (307, 308), if it is the same origin and does so once."""
        answer = self._ask(method, url, headers, timeout_s, body)
        if answer.status not in (307, 308) or (target := redirect_target(url, answer.headers.get("location", ""))) is None:
            return answer
        return replace(self._ask(method, target, headers, timeout_s, body), url=url, moved_to=target)

    def _ask(self, method: str, url: str, headers: Mapping[str, str], timeout_s: float, body: object) -> HttpAnswer:
        content: dict[str, Any] = {} if body is None else {"json": body}
        deadline = time.monotonic() + timeout_s
        try:
            with self._client(url).stream(method, url, headers=dict(headers), timeout=timeout_s, **content) as response:
                read = bytearray()
                for piece in response.iter_bytes():
                    read += piece
                    if time.monotonic() > deadline or len(read) > LARGEST_BODY:
                        return HttpAnswer(url=url, failure="unreadable", problem="the answer does not end")
                seen = {name.lower(): value for name, value in response.headers.items()}
                return HttpAnswer(url=url, status=response.status_code, headers=seen, body=read.decode("utf-8", errors="replace"))
        except httpx.LocalProtocolError:
            # Its words would show a header, and with it perhaps a key.
            words = "LocalProtocolError: a header or the URL holds what HTTP cannot carry"
            return HttpAnswer(url=url, failure="unreadable", problem=words)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # ValueError: a URL that cannot be taken apart, or a header beyond ASCII.
            words = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            return HttpAnswer(url=url, failure=_failure(error), problem=words)

    def _client(self, url: str) -> httpx.Client:
        parts = urlsplit(url)
        # Reading the trust store takes 20 ms, which a plain-text scrape beside the load need not cost.
        kind = (parts.scheme, is_loopback(parts.hostname or ""))
        if kind not in self._clients:
            self._clients[kind] = httpx.Client(trust_env=not kind[1], verify=parts.scheme == "https")
        return self._clients[kind]


def _failure(error: Exception) -> Failure:
    """What kind of failure this is, by the errors that it came from."""
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in chain):
        return "certificate"
    if any(isinstance(one, ssl.SSLError) for one in chain):
        return "tls"
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "not_reached"
    broken_off = isinstance(error, httpx.RemoteProtocolError) or any(isinstance(one, ConnectionResetError) for one in chain)
    return "hung_up" if broken_off else "unreadable"


def proxy_name(url: str) -> str | None:
    """The proxy, without any password, by which a GET of `url` goes; None where it goes direct."""
    try:
        proxy = proxy_of(url)
    except (OSError, ValueError) as error:
        return str(error)
    return None if proxy is None else proxy.name
