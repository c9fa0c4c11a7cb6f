"""A fleet of workers on this machine: the same load as one process, and what happens where a worker or the way to it is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import FleetOptions, FleetPlan, fleet_plan
from specbench.load.fleet.worker_processes import WorkerProcesses
from specbench.units import ns_of_ms
from tests.support.fleets import block, drive, free_port, jobs, joining, relayed, waiting_at
from tests.support.truthful import truth_endpoint

pytestmark = pytest.mark.slow


def two_processes() -> FleetPlan:
    """As `--processes 2` asks for."""
    found = fleet_plan(FleetOptions(processes=2), {}, 512, at_once=False)
    assert found is not None
    return found


def readers_of(pids: tuple[int, ...]) -> list[int]:
    """The reading processes of these workers."""
    found = subprocess.run(["ps", "-o", "pid=,ppid=", "-A"], capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid, parent in (line.split() for line in found.splitlines()) if int(parent) in pids]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with truth_endpoint("--interval-us", "10000") as where:
        yield where


@pytest.fixture(scope="module")
def two(url: str) -> Iterator[Fleet]:
    """A fleet of two, that every test leaves whole."""
    with Fleet(two_processes(), print) as fleet:
        yield fleet


def test_all_streams_are_held_by_their_workers(two: Fleet, url: str) -> None:
    """Every stream answers, no index comes twice, and each worker has its own streams."""
    driven = drive(two, block(url), jobs())

    assert driven.void is None
    assert driven.end.end_reason == "complete"
    assert {record.stream for record in driven.records} == set(range(8))
    assert max(Counter(driven.indices).values()) == 1
    assert {record.outcome for record in driven.records} == {"ok", "cut"}
    assert driven.end.fleet is not None
    assert [worker.streams for worker in driven.end.fleet.workers] == [4, 4]
    assert [worker.name for worker in driven.end.fleet.workers] == list(two.workers)


def test_one_machine_has_one_clock(two: Fleet, url: str) -> None:
    """The offsets that pings tell are none, as far as they can tell."""
    fleet = drive(two, block(url), jobs()).end.fleet

    assert fleet is not None
    for worker in fleet.workers:
        assert worker.clock_offset_ms is not None
        assert worker.clock_error_ms is not None
        assert abs(worker.clock_offset_ms) <= worker.clock_error_ms + 0.001


def test_work_that_ends_is_done_whole(two: Fleet, url: str) -> None:
    """Thirty requests, each of them once, and no window that waits for more."""
    driven = drive(two, block(url, min_requests=1000, min_s=0.0), jobs(30))

    assert driven.indices == list(range(30))
    assert driven.end.end_reason == "work_done"
    assert driven.void is None


@pytest.mark.campaign
def test_the_open_loop_is_dealt_like_cards(two: Fleet, url: str) -> None:
    """Request i is sent by worker i mod 2, and moments keep their distances over both."""
    every_ns = ns_of_ms(20)
    driven = drive(two, block(url, None, in_flight_limit=32), jobs(every_ns=every_ns))
    due = {record.index: record.scheduled_ns for record in driven.records}
    fleet = driven.end.fleet
    assert fleet is not None
    doubt_ns = ns_of_ms(sum(worker.clock_error_ms or 0.0 for worker in fleet.workers)) + 1

    assert driven.void is None
    assert all(record.stream % 2 == record.index % 2 for record in driven.records)
    first = min(due)
    assert all(abs((at or 0) - (due[first] or 0) - (index - first) * every_ns) <= doubt_ns for index, at in due.items())


def test_an_interrupted_block_leaves_the_fleet_ready(two: Fleet, url: str) -> None:
    """Its iterator is closed early; the next block runs."""
    cut = two.run_block(block(url), jobs())
    next(cut)
    cut.close()

    assert drive(two, block(url), jobs()).void is None


def test_a_lost_worker_voids_its_block_and_the_next_one_runs(url: str) -> None:
    """Killed or frozen, it is missed by its heart long before the block would end; what it had begun is lost, and named.

    One that is frozen counts as lost though it comes back, and takes part in what follows.
    """
    with Fleet(two_processes(), print) as fleet:
        assert fleet.here is not None
        for blow, healing in ((signal.SIGKILL, None), (signal.SIGSTOP, signal.SIGCONT)):
            victim = readers_of(fleet.here.pids)[0]
            hit_s: list[float] = []

            def strike(count: int, victim: int = victim, blow: int = blow, hit_s: list[float] = hit_s) -> None:
                if count == 10:
                    os.kill(victim, blow)
                    hit_s.append(time.monotonic())

            driven = drive(fleet, block(url, min_s=60.0, max_s=60.0), jobs(), strike)
            noticed_s = time.monotonic() - hit_s[0]
            if healing is not None:
                os.kill(victim, healing)
            again = drive(fleet, block(url), jobs())

            assert noticed_s < 10.0  # of sixty
            assert driven.void == "worker_lost"
            assert driven.end.fleet is not None
            assert [worker.lost for worker in driven.end.fleet.workers].count(True) == 1
            assert driven.lost
            assert not {one.index for one in driven.lost} & set(driven.indices)
            assert again.void is None
            assert {record.stream for record in again.records} == set(range(8))


@pytest.mark.campaign
def test_a_bad_way_between_them_loses_and_doubles_nothing() -> None:
    """Two seconds in which nothing is carried, or every connection broken: each request is sent and reported once."""
    port = free_port()
    with (
        truth_endpoint("--interval-us", "10000") as counting,
        relayed(port) as relay,
        WorkerProcesses(2, joining(relay.port)),
        Fleet(waiting_at(port, 2), print) as fleet,
    ):

        def hold(count: int) -> None:
            if count == 30:
                relay.flows.clear()
                threading.Timer(2.0, relay.flows.set).start()

        def cut(count: int) -> None:
            if count == 30:
                relay.cut()

        order = block(counting, min_requests=10_000, min_s=0.0)
        held, broken = (drive(fleet, order, jobs(120), disturb) for disturb in (hold, cut))
        asked = httpx.get(f"{counting}/truth").json()["requests"]

    assert held.indices == broken.indices == list(range(120))
    assert asked == 2 * 120
    assert {held.void, broken.void} <= {None, "clocks_disagree"}  # pings may have met the disturbance


@pytest.mark.campaign
def test_killing_the_run_ends_all_load(url: str) -> None:
    """The endpoint's own count stands still six seconds later, and no worker is left."""
    with truth_endpoint("--interval-us", "10000") as counting:
        with subprocess.Popen(
            [sys.executable, "-m", "tests.support.endless_fleet", counting], stdout=subprocess.PIPE, text=True
        ) as run:
            assert run.stdout is not None
            workers = tuple(map(int, run.stdout.readline().split()))
            run.kill()
        time.sleep(6.0)
        before = httpx.get(f"{counting}/truth").json()["requests"]
        time.sleep(2.0)
        after = httpx.get(f"{counting}/truth").json()["requests"]

    assert before == after > 0
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
