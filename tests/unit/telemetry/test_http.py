"""A GET is bounded, never raises, and never leaves this machine by a proxy when its target is this machine."""

import gzip
import resource
import shutil
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from specbench.credentials import Secrets
from specbench.net.urls import origin
from specbench.stream.connection import tls_context
from specbench.telemetry.http import HttpGetter, client_to, proxy_name
from specbench.telemetry.metrics_pages import REMEDIES, Failure
from tests.support.answering import Table, answering
from tests.support.raw_server import TLS


@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_loopback_goes_direct(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-04: HTTP_PROXY set, NO_PROXY=localhost, the target is 127.0.0.1 and then localhost."""
    monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    with answering(Table({"/metrics": (200, "a_total 1\n")})) as table, HttpGetter() as getter:
        for url in (table.url, table.url.replace("127.0.0.1", "localhost")):
            assert getter.get(f"{url}/metrics", {}, 2.0).body == "a_total 1\n"


def test_a_private_authority_is_trusted_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """N-35: SSL_CERT_FILE is read for every GET and POST, whatever a proxy says, and a client of our own trusts it too."""
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "authority.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with answering(Table({"/v1/models": (200, "{}")}, certificate=TLS / "signed.pem")) as table, HttpGetter() as getter:
        for url in (table.url, table.url.replace("127.0.0.1", "localhost")):
            assert getter.get(f"{url}/v1/models", {}, 2.0).status == 200
        assert getter.post(f"{table.url}/v1/models", {}, 2.0, {}).status == 200
        with client_to(table.url) as client:
            assert client.get(f"{table.url}/v1/models").status_code == 200


@pytest.mark.parametrize(
    ("certificate", "strict", "failure", "words"),
    [
        ("localhost.pem", False, "certificate", "SSL_CERT_FILE"),
        ("elsewhere.pem", False, "certificate_name", "name or address that the certificate holds"),
        ("expired.pem", False, "certificate_date", "renew"),
        ("unlinked.pem", True, "certificate_form", "Python 3.13"),
    ],
)
def test_a_refused_certificate_says_what_would_help(
    certificate: str, strict: bool, failure: Failure, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N-35: to name an authority that is named already helps nobody whose certificate has a wrong name, date or form."""
    trusted = Path(shutil.copy(TLS / "authority.pem", tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    if strict:  # as Python 3.13 does by itself
        tls_context(True).verify_flags |= ssl.VERIFY_X509_STRICT
    with answering(Table({"/": (200, "")}, certificate=TLS / certificate)) as table, HttpGetter() as getter:
        answer = getter.get(f"{table.url}/", {}, 2.0)

    assert (answer.failure, answer.connected) == (failure, False)
    assert words in REMEDIES[failure]


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "SSL_CERT_FILE=/nowhere/ca.pem: no PEM file"),
        ("SSL_CERT_FILE", str(TLS / "localhost.key"), "no PEM file of certificates"),
        ("HTTPS_PROXY", "socks5://proxy:1080", "not reached by http://"),
    ],
)
def test_what_the_environment_names_and_cannot_be_used_is_an_answer(
    variable: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback, and nobody is asked."""
    monkeypatch.setenv(variable, value)
    with HttpGetter() as getter:
        answer = getter.get("https://gpu.example/metrics", {}, 0.5)

    assert (answer.failure, answer.status) == ("environment", None)
    assert words in str(answer.problem)


def test_other_targets_use_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not loopback follows the environment: here to a port where nobody listens."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with HttpGetter() as getter:
        answer = getter.get("http://192.0.2.1/metrics", {}, 2.0)

    assert answer.status is None
    assert answer.problem is not None
    assert answer.problem.startswith("ConnectError")


def test_an_origin_is_scheme_host_and_port() -> None:
    """A default port is the same written out; another port is another origin."""
    assert origin("http://a/x") == origin("http://a:80/y")
    assert origin("http://a/x") != origin("https://a/x")
    assert origin("http://a:8000/x") != origin("http://a:8001/x")

    assert origin("http://a:port/x") not in (origin("http://a/x"), origin("http://a:other/x"))


def test_a_key_that_http_cannot_carry_is_not_shown() -> None:
    """The problem of a header never quotes it."""
    with HttpGetter() as getter:
        answers = [
            getter.get("http://127.0.0.1:9/", {"Authorization": f"Bearer sec{odd}ret"}, 0.5) for odd in ("\x00", "\n", "é")
        ]

    assert all(answer.problem and "sec" not in answer.problem for answer in answers)


def test_the_proxy_in_use_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """L-04: a proxy is named where one is used, and loopback uses none."""
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@proxy:3128")
    monkeypatch.setenv("NO_PROXY", "localhost,quiet.example")

    assert proxy_name("http://gpu.example:8000") == "proxy:3128"
    assert proxy_name("http://quiet.example:8000") is None
    assert proxy_name("http://127.0.0.1:8000") is None
    assert proxy_name("https://gpu.example") is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/metrics", "http://", "ftp://127.0.0.1/x", "http://127.0.0.1:x/", "http://[::1", "no url"]
)
def test_what_cannot_be_reached_is_an_answer_with_its_problem(url: str) -> None:
    """Refused connections and broken URLs raise nothing."""
    with HttpGetter() as getter:
        answer = getter.get(url, {}, 0.5)

    assert (answer.status, answer.problem is None) == (None, False)


def test_a_failure_says_whether_asking_again_is_idle() -> None:
    """Nobody took the connection, or somebody did and hung up: only the first speaks for every path of the origin."""
    with socket.create_server(("127.0.0.1", 0)) as server, HttpGetter() as getter:
        hanging_up = threading.Thread(target=lambda: server.accept()[0].close())
        hanging_up.start()
        broken_off = getter.get(f"http://127.0.0.1:{server.getsockname()[1]}/", {}, 2.0)
        hanging_up.join()
        refused = getter.get("http://127.0.0.1:9/", {}, 0.5)

    assert (broken_off.failure, broken_off.connected) == ("hung_up", True)
    assert (refused.failure, refused.connected) == ("not_reached", False)


def test_an_endless_answer_ends() -> None:
    """A URL that streams for ever, a byte now and then, is left after the time that was given."""
    with socket.create_server(("127.0.0.1", 0)) as server, HttpGetter() as getter:
        stop = threading.Event()

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                while not stop.wait(0.02):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        answer = getter.get(f"http://127.0.0.1:{server.getsockname()[1]}/metrics", {}, 0.2)
        stop.set()
        thread.join()

    assert answer.problem == "the answer does not end"


def test_redirects_are_not_followed() -> None:
    """A key must not travel to wherever an endpoint points."""
    with answering(Table({"/metrics": (302, "")}, headers={"Location": "/elsewhere"})) as table, HttpGetter() as getter:
        assert getter.get(f"{table.url}/metrics", {"Authorization": "Bearer k"}, 2.0).status == 302
        assert [path for path, _, _ in table.asked] == ["/metrics"]


@contextmanager
def sending(*pieces: bytes, gap_s: float = 0.0, again: bool = False) -> Iterator[str]:
    """The URL of a server that sends these bytes to whoever connects, the last of them for ever where `again`."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    connection.recv(65536)
                    for piece in pieces:
                        connection.sendall(piece)
                    while again and not stop.wait(gap_s):
                        connection.sendall(pieces[-1])
                except OSError:
                    return

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/metrics"
        finally:
            stop.set()
            thread.join()


PLAIN = b"a_total 1\n" * 5_000_000
BOMB = gzip.compress(b"a_total 1\n" * 30_000_000, 1)
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: %d\r\n\r\n" % len(PLAIN), PLAIN),
        (b"\r\n", PLAIN),
        (b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB), BOMB),
        (b"Content-Encoding: gzip\r\n\r\n", b"".join(gzip.compress(b"a_total 1\n" * 900_000, 1) for _ in range(3))),
        (b"Content-Encoding: deflate\r\n\r\n", zlib.compress(PLAIN, 1)),
    ],
    ids=["50 MB", "50 MB without a length", "300 MB in gzip", "gzip in members", "50 MB in deflate"],
)
def test_a_page_of_many_megabytes_is_left_and_named(head: bytes, body: bytes) -> None:
    """Eight are read, unpacked, and the memory of this process grows by far less than the page."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with sending(OK + head, body) as url, HttpGetter() as getter:
        answer = getter.get(url, {}, 20.0)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert (answer.failure, answer.problem, answer.body) == ("too_large", "the answer is larger than 8 MiB", "")
    assert grown_kb < 100_000


def test_a_packed_page_of_usual_size_is_read() -> None:
    """Servers pack although they were asked not to; what cannot be unpacked is named."""
    packed = gzip.compress(b"a_total 1\n") + gzip.compress(b"b_total 2\n")
    with sending(OK + b"Content-Encoding: gzip\r\n\r\n", packed) as url, HttpGetter() as getter:
        assert getter.get(url, {}, 5.0).body == "a_total 1\nb_total 2\n"
    for encoding, words in (("br", "was not requested"), ("gzip", "incorrect header check")):
        head = f"Content-Encoding: {encoding}\r\n\r\n".encode()
        with sending(OK + head, b"a_total 1\n") as url, HttpGetter() as getter:
            assert words in (getter.get(url, {}, 5.0).problem or "")


def test_a_head_that_drips_for_ever_ends() -> None:
    """Every byte begins the client's own time limit anew."""
    with sending(b"HTTP/1.1 200 OK\r\nX-", b"x", gap_s=0.02, again=True) as url, HttpGetter() as getter:
        answer = getter.get(url, {}, 0.3)

    assert (answer.failure, answer.problem) == ("unreadable", "the answer does not end")


def test_no_secret_is_left_in_an_answer() -> None:
    """Nor in its headers, nor in what a broken one makes the client say."""
    secrets = Secrets(("sk-echo-12345678",))
    with sending(OK + b"X-Key: sk-echo-12345678\r\n\r\nmine: sk%2Decho-12345678") as url, HttpGetter(secrets) as getter:
        answer = getter.get(url, {}, 5.0)
    with sending(b"HTTP/1.1 sk-echo-12345678 \x1b[31m\r\n\r\n") as url, HttpGetter(secrets) as getter:
        broken = getter.get(url, {}, 5.0)

    assert (answer.headers["x-key"], answer.body) == ("*" * 16, "mine: " + "*" * 18)
    assert broken.problem is not None
    assert "sk-echo" not in broken.problem
    assert "\x1b" not in broken.problem
