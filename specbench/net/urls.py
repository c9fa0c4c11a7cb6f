"""URLs: whether one can be asked and what is wrong with it, which server it leads to, and whether that is this machine.

What may be a secret is never repeated. No name is looked up here, and nothing may know of answers.
"""

import re
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal
from urllib.parse import urljoin, urlsplit

from specbench.errors import ScenarioError

PORTS = {"http": 80, "https": 443}
EXAMPLE = "http://127.0.0.1:8000"
_LOGIN = re.compile(r"^((?:[^/?#@]*//)?).*@", re.DOTALL)
_ROUTE = re.compile(r"(?:/chat)?/completions/?(?=\?|$)")
# The names that systems give this machine in /etc/hosts.
_OWN_NAMES = frozenset({"localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback"})
_LOOSE_IPV4 = re.compile(r"(0x[0-9a-f]+|[0-9]+)(\.(0x[0-9a-f]+|[0-9]+)){0,3}")
_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}(?:/[\w./-]*)?")
_BEHIND_THE_PATH = re.compile(r"([?#]).+", re.DOTALL)


def address_fault(address: str, page: bool = False) -> str | None:
    """What is wrong with the address, as the end of a sentence that begins with its name; None where it can be asked.

    Args:
        page: It is one page and may have a query, unlike an endpoint, at whose end the paths are put that are asked.
    """
    address, _ = without_route(address) if not page else (address, None)
    if not re.match(r"https?://[^/\s]", address):
        meant = f"; did you mean http://{address}?" if _HOST_AND_PORT.fullmatch(address) else ""
        return f"must start with http:// or https:// and a host{meant}"
    if re.match(r"https?://[^/?#]*@", address):
        return "must not hold a user name or password; name the environment variable of a key instead (api_key_env)"
    if "#" in address or ("?" in address and not page):
        marks = "#" if page else "? or #"
        query = "" if page or "?" not in address else "; an address has no query, it belongs to the path (path:, or --path)"
        return f"must not hold {marks}; name the environment variable of a key instead (api_key_env){query}"
    try:
        parts = urlsplit(address)
        readable = bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", address)
    except ValueError:  # no number, or none of a port
        readable = False
    return None if readable else "is no address: after http:// comes a host, and perhaps : and a port from 1 to 65535"


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine, by name or address, however either is spelled; no name is looked up.

    Asked for 0.0.0.0 or ::, as servers print where they listen, the kernel asks this machine.
    """
    address = ip_of(host)
    if address is None:
        name = _bare(host)
        return name in _OWN_NAMES or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def ip_of(host: str) -> IPv4Address | IPv6Address | None:
    """The address that `host` spells out, an IPv4 one inside IPv6 (::ffff:127.0.0.1) as what it is; None for a name."""
    bare = _bare(host)
    try:
        address = ip_address(bare)
    except ValueError:
        # What resolvers take for an address as well: 127.1, 0, 0x7f.0.0.1.
        return ip_address(socket.inet_aton(bare)) if _LOOSE_IPV4.fullmatch(bare) and _is_ipv4(bare) else None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _bare(host: str) -> str:
    return host.removeprefix("[").removesuffix("]").removesuffix(".").lower()


def _is_ipv4(text: str) -> bool:
    try:
        socket.inet_aton(text)
    except OSError:
        return False
    return True


def without_route(url: str) -> tuple[str, str | None]:
    """The URL without a route at its end, and that route with its query, as whole URLs are pasted; None where none is."""
    route = _ROUTE.search(url)
    return (url, None) if route is None else (url[: route.start()], url[route.start() :])


def route_of(path: str) -> Literal["chat", "completions"] | None:
    """The route that a path leads to by its end; None where it tells none."""
    route = _ROUTE.search(path)
    return None if route is None else "chat" if route[0].startswith("/chat") else "completions"


def base_url(url: str) -> str:
    """The URL, or its path, without a route, a trailing slash or `/v1`, as all these forms are in use."""
    return without_route(url)[0].rstrip("/").removesuffix("/v1").rstrip("/")


def asked_path(url: str, path: str | None, otherwise: str) -> str:
    """The path, behind `base_url`, at which an endpoint is asked: its own or that of a pasted URL, else the usual one."""
    named, pasted = without_route(url)
    path = path or pasted
    if path is None:
        return otherwise
    return f"/v1{path}" if named.rstrip("/").endswith("/v1") and not path.startswith("/v1/") else path


def models_path(path: str) -> str:
    """Where the models are listed, beside the path at which one is asked, with the same query."""
    route = _ROUTE.search(path)
    return "/v1/models" if route is None else f"{path[: route.start()]}/models{path[route.end() :]}"


def redirect_target(url: str, location: str) -> str | None:
    """The URL that a redirect leads to, if it is of the same origin; None where it is another's, or no address."""
    try:
        target = urljoin(url, location.strip()).partition("#")[0]
        same = origin(target) == origin(url)
    except ValueError:
        return None
    return target if same and "@" not in target.partition("?")[0] and re.fullmatch(r"[!-~]+", target) else None


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port of a URL: who may see what is meant for whom."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return url, None, None


def without_secrets(address: str) -> str:
    """The address as it may be shown: whatever stands before an @ or behind a ? or # is left out, as it may be a secret."""
    return _BEHIND_THE_PATH.sub(r"\1…", _LOGIN.sub(r"\1…@", address))


def check_address(address: str) -> None:
    """Nothing, where the address can be asked.

    Raises:
        ScenarioError: It cannot.
    """
    fault = address_fault(address)
    if fault is not None:
        raise ScenarioError(f"{without_secrets(address)}: {fault}; give an endpoint's address, such as {EXAMPLE}")


Server = tuple[str, str, int, str]
"""Scheme, host, port and path."""


def share_server(urls: Sequence[str | None]) -> bool:
    """Whether all these are urls of one server; None stands for one that specbench starts, always a server of its own."""
    servers = {None if url is None else server_of(url) for url in urls}
    return None not in servers and len(servers) == 1


def server_of(url: str) -> Server:
    """The server that the url leads to, however it spells this machine, a default port or `/v1`."""
    parts = urlsplit(url)
    return parts.scheme, _host(parts.hostname or ""), parts.port or PORTS.get(parts.scheme, 0), base_url(parts.path)


def _host(name: str) -> str:
    address = ip_of(name)
    if address is None:
        return name.rstrip(".").lower()  # *.localhost is this machine too, though often several servers behind one port
    # Asked for 0.0.0.0 the kernel asks this machine; 127.0.0.2 may be another server on it.
    return "localhost" if address.is_unspecified or str(address) in ("127.0.0.1", "::1") else address.compressed
