"""Many streams at once on the real load generator: all are in flight, or one line says why they cannot be. Rests on times."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specbench.errors import InternalError, ScenarioError
from specbench.load.fleet.fleet_plan import FleetOptions
from specbench.load.process_limits import SPARE, check_open_files
from specbench.probe.probe import ProbeRequest, probe
from specbench.stream.connection import now_ns
from specbench.units import ns_of_s
from tests.support.commands import QUICK
from tests.support.driving import Endpoint, driven, records_of
from tests.support.streaming import streaming
from tests.support.truthful import truth_endpoint

pytestmark = pytest.mark.slow


def test_all_users_are_in_flight_at_once() -> None:
    """L-03: 128 users, an endpoint that answers nobody before all are there: nobody waits for a connection of somebody else."""
    endpoint = Endpoint(crowd=128)
    with streaming(endpoint) as url:
        captures, _ = driven(url, 128, 128)

    assert endpoint.most_open == 128
    assert max(capture.sent_ns for capture in captures) < min(capture.end_ns for capture in captures)
    assert {record.outcome for record in records_of(captures)} == {"ok"}


def test_a_thousand_streams_are_in_flight_on_one_process() -> None:
    """Every one is answered, and at one moment all of them were under way: nothing lowered the concurrency in silence."""
    with truth_endpoint("--ttft-ms", "4000", "--interval-us", "10000") as url:
        captures, end = driven(url, 1000, 1000)
        told = httpx.get(f"{url}/truth", trust_env=False).json()
    last_sent_ns, first_ended_ns = max(one.sent_ns for one in captures), min(one.end_ns for one in captures)

    assert Counter(record.outcome for record in records_of(captures)) == {"ok": 1000}
    assert len({capture.stream for capture in captures}) == 1000
    assert told["most_in_flight"] == 1000
    assert last_sent_ns < first_ended_ns
    assert (end.health.achieved_concurrency or 0.0) > 0.5


def test_a_low_soft_limit_of_open_files_is_raised() -> None:
    """L-09: 64 files allowed to the parent, 96 streams asked for, every one of them served at once."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    endpoint = Endpoint(crowd=96)
    with streaming(endpoint) as url:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        code = CHILD_OF_A_LIMITED_PARENT.format(url=url)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))

    assert json.loads(done.stdout) == {"None": 96}
    assert endpoint.most_open == 96


CHILD_OF_A_LIMITED_PARENT = """
import json, resource
from collections import Counter
from collections.abc import Iterator
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from tests.support.driving import driven
captures, _ = driven("{url}", 96, 96)
print(json.dumps(Counter(str(capture.problem) for capture in captures)))
"""


def test_a_low_hard_limit_of_open_files_is_named() -> None:
    """L-09: 256 files, 300 streams: refused with the numbers before anything is sent."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
        "from specbench.load.process_limits import check_open_files\n"
        "check_open_files(192)\n"
        "try: check_open_files(300)\n"
        "except Exception as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said == (
        "300 streams at once: a process may open 256 files here, enough for 192 streams; raise the hard limit (ulimit -Hn), "
        "or use more processes or fewer streams\n"
    )


def test_an_order_beyond_the_limit_is_refused_before_load() -> None:
    """The generator itself asks, so no command can forget it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        check_open_files(10_000_000)
        return
    with pytest.raises(ScenarioError, match=f"a process may open {most} files"):
        driven("http://127.0.0.1:9", 1, most - SPARE + 1)


def _readers() -> list[int]:
    """The reading processes of the fleets that this process started."""
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in found.splitlines()]
    workers = {pid for pid, parent, _ in rows if int(parent) == os.getpid()}
    return [int(pid) for pid, parent, command in rows if parent in workers and "specbench.load.fleet.reader" in command]


def test_a_lost_generator_process_ends_the_measurement_early() -> None:
    """L-08: one of two is killed: one line says so long before the other has sent its 200 requests."""
    killed: list[int] = []

    def kill_one() -> None:
        deadline_ns = now_ns() + ns_of_s(120.0)
        while not killed and now_ns() < deadline_ns:
            time.sleep(0.05)
            if httpx.get(f"{url}/truth", trust_env=False).json()["requests"] >= 4:
                killed.append(_readers()[0])
                os.kill(killed[0], signal.SIGKILL)

    with truth_endpoint("--ttft-ms", "50", "--interval-us", "10000") as url:
        thread = threading.Thread(target=kill_one)
        thread.start()
        order = ProbeRequest(url=url, model="truth", engine="openai", concurrency=4, requests=400, max_tokens=64)
        with pytest.raises(InternalError, match="worker was lost"):
            probe(replace(order, fleet=FleetOptions(processes=2)))
        asked = httpx.get(f"{url}/truth", trust_env=False).json()["requests"]
        thread.join()

    assert len(killed) == 1
    assert asked < 200


def test_a_run_that_loses_its_generator_keeps_and_judges_what_it_has(tmp_path: Path) -> None:
    """L-08: exit 70 with one line; the records are on disk, and the result is that of a partial run."""
    folder = tmp_path / "run"
    with truth_endpoint("--ttft-ms", "50", "--interval-us", "5000") as url:
        words = ["run", "scenarios/code.yaml", *QUICK, "--baseline", url, "--speculative", url, "--aa"]
        command = [sys.executable, "-m", "specbench", *words, "--set", "matrix.concurrency=[1]", "--out", str(folder)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
            while running.poll() is None and not (folder / "blocks.jsonl").exists():
                time.sleep(0.05)
            while running.poll() is None and not (folder / "blocks.jsonl").read_bytes():
                time.sleep(0.05)
            children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
            (driver,) = [pid for pid in children if b"specbench.load.child" in Path(f"/proc/{pid}/cmdline").read_bytes()]
            os.kill(int(driver), signal.SIGKILL)
            _, said = running.communicate(timeout=60)
    result = json.loads((folder / "result.json").read_text())

    assert (running.returncode, said.splitlines()[-1]) == (
        70,
        "specbench: the load generator ended (exit code -9): no output",
    )
    assert len((folder / "requests.jsonl").read_text().splitlines()) > 0
    assert (result["run"]["partial"], result["verdict"] in ("HOLD", "INVALID")) == (True, True)
