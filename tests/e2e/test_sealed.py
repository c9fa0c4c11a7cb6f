"""Strangers at a fleet's door: each is refused and counted, and the load goes on as if nobody had come."""

import hashlib
import hmac
import socket
import time
from collections.abc import Iterator
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
import zmq
from zmq.utils import z85

from specbench.errors import ScenarioError, UnreachableError
from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.wire import Hello, Numbered, encode
from specbench.load.fleet.worker_processes import WorkerProcesses
from tests.support.fleets import KEY, block, drive, free_port, jobs, joining, waiting_at
from tests.support.truthful import truth_endpoint

pytestmark = [pytest.mark.slow, pytest.mark.beside]


def keys(secret: str, side: str) -> tuple[bytes, bytes]:
    """The CURVE keys of one side, by the words of docs/fleet.md."""
    ours = z85.encode(hmac.new(secret.encode(), f"specbench fleet, {side}".encode(), hashlib.sha256).digest())
    return zmq.curve_public(ours), ours


class Stranger:
    """Somebody at the master's port, with these keys or with none."""

    def __init__(self, port: int, server: bytes | None, own: tuple[bytes, bytes] | None) -> None:
        self._socket: Any = zmq.Context.instance().socket(zmq.DEALER)
        self._socket.set(zmq.LINGER, 0)
        self._socket.set(zmq.IDENTITY, b"stranger")
        if server is not None and own is not None:
            self._socket.set(zmq.CURVE_SERVERKEY, server)
            self._socket.set(zmq.CURVE_PUBLICKEY, own[0])
            self._socket.set(zmq.CURVE_SECRETKEY, own[1])
        self._socket.connect(f"tcp://127.0.0.1:{port}")

    def __enter__(self) -> "Stranger":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def say(self, *values: Any) -> None:
        """These, each as it is, or packed."""
        for value in values:
            self._socket.send(value if isinstance(value, bytes) else msgpack.dumps(value))

    def hears_anything(self, within_ms: int = 500) -> bool:
        """Whether the master answers."""
        return bool(self._socket.poll(within_ms))


def ready(version: str = "2.47.0") -> tuple[str, str, str]:
    """What Locust's worker says first."""
    return ("client_ready", version, "stranger")


def of_an_old_version() -> bytes:
    """The first packet of a worker whose specbench is an older one."""
    hello = encode(Hello(specbench="0.0.9", locust="2.47.0", host="old", pid=1))
    return encode(Numbered(arrived=0, messages=((1, hello),)))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with truth_endpoint("--interval-us", "10000") as where:
        yield where


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    """Two workers that know the key, at a port that others find."""
    port = free_port()
    with WorkerProcesses(2, joining(port)), Fleet(waiting_at(port, 2), lambda said: None) as whole:
        yield whole


def refused_meanwhile(fleet: Fleet, url: str) -> int:
    """How many were refused so far, told by a block that is as whole as any."""
    driven = drive(fleet, block(url, min_requests=4, min_s=0.5, ramp_s=0.5), jobs())
    assert driven.void is None
    assert {record.outcome for record in driven.records} == {"ok", "cut"}
    assert driven.end.fleet is not None
    return driven.end.fleet.refused


def random_keys() -> tuple[bytes, bytes]:
    public, secret = zmq.curve_keypair()
    return bytes(public), bytes(secret)


@pytest.mark.parametrize("kind", ["plain", "wrong key", "knows the public key", "garbage"])
def test_who_does_not_know_the_key_is_not_let_in(fleet: Fleet, url: str, kind: str) -> None:
    """No word of theirs is taken in, none of ours is sent to them."""
    before = refused_meanwhile(fleet, url)
    if kind == "garbage":
        with socket.create_connection(("127.0.0.1", fleet.port)) as raw:
            raw.sendall(b"\xff\x00\x00\x00 GET / HTTP/1.1\r\n\r\n" * 50)
            time.sleep(0.5)
    else:
        other = "another key of thirty-two letters"
        server, own = {
            "plain": (None, None),
            "wrong key": (keys(other, "master")[0], keys(other, "worker")),
            "knows the public key": (keys(KEY, "master")[0], random_keys()),
        }[kind]
        with Stranger(fleet.port, server, own) as stranger:
            stranger.say(ready(), ("quit", None, fleet.workers[0]))
            assert not stranger.hears_anything()

    assert refused_meanwhile(fleet, url) > before


def test_what_is_no_message_of_ours_is_passed_over(fleet: Fleet, url: str) -> None:
    """One who knows the key and sends a 7, half a message, another's name or a request for files deafens nobody."""
    before = refused_meanwhile(fleet, url)
    with Stranger(fleet.port, keys(KEY, "master")[0], keys(KEY, "worker")) as stranger:
        stranger.say(
            *(7, b"\xc1\xff", ("quit", None, "another"), ("locustfile", {"version": "2.47.0"}, "stranger")),
            *(("heartbeat", 7, "stranger"), ("specbench", b"\x93\x01", "stranger"), ("specbench", None, "stranger")),
        )
        assert not stranger.hears_anything()

    assert refused_meanwhile(fleet, url) >= before + 5


@pytest.mark.campaign
def test_another_version_is_sent_away(fleet: Fleet, url: str) -> None:
    """Once load has begun the fleet goes on without it."""
    before = refused_meanwhile(fleet, url)
    with Stranger(fleet.port, keys(KEY, "master")[0], keys(KEY, "worker")) as stranger:
        old = of_an_old_version()
        stranger.say(ready(), ("specbench", old, "stranger"))
        assert stranger.hears_anything(5000)

    assert refused_meanwhile(fleet, url) > before


def test_another_version_before_load_ends_the_run() -> None:
    """In one line with both versions."""
    port = free_port()
    old = of_an_old_version()
    with Stranger(port, keys(KEY, "master")[0], keys(KEY, "worker")) as stranger:
        stranger.say(ready(), ("specbench", old, "stranger"))
        with pytest.raises(ScenarioError, match=r"0\.0\.9") as raised, Fleet(waiting_at(port, 1), lambda said: None):
            pass

    assert "\n" not in str(raised.value)


@pytest.mark.campaign
def test_workers_that_do_not_come_are_missed_by_number() -> None:
    """Which did come is said."""
    from dataclasses import replace

    plan = replace(waiting_at(free_port(), 2), wait_s=1.0)

    with pytest.raises(UnreachableError, match="0 of 2") as raised, Fleet(plan, lambda said: None):
        pass

    assert "\n" not in str(raised.value)
