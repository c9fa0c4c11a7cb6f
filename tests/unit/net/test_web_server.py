"""An address is listened on by either family, a slow head ends its connection, and the log has an end."""

import logging
import socket
import threading

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from specbench.errors import ScenarioError
from specbench.net.web_server import Few, impatient, listening_at


@pytest.mark.parametrize("host", ["", " "])
def test_no_host_is_not_every_address(host: str) -> None:
    """A variable that is not set would show the run to everyone."""
    with pytest.raises(ScenarioError, match=r"no host is named to listen on; write 127\.0\.0\.1"):
        listening_at(host, 0)


@pytest.mark.parametrize(
    ("host", "asked"),
    [("127.0.0.1", "127.0.0.1"), ("localhost", None), ("::1", "::1"), ("[::1]", "::1"), ("::", "::1"), ("::", "127.0.0.1")],
)
def test_it_listens_by_either_family(host: str, asked: str | None) -> None:
    """The address says which; `::` takes both."""
    if ":" in host and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with listening_at(host, 0) as listening:
        address = asked or listening.getsockname()[0]
        with socket.create_connection((address, listening.getsockname()[1]), timeout=5):
            pass


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nX-A: ", b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\nGET /healthz HT"],
    ids=["nothing", "half a line", "half a head", "half of a second one"],
)
def test_a_head_that_does_not_come_ends_its_connection(sent: bytes) -> None:
    """Byte by byte for ever, or not at all: the connection is closed, and others are answered meanwhile."""
    import uvicorn
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    routes = [Route("/healthz", lambda _: PlainTextResponse("ok"))]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        config = uvicorn.Config(Starlette(routes=routes), http=impatient(HttpToolsProtocol, 0.4), ws="none", log_level="critical")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with socket.create_connection(address, timeout=30) as slow:
                slow.sendall(sent)
                ended = False
                while not ended:
                    try:
                        slow.sendall(b"x" if sent and not sent.endswith(b"HT") else b"")
                        slow.settimeout(0.05)
                        ended = slow.recv(65536) == b""
                    except TimeoutError:
                        continue
                    except OSError:
                        ended = True
            assert httpx.get(f"http://127.0.0.1:{address[1]}/healthz", trust_env=False).text == "ok"
        finally:
            server.should_exit = True
            thread.join()


def test_the_log_has_an_end() -> None:
    """Whoever reaches the port can make it complain, and must not fill a disk with that."""
    few = Few(3)
    records = [logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, f"line {number}", (), None) for number in range(9)]

    assert [record.getMessage() for record in records if few.filter(record)] == [
        "line 0",
        "line 1",
        "there is more to say; it is not logged",
    ]
