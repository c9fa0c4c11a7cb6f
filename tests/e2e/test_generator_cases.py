"""The cases that people met with load generators, on the real one: every claim by its number, with the right value."""

import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from specbench.load.parent import LoadGenerator
from specbench.probe.probe import ProbeRequest, probe
from specbench.stream.connection import CLIENT_CERTIFICATE, now_ns
from specbench.stream.exchange import Exchange
from specbench.stream.transport import EXCHANGE, StampingTransport, Timeouts
from specbench.units import ms
from tests.support.captures import capture_of
from tests.support.commands import QUICK
from tests.support.driving import GOOD, Endpoint, driven, records_of
from tests.support.raw_server import CERTIFICATE, KEY, head, playing, read_request
from tests.support.streaming import streaming

pytestmark = [pytest.mark.slow, pytest.mark.beside]
PAGE = b"<html><script>alert(1)</script>Bad gateway</html>"
BAD_GATEWAY = head("Content-Type: text/html", f"Content-Length: {len(PAGE)}", status="502 Bad Gateway") + PAGE


@pytest.fixture(scope="module")
def child() -> Iterator[LoadGenerator]:
    """One load generator for the cases that ask nothing of its environment."""
    with LoadGenerator() as started:
        yield started


def test_a_refusal_is_one_attempt_and_one_failure(child: LoadGenerator) -> None:
    """S-13: 429 with Retry-After: the second try would be answered at once, and is never made."""
    endpoint = Endpoint(head("Retry-After: 2", "Content-Length: 0", status="429 Too Many Requests"))
    with streaming(endpoint) as url:
        (record,) = records_of(driven(url, 1, 1, child)[0])

    assert (endpoint.asked, record.outcome, record.status, record.retries) == (1, "http_error", 429, 0)


def test_a_probe_tells_which_status_refused() -> None:
    """S-13, S-14: three times 429, twice 502, and one answer; nothing is tried again."""
    limited = head("Retry-After: 2", "Content-Length: 0", status="429 Too Many Requests")
    endpoint = Endpoint(limited, BAD_GATEWAY, limited, BAD_GATEWAY, limited)
    with streaming(endpoint) as url:
        told = probe(ProbeRequest(url=url, model="scripted", engine="openai", concurrency=1, requests=6, max_tokens=1))

    assert told["requests"] == {
        "ok": 1,
        "failed": 5,
        "by_outcome": {"http_error": 5, "ok": 1},
        "by_status": {"429": 3, "502": 2},
    }
    assert endpoint.asked == 6


def test_error_pages_are_failures_and_the_load_goes_on(child: LoadGenerator) -> None:
    """S-14: five pages of a gateway among a hundred answers, the very first among them."""
    endpoint = Endpoint(*[BAD_GATEWAY] * 5)
    with streaming(endpoint) as url:
        captures, end = driven(url, 100, 4, child)
    records = records_of(captures)
    failed = [record for record in records if record.outcome != "ok"]

    assert Counter(record.outcome for record in records) == {"ok": 95, "http_error": 5}
    assert {(record.status, record.reason) for record in failed} == {(502, f"HTTP 502: {PAGE.decode()}")}
    assert end.end_reason == "work_done"


def test_a_run_whose_first_answer_is_an_error_page_ends_in_one_line(tmp_path: Path) -> None:
    """S-14: exit 69 and the status by name before minutes are spent, and no traceback."""
    with streaming(Endpoint(then=BAD_GATEWAY)) as url:
        words = ["run", "scenarios/code.yaml", *QUICK, "--baseline", url, "--speculative", url, "--aa"]
        command = [sys.executable, "-m", "specbench", *words, "--out", str(tmp_path / "run")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 69, done.stderr
    assert "HTTP 502" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_redirect_is_not_followed_and_says_where_to(child: LoadGenerator) -> None:
    """The body is not sent to another host by itself, and the sentence names the address to use."""
    moved = head("Location: http://127.0.0.1:9/v1/x", "Content-Length: 0", status="307 Temporary Redirect")
    with streaming(Endpoint(then=moved)) as url:
        (record,) = records_of(driven(url, 1, 1, child)[0])

    assert (record.outcome, record.status) == ("http_error", 307)
    assert record.reason == "HTTP 307: redirects are not followed under load; use http://127.0.0.1:9/v1/x"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_proxy_in_the_environment_leaves_loopback_alone(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-04: nobody listens at the proxy, and the load arrives."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    with streaming(Endpoint()) as url:
        captures, _ = driven(url.replace("127.0.0.1", host), 2, 1)

    assert [record.outcome for record in records_of(captures)] == ["ok", "ok"]


def test_an_address_of_the_sixth_version_is_reached(child: LoadGenerator) -> None:
    """Written as URLs write it."""
    with streaming(Endpoint(), "::1") as url:
        captures, _ = driven(url, 2, 1, child)

    assert url.startswith("http://[::1]:")
    assert [(record.outcome, record.connect_ns is None) for record in records_of(captures)] == [("ok", False), ("ok", True)]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost_is_found_by_either_address_before_the_clock_starts(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-10: ::1 first, an endpoint on one of the two, a resolver that takes 300 ms: all of it is in the time to connect, once."""

    def resolver(name: str, port: int, *_: object) -> list[tuple[object, ...]]:
        time.sleep(0.3)
        found_ns.append(now_ns())
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        ]

    found_ns: list[int] = []
    exchanges = [Exchange(Timeouts()), Exchange(Timeouts())]
    with streaming(Endpoint(), host) as url, httpx.Client(transport=StampingTransport()) as client:
        monkeypatch.setattr(socket, "getaddrinfo", resolver)
        for exchange in exchanges:
            client.post(f"http://localhost:{url.rsplit(':', 1)[1]}/v1/x", content=b"{}", extensions={EXCHANGE: exchange})
    first, second = (capture_of(exchange) for exchange in exchanges)

    assert ms(first.connect_ns or 0) >= 300
    assert [moment <= first.sent_ns for moment in found_ns] == [True]
    assert (second.connect_ns, second.problem) == (None, None)


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What a proxy hears, which answers plain requests itself and opens tunnels to an endpoint under TLS."""
    heard: list[bytes] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)

    def proxy(connection: socket.socket) -> None:
        heard.append(read_request(connection))
        if not heard[-1].startswith(b"CONNECT"):
            connection.sendall(GOOD)
            return
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(connection, server_side=True) as inside:
            heard.append(read_request(inside))
            inside.sendall(GOOD)

    with playing([proxy]) as url:
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, url.replace("http://", "http://me:secret@"))
        monkeypatch.setenv("NO_PROXY", "")
        yield heard


@pytest.mark.parametrize(
    ("url", "lines"),
    [
        ("http://gpu.example:8000", [b"POST http://gpu.example:8000/v1/chat/completions HTTP/1.1"]),
        ("https://gpu.example", [b"CONNECT gpu.example:443 HTTP/1.1", b"POST /v1/chat/completions HTTP/1.1"]),
    ],
)
def test_load_goes_by_the_proxy_and_keeps_the_kernels_stamps(url: str, lines: list[bytes], proxied: list[bytes]) -> None:
    """L-04: plain or through a tunnel; the password is for the proxy and never reaches the endpoint."""
    (capture,), _ = driven(url, 1, 1, verify=False)
    (record,) = records_of([capture])

    assert (record.outcome, record.stamp_source, record.reason) == ("ok", "kernel", None)
    assert [request.split(b"\r\n")[0] for request in proxied] == lines
    assert [b"Proxy-Authorization: Basic bWU6c2VjcmV0" in request for request in proxied] == [True, False][: len(lines)]


def test_a_client_certificate_is_shown_where_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the endpoint ends the handshake or the connection; with it the answer comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    context.load_verify_locations(CERTIFICATE)
    context.verify_mode = ssl.CERT_REQUIRED

    def asking(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as talking:
            read_request(talking)
            talking.sendall(GOOD)

    with playing([asking, asking]) as url:
        (without,), _ = driven(url.replace("http:", "https:"), 1, 1, verify=False)
    with tempfile.NamedTemporaryFile(suffix=".pem") as both, playing([asking]) as url:
        both.write(CERTIFICATE.read_bytes() + KEY.read_bytes())
        both.flush()
        monkeypatch.setenv(CLIENT_CERTIFICATE, both.name)
        (shown,), _ = driven(url.replace("http:", "https:"), 1, 1, verify=False)

    assert without.problem in ("disconnected", "connect_failed")
    assert (shown.problem, shown.status) == (None, 200)


def test_a_client_certificate_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the variable and the file."""
    monkeypatch.setenv(CLIENT_CERTIFICATE, "/nowhere.pem")
    with playing([]) as url:
        (capture,), _ = driven(url.replace("http:", "https:"), 1, 1)

    assert capture.problem == "connect_failed"
    assert "SPECBENCH_CLIENT_CERT=/nowhere.pem: no PEM file" in (capture.problem_text or "")
