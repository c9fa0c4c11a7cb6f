"""Which proxy of the environment a URL is asked by, and the tunnel through it.

The environment names it, as other programs have it (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY); this machine is always
reached directly, whatever it says: NO_PROXY=localhost alone would not cover 127.0.0.1.
"""

import base64
import socket
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from specbench.net.urls import PORTS, is_loopback

LARGEST_HEAD = 65536


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that speaks HTTP: where it is, and what it wants to hear before it serves; that is a secret."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The proxy as host:port, without its authorization."""
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Its address, without what is secret."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.name}"

    @property
    def headers(self) -> dict[str, str]:
        """What it wants to hear, a secret."""
        return {} if self.authorization is None else {"Proxy-Authorization": self.authorization}


def proxy_of(url: str) -> Proxy | None:
    """The proxy by which `url` is reached; None where it is reached directly.

    Raises: OSError where the environment names a proxy that does not speak HTTP.
    """
    parts = urlsplit(url)
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    host = parts.hostname or ""
    if named is None or is_loopback(host) or proxy_bypass(host):
        return None
    try:
        proxy = urlsplit(named if "://" in named else f"http://{named}")
        where = (proxy.hostname, proxy.port or PORTS["http"])
    except ValueError:
        where = (None, 0)
    if where[0] is None or proxy.scheme != "http":
        raise OSError(
            f"the environment's proxy for {parts.scheme} is not reached by http://; unset it, or list {host} in NO_PROXY"
        )
    return Proxy(where[0], where[1], _authorization(proxy.username, proxy.password))


def tunnel(sock: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    """From here on the socket leads to `host`, through the proxy (RFC 9110, 9.3.6).  Raises: TimeoutError, OSError."""
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.authorization is not None:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)  # one at a time: what follows the head belongs to the tunnel
        if not byte or len(head) > LARGEST_HEAD:
            raise OSError(f"the proxy {proxy.name} closed the connection instead of opening a tunnel to {target}")
        head += byte
    status = head.split(b"\r\n", 1)[0].decode("latin-1")
    if not status[9:].startswith("2"):
        raise OSError(f"the proxy {proxy.name} opens no tunnel to {target}: {status}")


def _authorization(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")
