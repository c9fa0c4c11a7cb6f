"""Routes served on an address: few connections, a short log, no patience with slow heads. No route lives here."""

import asyncio
import errno
import logging
import socket
from typing import Any

from starlette.applications import Starlette

from specbench.errors import ScenarioError, UnreachableError

MOST_CONNECTIONS = 256
MOST_LINES = 200  # that are logged while it serves: who can reach it must not be able to fill a disk
HEAD_S = 10.0
"""Within so many seconds a connection has sent the whole head of a request, or is closed."""

_REMEDIES = {
    errno.EADDRINUSE: "something listens there already; give another port",
    errno.EACCES: "ports below 1024 need a privilege; give another port",
    errno.EADDRNOTAVAIL: "this machine has no such address; give another host",
    errno.EAFNOSUPPORT: "this machine does not speak that kind of address; give another host",
}


class Few(logging.Filter):
    """Lets so many lines through, says then that there were more, and is silent."""

    def __init__(self, most: int = MOST_LINES) -> None:
        super().__init__()
        self._left = most

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is written."""
        self._left -= 1
        if self._left == 0:
            record.msg, record.args, record.exc_info = "there is more to say; it is not logged", (), None
        return self._left >= 0


def impatient(protocol: type[Any], head_s: float = HEAD_S) -> type[asyncio.Protocol]:
    """The server's protocol, in which a connection must send each head of a request in time; uvicorn itself waits for ever."""

    class Impatient(protocol):  # type: ignore[misc]
        _alarm: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def on_headers_complete(self) -> None:
            self._rest()
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait()

        def _wait(self) -> None:
            self._rest()
            if not self.transport.is_closing():
                self._alarm = self.loop.call_later(head_s, self.transport.abort)

        def _rest(self) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None

    return Impatient


def serve_app(served: Starlette, host: str, port: int) -> None:
    """Serves these routes until the process is told to end: few connections, short log, no patience with slow heads.

    Raises:
        UnreachableError: The address cannot be bound.
    """
    with listening_at(host, port) as listening:
        serve_on(served, listening)


def serve_on(served: Starlette, listening: socket.socket) -> None:
    """Serves these routes on a socket that listens already, until the process is told to end."""
    import uvicorn
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    config = uvicorn.Config(
        served,
        http=impatient(HttpToolsProtocol),
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        access_log=False,
        log_level="warning",
    )
    logging.getLogger("uvicorn.error").addFilter(Few())
    uvicorn.Server(config).run(sockets=[listening])


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens there, by IPv4 or IPv6 as the host says; `::` takes both where the system can.

    Raises:
        UnreachableError: The address cannot be bound.
        ScenarioError: No host is named: that would be every address of this machine.
    """
    if not host.strip():
        raise ScenarioError("no host is named to listen on; write 127.0.0.1, or 0.0.0.0 for every address of this machine")
    name = host.removeprefix("[").removesuffix("]")
    try:
        family, *_, address = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=both)
    except socket.gaierror as error:
        raise UnreachableError(f"{host}: no address is known for this host ({error.strerror}); give another") from None
    except OSError as error:
        shown = f"[{name}]" if ":" in name else name
        remedy = _REMEDIES.get(error.errno or 0, "give another host or port")
        raise UnreachableError(f"{shown}:{port} cannot be listened on ({error.strerror}); {remedy}") from None
