"""A loopback relay before a server, which remembers what clients sent through it. No assertion lives here."""

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

START_S = 120.0


@dataclass(slots=True)
class Relay:
    """Its URL, and all bytes that came from clients."""

    url: str
    heard: bytearray = field(default_factory=bytearray)


@contextmanager
def relayed_engine(**options: Any) -> Iterator[Relay]:
    """An embedded engine with these options, behind a relay."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = json.dumps({"port": port, **options})
    with subprocess.Popen([sys.executable, "-m", "specbench.engine", words], stdout=subprocess.DEVNULL) as engine:
        try:
            _wait_for(port)
            with relay_to(port) as relay:
                yield relay
        finally:
            engine.terminate()
            engine.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError("the engine did not start")


@contextmanager
def relay_to(port: int) -> Iterator[Relay]:
    """A relay before the server at that port of this machine."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        relay = Relay(f"http://127.0.0.1:{listener.getsockname()[1]}")

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    server = socket.create_connection(("127.0.0.1", port))
                    threading.Thread(target=_pump, args=(client, server, relay.heard), daemon=True).start()
                    threading.Thread(target=_pump, args=(server, client, None), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield relay
        listener.shutdown(socket.SHUT_RDWR)


def _pump(source: socket.socket, sink: socket.socket, heard: bytearray | None) -> None:
    """Hands on what comes, until one side ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            if heard is not None:
                heard += data
            sink.sendall(data)
    for side in (source, sink):
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
        side.close()
