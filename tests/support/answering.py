"""A loopback HTTP server that answers from a table and remembers what it was asked; under TLS where it has a certificate."""

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.support.loopback import on_loopback
from tests.support.raw_server import KEY


@dataclass(slots=True)
class Table:
    """What each path answers, (status, body); a list is answered entry by entry, its last one for ever."""

    answers: Mapping[str, tuple[int, str] | list[tuple[int, str]]]
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    certificate: Path | None = None
    asked: list[tuple[str, dict[str, str], str]] = field(default_factory=list)


@contextmanager
def answering(table: Table) -> Iterator[Table]:
    """The table, served: its `url` is set while the context is open."""
    lock = threading.Lock()

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing: the tests read their own output."""

        def do_GET(self) -> None:
            self._answer("")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("content-length", 0))).decode())

        def _answer(self, body: str) -> None:
            with lock:
                seen = sum(path == self.path for path, _, _ in table.asked)
                table.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            entry = table.answers.get(self.path, (404, "not found"))
            status, text = entry if isinstance(entry, tuple) else entry[min(seen, len(entry) - 1)]
            data = text.encode()
            self.send_response(status)
            for name, value in table.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    tls = None
    if table.certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(table.certificate, KEY)
    with on_loopback(Answering, tls=tls) as table.url:
        yield table
