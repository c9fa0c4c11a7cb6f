"""Whether two urls lead to one server, and so to one cache, however each is spelled. Pure: no name is looked up."""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from specbench.address import PORTS, base_url
from specbench.model.asked import Arm

Server = tuple[str, str, int, str]
"""Scheme, host, port and path."""


def share_server(arms: Sequence[Arm]) -> bool:
    """Whether all these arms are urls of one server; what specbench starts is always one of its own."""
    servers = {None if arm.url is None else server_of(arm.url) for arm in arms}
    return None not in servers and len(servers) == 1


def server_of(url: str) -> Server:
    """The server that the url leads to, however it spells this machine, a default port or `/v1`."""
    parts = urlsplit(url)
    return parts.scheme, _host(parts.hostname or ""), parts.port or PORTS.get(parts.scheme, 0), base_url(parts.path)


def _host(name: str) -> str:
    bare = name.rstrip(".")
    try:
        address = ip_address(bare)
    except ValueError:
        return bare  # *.localhost is this machine too, though often several servers behind one port
    # Asked for 0.0.0.0 the kernel asks this machine; 127.0.0.2 may be another server on it.
    return "localhost" if address.is_unspecified or str(address) in ("127.0.0.1", "::1") else address.compressed
