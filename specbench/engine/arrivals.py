"""Reads from a socket together with the moment at which the data arrived. Knows nothing of what was read."""

import contextlib
import socket
import ssl
import struct
import sys
import time

READ_SIZE = 1 << 18
SO_TIMESTAMPNS = 35  # asm-generic/socket.h: `recvmsg` then tells when data arrived; `socket` has no name for it


def ask_for_stamps(sock: socket.socket) -> None:
    """The kernel will stamp what arrives, where it can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # some sandboxes have no stamps
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def received(sock: socket.socket) -> tuple[bytes, int]:
    """What has come, empty once the client has gone, and when it arrived on the monotonic clock; under TLS, when it was read."""
    try:
        if isinstance(sock, ssl.SSLSocket):
            return sock.recv(READ_SIZE), time.monotonic_ns()
        data, ancillary, _, _ = sock.recvmsg(READ_SIZE, socket.CMSG_SPACE(16))
    except OSError:
        return b"", time.monotonic_ns()
    waited_ns = 0
    for level, kind, value in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(value) == 16:
            seconds, nanoseconds = struct.unpack("@qq", value)
            waited_ns = max(0, time.time_ns() - seconds * 1_000_000_000 - nanoseconds)
    return data, time.monotonic_ns() - waited_ns
