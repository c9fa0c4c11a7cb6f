"""What a fleet uses of Locust, which is no public promise: its minor version is pinned, and this is what it must keep.

Locust patches every socket of the process that imports it, so that another one looks at it here.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

LOOK = """
import inspect, json
import locust
from locust import runners
from locust.env import Environment
from locust.rpc import Message, zmqrpc
from specbench.load.fleet.sealed import key_pair

def names(what):
    return list(inspect.signature(what).parameters)

source = inspect.getsource(runners.MasterRunner.handle_message) + inspect.getsource(runners.MasterRunner.heartbeat_worker)
message = Message.unserialize(Message("ours", b"\\x00\\xff", "node").serialize())
keys = [key_pair(secret * 32, side) for secret, side in ("ka", "kb", "ja", "ka")]
print(json.dumps({
    "version": locust.__version__,
    "one_rpc": runners.rpc is zmqrpc,
    "server": names(zmqrpc.Server.__init__),
    "client": names(zmqrpc.Client.__init__),
    "made_by_name": "rpc.Server(" in inspect.getsource(runners.MasterRunner.__init__)
        and "rpc.Client(" in inspect.getsource(runners.WorkerRunner.__init__),
    "master_sends": names(runners.MasterRunner.send_message),
    "worker_sends": names(runners.WorkerRunner.send_message),
    "registers": names(Environment().create_local_runner().register_message)[:2],
    "message": [message.type, message.data.hex(), message.node_id],
    "start_worker": names(runners.WorkerRunner.start_worker)[:2],
    "heart": [runners.HEARTBEAT_INTERVAL, runners.HEARTBEAT_LIVENESS, runners.STATE_MISSING],
    "redistributions": source.count("self.start("),
    "guarded": source.count("self.state == STATE_RUNNING"),
    "keys": [[part.decode() for part in pair] for pair in keys],
}))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_minor_version_is_pinned(seen: dict[str, Any]) -> None:
    """A new one is taken in once these tests pass with it."""
    wanted = tomllib.loads(Path("pyproject.toml").read_text())["project"]["dependencies"]

    assert "locust>=2.47,<2.48" in wanted
    assert seen["version"].startswith("2.47.")


def test_master_and_worker_make_their_sockets_by_name(seen: dict[str, Any]) -> None:
    """So that ours stand in for them."""
    assert (seen["one_rpc"], seen["made_by_name"]) == (True, True)
    assert seen["server"] == ["self", "host", "port"]
    assert seen["client"] == ["self", "host", "port", "identity"]


def test_custom_messages_reach_one_node(seen: dict[str, Any]) -> None:
    """Both ways; bytes arrive as bytes."""
    assert seen["master_sends"] == seen["worker_sends"] == ["self", "msg_type", "data", "client_id"]
    assert seen["registers"] == ["msg_type", "listener"]
    assert seen["message"] == ["ours", "00ff", "node"]


def test_a_worker_starts_its_own_users(seen: dict[str, Any]) -> None:
    """By the name of their class; a master's `start` is never called."""
    assert seen["start_worker"] == ["self", "user_classes_count"]
    assert "runner.start(" not in "".join(path.read_text() for path in Path("specbench/load/fleet").glob("*.py"))


def test_a_worker_is_missing_after_three_to_four_seconds(seen: dict[str, Any]) -> None:
    """A heart that beats each second, and three beats that may be missed."""
    assert seen["heart"] == [1, 3, "missing"]


def test_nothing_is_dealt_out_anew_while_the_master_is_ready(seen: dict[str, Any]) -> None:
    """Every redistribution of Locust asks for a state that only `start` brings about."""
    assert seen["redistributions"] == seen["guarded"]


def test_keys_come_from_the_secret_and_the_side(seen: dict[str, Any]) -> None:
    """The same secret gives the same keys on every machine; the sides, and other secrets, have others."""
    first, worker, other, again = seen["keys"]

    assert first == again
    assert len({*first, *worker, *other}) == 6
