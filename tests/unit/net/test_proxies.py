"""Which proxy leads to an endpoint, and the tunnel through it."""

import socket
from collections.abc import Iterator

import pytest

from specbench.net.proxies import Proxy, proxy_of, tunnel
from specbench.net.urls import is_loopback


@pytest.fixture(autouse=True)
def _clear(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's and the proxy's end of one connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(2.0)
        yield ours, theirs


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.3.2.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("gpu.example", False)],
)
def test_which_hosts_are_this_machine(host: str, loopback: bool) -> None:
    """The whole of 127/8, ::1 and the name."""
    assert is_loopback(host) is loopback


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_this_machine_is_reached_directly(variable: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-04: whatever the environment says, and although NO_PROXY names one of them only."""
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")

    assert proxy_of(f"http://{host}/v1") is None
    assert proxy_of("http://gpu.example/v1") == Proxy("127.0.0.1", 9)


def test_a_proxy_has_a_port_and_perhaps_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password is decoded for the header and shown nowhere."""
    monkeypatch.setenv("HTTP_PROXY", "http://me:p%40ss@proxy:3128")
    monkeypatch.setenv("HTTPS_PROXY", "proxy")
    monkeypatch.setenv("NO_PROXY", "quiet.example")
    proxy = proxy_of("http://gpu.example/v1")

    assert proxy == Proxy("proxy", 3128, "Basic bWU6cEBzcw==")
    assert "bWU6" not in repr(proxy)
    assert proxy_of("https://gpu.example/v1") == Proxy("proxy", 80)
    assert proxy_of("https://quiet.example/v1") is None


@pytest.mark.parametrize("named", ["socks5://me:secret@proxy:1080", "http://me:secret@proxy:port", "http://"])
def test_a_proxy_of_another_kind_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silently going around it would measure another path."""
    monkeypatch.setenv("ALL_PROXY", named)

    with pytest.raises(OSError, match=r"is not reached by http://; unset it, or list gpu\.example in NO_PROXY") as refused:
        proxy_of("http://gpu.example/v1")
    assert "secret" not in str(refused.value)


def test_a_tunnel_is_asked_for_and_leaves_what_follows(ends: tuple[socket.socket, socket.socket]) -> None:
    """CONNECT with the password; bytes after the proxy's head are the endpoint's."""
    ours, theirs = ends
    theirs.sendall(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nhello")
    tunnel(ours, Proxy("proxy", 3128, "Basic eA=="), "::1", 443)

    assert theirs.recv(4096) == b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic eA==\r\n\r\n"
    assert ours.recv(4096) == b"hello"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "opens no tunnel to gpu:443: HTTP/1.1 407 Proxy"),
        (b"HTTP/1.1 200", "closed the connection instead of opening a tunnel"),
    ],
)
def test_a_tunnel_that_is_refused_is_one_line(answer: bytes, said: str, ends: tuple[socket.socket, socket.socket]) -> None:
    """With the proxy's own words."""
    ours, theirs = ends
    theirs.sendall(answer)
    theirs.shutdown(socket.SHUT_WR)

    with pytest.raises(OSError, match=said):
        tunnel(ours, Proxy("proxy", 3128), "gpu", 443)
