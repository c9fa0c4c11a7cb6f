"""A GET is bounded, never raises, and never leaves this machine by a proxy when its target is this machine."""

import socket
import threading

import pytest

from specbench.telemetry.http import HttpGetter, proxy_name
from specbench.urls import origin
from tests.support.answering import Table, answering


@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_loopback_goes_direct(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-04: HTTP_PROXY set, NO_PROXY=localhost, the target is 127.0.0.1 and then localhost."""
    monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    with answering(Table({"/metrics": (200, "a_total 1\n")})) as table, HttpGetter() as getter:
        for url in (table.url, table.url.replace("127.0.0.1", "localhost")):
            assert getter.get(f"{url}/metrics", {}, 2.0).body == "a_total 1\n"


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
