"""One GET, bounded in time and size, whose every failure is an answer too; loopback never goes through a proxy.

What is asked and what the answers mean is decided elsewhere (`scrape.py`, `endpoint.py`).
"""

import contextlib
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

from specbench.credentials import LONGEST_WORD, NO_SECRETS, Secrets, one_line
from specbench.net.proxies import Proxy, proxy_of
from specbench.net.urls import origin, redirect_target
from specbench.stream.connection import tls_context
from specbench.telemetry.metrics_pages import Failure, HttpAnswer

LARGEST_BODY = 8 * 1024 * 1024
"""Bytes of one answer, unpacked; the largest page of an engine that is known holds a few hundred thousand."""

ENDLESS = "the answer does not end"
TOO_LARGE = f"the answer is larger than {LARGEST_BODY >> 20} MiB"
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_UNREADABLE = ("br", "zstd", "compress")
_NAME_MISMATCH = (62, 63, 64)  # OpenSSL's X509_V_ERR_..._MISMATCH of host, mail and address
_EXPIRED = (9, 10)  # not valid yet, not valid any more
# What Python 3.13 began to insist on (X509_V_FLAG_X509_STRICT): key identifiers, critical constraints, usages of keys.
_NOT_STRICT = (41, *range(79, 95))


class HttpGetter:
    """Connections to the endpoints of one arm, kept open for as long as the context is; answers come without these secrets."""

    def __init__(self, secrets: Secrets = NO_SECRETS) -> None:
        self._secrets = secrets
        self._clients: dict[tuple[str, Proxy | None], httpx.Client] = {}
        self._streams: dict[tuple[str, str | None, int | None], Any] = {}

    def __enter__(self) -> "HttpGetter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for client in self._clients.values():
            client.close()

    def get(self, url: str, headers: Mapping[str, str], timeout_s: float) -> HttpAnswer:
        """What `url` answers, within about twice `timeout_s` and 8 MiB; one redirect to the same origin is followed."""
        return self._followed("GET", url, headers, timeout_s, None)

    def post(self, url: str, headers: Mapping[str, str], timeout_s: float, body: object) -> HttpAnswer:
        """What `url` answers to this JSON body, within the same limits."""
        return self._followed("POST", url, headers, timeout_s, body)

    def _followed(self, method: str, url: str, headers: Mapping[str, str], timeout_s: float, body: object) -> HttpAnswer:
        """The answer, or that of where it redirects the same request to (307, 308), if it is the same origin and does so once."""
        answer = self._ask(method, url, headers, timeout_s, body)
        if answer.status not in (307, 308) or (target := redirect_target(url, answer.headers.get("location", ""))) is None:
            return without(self._secrets, answer)
        moved = without(self._secrets, self._ask(method, target, headers, timeout_s, body))
        return replace(moved, url=url, moved_to=self._secrets.out_of(target))

    def _ask(self, method: str, url: str, headers: Mapping[str, str], timeout_s: float, body: object) -> HttpAnswer:
        content: dict[str, Any] = {} if body is None else {"json": body}
        asked = {"Accept-Encoding": "identity", **headers}
        try:
            client = self._client(url)
        except (OSError, ValueError) as error:  # certificates or a proxy of the environment that are none, or a URL that is none
            return HttpAnswer(url=url, failure="environment" if isinstance(error, OSError) else "unreadable", problem=str(error))
        with self._ended(url, 2 * timeout_s) as (late, trace):
            try:
                with client.stream(
                    method, url, headers=asked, timeout=timeout_s, extensions={"trace": trace}, **content
                ) as response:
                    seen = {name.lower(): value for name, value in response.headers.items()}
                    read, problem = _body(response, time.monotonic() + timeout_s)
                    if problem is not None:
                        failure: Failure = "too_large" if problem == TOO_LARGE else "unreadable"
                        return HttpAnswer(url=url, failure=failure, problem=problem)
                    return HttpAnswer(
                        url=url, status=response.status_code, headers=seen, body=read.decode("utf-8", errors="replace")
                    )
            except httpx.LocalProtocolError:
                # Its words would show a header, and with it perhaps a key.
                words = "LocalProtocolError: a header or the URL holds a character that HTTP does not allow"
                return HttpAnswer(url=url, failure="unreadable", problem=words)
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                # ValueError: a URL that cannot be taken apart, or a header beyond ASCII.
                if late.is_set():
                    return HttpAnswer(url=url, failure="unreadable", problem=ENDLESS)
                return HttpAnswer(url=url, failure=_failure(error), problem=f"{type(error).__name__}: {error}")

    @contextmanager
    def _ended(self, url: str, limit_s: float) -> Iterator[tuple[threading.Event, Any]]:
        """While this is open; past the limit the connection is shut, so that a head that drips for ever ends as well.

        A client's own timeout begins anew with every byte.
        """
        late, where = threading.Event(), origin(url)

        def trace(event: str, told: Mapping[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete", "http_proxy.start_tls.complete"):
                self._streams[where] = told["return_value"]

        def shut() -> None:
            late.set()
            if (stream := self._streams.get(where)) is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)

        timer = threading.Timer(limit_s, shut)
        timer.daemon = True
        timer.start()
        try:
            yield late, trace
        finally:
            timer.cancel()

    def _client(self, url: str) -> httpx.Client:
        kind = (urlsplit(url).scheme, proxy_of(url))
        if kind not in self._clients:
            self._clients[kind] = client_to(url)
        return self._clients[kind]


def without(secrets: Secrets, answer: HttpAnswer) -> HttpAnswer:
    """The answer, freed of the secrets wherever they stand in it; its problem on one line."""
    return replace(
        answer,
        headers={name: secrets.out_of(value) for name, value in answer.headers.items()},
        body=secrets.out_of(answer.body),
        problem=None if answer.problem is None else one_line(secrets.out_of(answer.problem), LONGEST_WORD),
    )


def _body(response: httpx.Response, deadline: float) -> tuple[bytearray, str | None]:
    """The body with its content encoding undone, and why it is not whole, None where it is.

    A little that is packed can unpack to very much: no piece is unpacked further than the limit.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    read = bytearray()
    if encoding in _UNREADABLE:
        return read, f"content encoding {encoding} was not requested and cannot be read"
    unpack = zlib.decompressobj(_WINDOW_BITS[encoding]) if encoding in _WINDOW_BITS else None
    for piece in response.iter_raw():
        while piece and len(read) <= LARGEST_BODY:
            if unpack is None:
                read += piece
                break
            try:
                read += unpack.decompress(piece, LARGEST_BODY + 1 - len(read))
            except zlib.error as error:
                return read, f"content encoding {encoding}: {error}"
            piece = unpack.unused_data
            if unpack.eof:  # what follows is a member of its own (RFC 1952)
                unpack = zlib.decompressobj(_WINDOW_BITS[encoding])
        if len(read) > LARGEST_BODY:
            return read, TOO_LARGE
        if time.monotonic() > deadline:
            return read, ENDLESS
    return read, None


def client_to(url: str) -> httpx.Client:
    """A client for this URL by the rules of load: this machine directly, others as the environment says, the same trust.

    Raises: OSError where the certificates or the proxy that the environment names cannot be used.
    """
    proxy = proxy_of(url)
    by = None if proxy is None else httpx.Proxy(proxy.url, headers=proxy.headers)
    # Reading the trust store takes 20 ms, which a plain-text scrape beside the load need not cost.
    verify = tls_context(True) if urlsplit(url).scheme == "https" else False
    return httpx.Client(trust_env=False, verify=verify, proxy=by)


def _failure(error: Exception) -> Failure:
    """What kind of failure this is, by the errors that it came from."""
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    refused = next((one for one in chain if isinstance(one, ssl.SSLCertVerificationError)), None)
    if refused is not None:
        return _refused_certificate(refused.verify_code)
    if any(isinstance(one, ssl.SSLError) for one in chain):
        return "tls"
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "not_reached"
    broken_off = isinstance(error, httpx.RemoteProtocolError) or any(isinstance(one, ConnectionResetError) for one in chain)
    return "hung_up" if broken_off else "unreadable"


def _refused_certificate(code: int) -> Failure:
    """What is wrong with a certificate, by OpenSSL's code."""
    if code in _NOT_STRICT:
        return "certificate_form"
    if code in _NAME_MISMATCH:
        return "certificate_name"
    return "certificate_date" if code in _EXPIRED else "certificate"


def proxy_name(url: str) -> str | None:
    """The proxy, without any password, by which a GET of `url` goes; None where it goes direct."""
    try:
        proxy = proxy_of(url)
    except (OSError, ValueError) as error:
        return str(error)
    return None if proxy is None else proxy.name
