"""Locust's sockets, sealed: nobody takes part, or reads along, who does not know the fleet's secret. Runs beside gevent only.

Every connection is encrypted and authenticated by CURVE (libzmq). Both key pairs come from the one secret; to know the
master's public key is not enough. What an accepted connection sends that is no message of ours is counted and passed over,
where Locust's listener would end.
"""

import hashlib
import hmac
import struct
from typing import Any

import gevent
import zmq.green as zmq
from locust.rpc import Message, zmqrpc
from zmq.utils import z85

ZAP = "inproc://zeromq.zap.01"
DOMAIN = b"specbench"
REFUSALS = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
MONITOR = "inproc://specbench.handshakes"
TYPES = frozenset({"client_ready", "heartbeat", "stats", "spawning", "spawning_complete", "client_stopped", "quit", "exception"})
"""What Locust's worker says and its master needs; a locustfile is not handed out, logs are not taken in."""


class Refusals:
    """How many connections and messages were refused."""

    def __init__(self) -> None:
        self.count = 0


def key_pair(secret: str, side: str) -> tuple[bytes, bytes]:
    """The public and the secret CURVE key of one side, as libzmq takes them."""
    ours = z85.encode(hmac.new(secret.encode(), f"specbench fleet, {side}".encode(), hashlib.sha256).digest())
    return zmq.curve_public(ours), ours


def seal_master(secret: str, ours: str) -> Refusals:
    """From now on a Locust master in this process listens sealed, and takes messages of type `ours` besides Locust's own."""
    refusals = Refusals()
    master, worker = key_pair(secret, "master"), key_pair(secret, "worker")

    class SealedServer(zmqrpc.Server):
        def __init__(self, host: str, port: int) -> None:
            context = zmq.Context()
            _answer_zap(context, worker[0])
            self.socket = context.socket(zmq.ROUTER)
            self.socket.set(zmq.CURVE_SERVER, 1)
            self.socket.set(zmq.CURVE_PUBLICKEY, master[0])
            self.socket.set(zmq.CURVE_SECRETKEY, master[1])
            self.socket.set(zmq.ZAP_DOMAIN, DOMAIN)
            self.socket.set(zmq.ROUTER_HANDOVER, 1)  # a worker that reconnects is itself, before its old connection is known dead
            _never_drop(self.socket)
            _watch_handshakes(context, self.socket, refusals)
            self.socket.set(zmq.IPV6, ":" in host)
            where = f"[{host}]" if ":" in host else host
            self.port = port or self.socket.bind_to_random_port(f"tcp://{where}")
            if port:
                self.socket.bind(f"tcp://{where}:{port}")

        def recv_from_client(self) -> tuple[str, Message]:
            while True:
                parts = self.socket.recv_multipart()
                message = _message(parts)
                if message is not None and (message.type == ours or message.type in TYPES):
                    return message.node_id, message
                refusals.count += 1

    zmqrpc.Server = SealedServer  # type: ignore[misc]
    return refusals


def seal_worker(secret: str) -> None:
    """From now on a Locust worker in this process connects sealed."""
    master, worker = key_pair(secret, "master"), key_pair(secret, "worker")

    class SealedClient(zmqrpc.Client):
        def __init__(self, host: str, port: int, identity: str) -> None:
            self.socket = zmq.Context().socket(zmq.DEALER)
            self.socket.set(zmq.CURVE_SERVERKEY, master[0])
            self.socket.set(zmq.CURVE_PUBLICKEY, worker[0])
            self.socket.set(zmq.CURVE_SECRETKEY, worker[1])
            self.socket.set(zmq.IDENTITY, identity.encode())
            self.socket.set(zmq.IPV6, ":" in host)
            _never_drop(self.socket)
            self.socket.connect(f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}")

    zmqrpc.Client = SealedClient  # type: ignore[misc]


def _never_drop(socket: Any) -> None:
    """libzmq drops what a peer does not take in time, from a thousand messages on; what we send is bounded by itself."""
    socket.set(zmq.SNDHWM, 0)
    socket.set(zmq.RCVHWM, 0)
    socket.set(zmq.LINGER, 500)
    socket.set(zmq.TCP_KEEPALIVE, 1)
    socket.set(zmq.TCP_KEEPALIVE_IDLE, 30)
    socket.set(zmq.RECONNECT_IVL, 100)
    socket.set(zmq.RECONNECT_IVL_MAX, 1000)


def _message(parts: list[bytes]) -> Message | None:
    """What an accepted connection sent; None where it is no message, or speaks for another."""
    try:
        sender, packed = parts
        message = Message.unserialize(packed)  # type: ignore[no-untyped-call]
        return message if message.node_id == sender.decode() and isinstance(message.type, str) else None
    except Exception:  # noqa: BLE001 - whatever a stranger sends, the fleet goes on
        return None


def _answer_zap(context: Any, worker_key: bytes) -> None:
    """Let in who has the workers' key, and nobody else (ZeroMQ's authentication protocol, RFC 27)."""
    socket = context.socket(zmq.REP)
    socket.bind(ZAP)
    known = z85.decode(worker_key)

    def answer() -> None:
        while True:
            version, request, *rest = socket.recv_multipart()
            key = rest[4] if len(rest) > 4 and rest[3] == b"CURVE" else b""
            status = (b"200", b"OK") if hmac.compare_digest(key, known) else (b"400", b"unknown key")
            socket.send_multipart([version, request, *status, b"worker", b""])

    gevent.spawn(answer)


def _watch_handshakes(context: Any, socket: Any, refusals: Refusals) -> None:
    """Count the connections that were not let in: of most the authentication above never hears."""
    socket.monitor(MONITOR, REFUSALS)
    events = context.socket(zmq.PAIR)
    events.connect(MONITOR)

    def count() -> None:
        while True:
            head, *_ = events.recv_multipart()
            if struct.unpack_from("=H", head)[0] & REFUSALS:
                refusals.count += 1

    gevent.spawn(count)
