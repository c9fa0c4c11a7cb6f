"""One plan, carried out by one process, by two workers of this machine, and by two whose network and clocks are elsewhere."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy import stats

from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import FleetOptions, fleet_plan
from specbench.load.fleet.wire import FleetBlock
from specbench.load.messages import BlockSummary, framed
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.plan.trials import cells_of, trials_of
from specbench.prompts.dataset.arrival_trace import ArrivalTrace
from specbench.run.due_requests import arrivals
from specbench.units import ns_of_ms, seconds
from tests.support.fleets import Relay, block, drive, free_port, jobs, joining, waiting_at
from tests.support.relay import relay_to
from tests.support.scenarios import code
from tests.support.truthful import truth_endpoint

pytestmark = pytest.mark.slow
ABROAD, HERE, THERE = "specbench-test", "10.213.7.1", "10.213.7.2"
AHEAD_MS = 3_600_000
BODY = re.compile(rb'\{"model": "m", "prompt": "\((\d+)\)".*?\}\}')
LATEST_MS = 5.0


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of the plan: the block's end, the requests reported, and the bodies that the endpoint was sent, by index."""

    end: BlockSummary
    indices: list[int]
    bodies: list[tuple[int, bytes]]

    @property
    def window_s(self) -> float:
        """How long the steady window was."""
        return seconds((self.end.window_close_ns or 0) - (self.end.window_open_ns or 0))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with truth_endpoint("--interval-us", "10000") as where:
        yield where


@pytest.fixture(scope="module")
def by_one(url: str) -> Carried:
    """The plan carried out by one process."""
    with LoadGenerator() as child, relay_to(port_of(url)) as relay:
        found = list(child.run_block(plan(relay.url).spec, jobs()))
        end = found[-1]
        assert isinstance(end, BlockSummary)
        return Carried(end, sorted(one.index for one in found if isinstance(one, Capture)), bodies_in(relay.heard))


def plan(url: str) -> FleetBlock:
    """Eight streams for two seconds."""
    return block(url, min_requests=4, min_s=2.0)


def port_of(url: str) -> int:
    """The port of this URL."""
    return int(url.rpartition(":")[2])


def bodies_in(heard: bytearray) -> list[tuple[int, bytes]]:
    """Every body that went over the wire, with the index that its prompt tells."""
    return [(int(found[1]), found[0]) for found in BODY.finditer(bytes(heard))]


def carried(fleet: Fleet, url: str) -> Carried:
    """The plan carried out by this fleet."""
    with relay_to(port_of(url)) as relay:
        driven = drive(fleet, plan(relay.url), jobs())
        assert driven.void is None
        return Carried(driven.end, driven.indices, bodies_in(relay.heard))


def check_same(one: Carried, other: Carried) -> None:
    """Nothing, where both carried out the same plan."""
    bodies = dict(one.bodies), dict(other.bodies)
    common = bodies[0].keys() & bodies[1].keys()

    assert len(common) >= 30
    assert {index: bodies[0][index] for index in common} == {index: bodies[1][index] for index in common}
    for each in (one, other):
        assert max(Counter(each.indices).values()) == 1
        assert max(Counter(index for index, _ in each.bodies).values()) == 1
        assert set(each.indices) == {index for index, _ in each.bodies}
    assert one.end.end_reason == other.end.end_reason == "complete"
    assert max(one.window_s, other.window_s) <= 1.01 * min(one.window_s, other.window_s)


def test_two_workers_send_what_one_process_sends(url: str, by_one: Carried) -> None:
    """The same body for each index, no index twice, and windows as long as asked for."""
    found = fleet_plan(FleetOptions(processes=2), {}, 512, at_once=False)
    assert found is not None
    with Fleet(found, print) as fleet:
        check_same(by_one, carried(fleet, url))


@contextmanager
def elsewhere() -> Iterator[list[str]]:
    """A network of its own that reaches this one at `HERE`: the words before a command that runs there, an hour ahead."""
    with ExitStack() as stack:
        for words in (
            ("netns", "add", ABROAD),
            ("link", "add", "sbtest0", "type", "veth", "peer", "name", "sbtest1", "netns", ABROAD),
            ("addr", "add", f"{HERE}/30", "dev", "sbtest0"),
            ("link", "set", "sbtest0", "up"),
            ("-n", ABROAD, "addr", "add", f"{THERE}/30", "dev", "sbtest1"),
            ("-n", ABROAD, "link", "set", "sbtest1", "up"),
        ):
            if subprocess.run(["ip", *words], capture_output=True, check=False).returncode:
                pytest.skip("needs the right to make network namespaces (ip netns)")
            if words[0] == "netns":
                stack.callback(subprocess.run, ["ip", "netns", "del", ABROAD], check=True)
        ahead = ["unshare", "--time", "--monotonic", str(AHEAD_MS // 1000), "--boottime", str(AHEAD_MS // 1000), "--fork"]
        if subprocess.run([*ahead, "true"], capture_output=True, check=False).returncode:
            pytest.skip("needs the right to make time namespaces (unshare --time)")
        yield ["ip", "netns", "exec", ABROAD, *ahead]


@contextmanager
def workers_elsewhere(port: int) -> Iterator[None]:
    """Two workers there, which end with their input."""
    with elsewhere() as there:
        workers = [
            subprocess.Popen([*there, sys.executable, "-m", "specbench.load.fleet.worker"], stdin=subprocess.PIPE)
            for _ in range(2)
        ]
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(framed(joining(port, HERE)))
            worker.stdin.flush()
        try:
            yield
        finally:
            for worker in workers:
                worker.communicate()


@pytest.mark.campaign
def test_workers_elsewhere_an_hour_ahead_send_it_too(url: str, by_one: Carried) -> None:
    """Their clocks' offsets are known within a millisecond, and their window is on the master's clock."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for namespaces of network and time")
    port = free_port()
    with workers_elsewhere(port), Fleet(waiting_at(port, 2, HERE), print) as fleet, relay_to(port_of(url)) as relay:
        way = Relay(port_of(relay.url), HERE)
        try:
            driven = drive(fleet, plan(f"http://{HERE}:{way.port}"), jobs())
        finally:
            way.close()
        heard = bodies_in(relay.heard)
    facts = driven.end.fleet
    assert facts is not None
    opened, closed = driven.end.window_open_ns or 0, driven.end.window_close_ns or 0

    assert driven.void is None
    check_same(by_one, Carried(driven.end, driven.indices, heard))
    for one in facts.workers:
        assert one.clock_offset_ms is not None
        assert one.clock_error_ms is not None
        assert abs(one.clock_offset_ms - AHEAD_MS) <= min(1.0, one.clock_error_ms + 0.001)
    assert sum(opened <= record.sent_ns < closed for record in driven.records) >= 10


@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["poisson", "replay"])
def test_two_workers_keep_the_moments_of_the_open_loop(url: str, kind: str) -> None:
    """Forty requests a second leave when they are due, and what was drawn or recorded is what is sent, over both together."""
    scenario = code(("matrix.rate", "[40]"), ("matrix.arrivals", kind if kind == "poisson" else "constant"))
    trial = next(trial for trial in trials_of(scenario, cells_of(scenario)) if trial.cell.rate is not None)
    recorded_s = np.cumsum(np.random.default_rng(7).exponential(1 / 40, 4000))
    trace = ArrivalTrace(Path("recorded"), recorded_s) if kind == "replay" else None
    moments = [at for at in islice(arrivals(scenario, trial, trace), 600) if at is not None]
    works = (msgspec.structs.replace(job, arrival_ns=at) for job, at in zip(jobs(len(moments)), moments, strict=True))
    plan_of_two = fleet_plan(FleetOptions(processes=2), {}, 512, at_once=False)
    assert plan_of_two is not None
    with Fleet(plan_of_two, print) as fleet:
        driven = drive(fleet, block(url, None, in_flight_limit=64, min_requests=10_000, min_s=0.0, max_s=60.0), works)
    sent = np.array([record.sent_ns for record in sorted(driven.records, key=lambda record: record.index)])
    start_ns = min(record.scheduled_ns or 0 for record in driven.records) - moments[0]
    late_ms = (sent - start_ns - np.array(moments[: len(sent)])) / ns_of_ms(1)

    assert driven.void is None
    assert driven.indices == list(range(600))
    assert float(np.percentile(np.abs(late_ms), 99)) <= LATEST_MS
    assert stats.kstest(np.diff(np.sort(sent)) / 1e9, "expon", args=(0, 1 / 40)).pvalue > 0.01
