"""An HTTP server on loopback that runs as long as its context, beside the test that asks it. What it answers is its handler's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext


@contextmanager
def on_loopback(handler: type[BaseHTTPRequestHandler], port: int = 0, tls: SSLContext | None = None) -> Iterator[str]:
    """The URL of a server with this handler, at that port or a free one; it ends with the context."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
