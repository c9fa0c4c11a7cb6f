"""Whether two urls lead to one server, and so to one cache, however each is spelled. Pure: no name is looked up."""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from specbench.model.asked import Arm
from specbench.stream.proxy import PORTS, is_loopback

Server = tuple[str, str, int, str]
"""Scheme, host, port and path."""


def share_server(arms: Sequence[Arm]) -> bool:
    """Whether all these arms are urls of one server; what specbench starts is always one of its own."""
    servers = {None if arm.url is None else server_of(arm.url) for arm in arms}
    return None not in servers and len(servers) == 1


def server_of(url: str) -> Server:
    """The server that the url leads to, however it spells this machine, a default port or `/v1`."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return parts.scheme, _host(parts.hostname or ""), parts.port or PORTS.get(parts.scheme, 0), path


def _host(name: str) -> str:
    bare = name.rstrip(".")
    if is_loopback(bare):
        return "localhost"
    try:
        address = ip_address(bare)
    except ValueError:
        return bare
    return "localhost" if address.is_unspecified else address.compressed  # asked for 0.0.0.0, the kernel asks this machine
