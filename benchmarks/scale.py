"""What a fleet of 1, 2 and 4 workers carries on this machine, truly, and what a chunk costs each process; and one process alone.

    python -m benchmarks.scale [--seconds 20] [--times 3] [--streams 128] [--rate 100] [--workers 1 2 4] [--write [--note TEXT]]

Every load goes against `specbench.engine.reference_endpoint` on this machine, for as long as a block of a run lasts: what comes
once a block, such as the pings for the clocks, weighs as it does there. CPU is counted from the moment all processes are
there, so that starting them does not weigh. Each load comes several times, by turns; the time that cost least counts, as other
programs on the machine only add to what a chunk costs. Holds: figures within 1 % or 0.1 ms (gaps) and 1 % or 0.5 ms (TTFT); the
master at most 2 µs a chunk; reader and decoder of 2 workers at most 1.25 times that of 1; and with six cores or more, 2 workers
carry 1.8 times what 1 carries before it calls itself unhealthy.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import cpu_s, described
from benchmarks.results import write_section
from specbench.analysis.integrity.generator_limits import CENSORED_SHARE, CPU_SHARE, latest_ms, merged_reads
from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import FleetPlan, drawn_key
from specbench.load.fleet.wire import DecodedAnswer, FleetBlock
from specbench.load.messages import BlockSpec, BlockSummary, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.stream.record import RequestSpec, record_of
from specbench.telemetry import ENGINES
from specbench.units import ms

TITLE = "What a fleet carries"
TOKENS, TTFT_MS = 128, 50.0
RELATIVE, GAP_MS, FIRST_MS = 0.01, 0.1, 0.5
MASTER_US, MORE_COST, MORE_LOAD, ENOUGH_CORES = 2.0, 1.25, 1.8, 6
ALONE = "one process"


@dataclass(frozen=True, slots=True)
class Row:
    """One load: who drove it, how much came, whether the figures are true and the client in time, and µs a chunk by process."""

    who: str
    chunks_per_s: float
    errors: tuple[str, ...]
    unhealthy: tuple[str, ...]
    cost_us: dict[str, float]

    @property
    def line(self) -> str:
        """As the table shows it."""
        costs = ", ".join(f"{name} {cost:.1f}" for name, cost in self.cost_us.items())
        true = "true" if not self.errors else f"NOT TRUE ({'; '.join(self.errors)})"
        state = "in time" if not self.unhealthy else f"LATE ({'; '.join(self.unhealthy)})"
        return f"{self.who:12} {self.chunks_per_s:8.0f} chunks/s  {true}, {state};  µs a chunk: {costs}"


def main(arguments: list[str] | None = None) -> int:
    """Prints what was measured; answers 0 where everything held."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--times", type=int, default=3, help="how often each load is driven")
    parser.add_argument("--streams", type=int, default=128)
    parser.add_argument("--rate", type=int, default=100, help="chunks a second of each stream")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--note", default="", help="a sentence on what else the machine was doing")
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS.md too")
    asked = parser.parse_args(arguments)
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, {asked.streams} streams of {asked.rate} chunks/s")
    found: dict[str, list[Row]] = {}
    for workers in (0, *asked.workers) * asked.times:
        row = measured(workers, asked.streams, asked.rate, asked.seconds)
        print(row.line, flush=True)
        found.setdefault(row.who, []).append(row)
    rows = [min(alike, key=lambda row: sum(row.cost_us.values())) for alike in found.values()]
    print("least cost of each:", *(row.line for row in rows), sep="\n")
    verdicts = list(held(rows)) + list(growth(cores, asked.seconds))
    lines = [f"{'ok  ' if ok else 'NOT '} {text}" for text, ok in verdicts]
    print("\n".join(lines))
    if asked.write:
        write_section(TITLE, "\n".join([described(), asked.note, "", "```", *(row.line for row in rows), *lines, "```"]))
    return 0 if all(ok for _, ok in verdicts) else 1


def held(rows: Sequence[Row]) -> Iterator[tuple[str, bool]]:
    """What must hold of these rows, and whether it does."""
    for row in rows:
        yield f"figures of {row.who} are true", not row.errors
        if "master" in row.cost_us:
            yield (
                f"master of {row.who}: {row.cost_us['master']:.1f} µs a chunk (at most {MASTER_US:g})",
                row.cost_us["master"] <= MASTER_US,
            )
    by_name = {row.who: row for row in rows}
    if {"1 worker", "2 workers"} <= set(by_name):
        one, two = (by_name[name].cost_us["reader"] + by_name[name].cost_us["decoder"] for name in ("1 worker", "2 workers"))
        yield (
            f"reader and decoder of 2 workers cost {two / one:.2f} times those of 1 (at most {MORE_COST:g})",
            two <= MORE_COST * one,
        )


def growth(cores: int, seconds: float) -> Iterator[tuple[str, bool]]:
    """How much more two workers carry than one before they call themselves unhealthy, where there are cores for it."""
    if cores < ENOUGH_CORES:
        yield f"{cores} cores hold two readers, two decoders and the endpoint: no growth can be shown here", True
        return
    most = [_most(workers, seconds) for workers in (1, 2)]
    yield (
        f"2 workers carry {most[1]:.0f} chunks/s, 1 carries {most[0]:.0f} (at least {MORE_LOAD:g} times)",
        most[1] >= MORE_LOAD * most[0],
    )


def _most(workers: int, seconds: float) -> float:
    best = 0.0
    for streams in itertools.count(128, 64):
        row = measured(workers, streams, 100, seconds)
        print(row.line, flush=True)
        if row.unhealthy or row.errors:
            return best
        best = row.chunks_per_s
    raise AssertionError


def measured(workers: int, streams: int, rate: int, seconds: float) -> Row:
    """One load by so many workers; 0: by one process without a fleet."""
    who = ALONE if not workers else f"{workers} worker{'s' * (workers > 1)}"
    with _endpoint(rate) as (url, endpoint):
        order = BlockSpec(
            block="scale", url=url, path="/v1/completions", headers={}, concurrency=streams, min_requests=0, min_s=seconds,
            max_s=seconds, ramp_s=3.0,
        )  # fmt: skip
        pids: dict[str, list[int]] = {"endpoint": [endpoint]}
        if workers:
            plan = FleetPlan(here=workers, elsewhere=0, host="127.0.0.1", port=0, secret=drawn_key(), wait_s=120.0)
            with Fleet(plan, print) as fleet:
                assert fleet.here is not None
                decoders = list(fleet.here.pids)
                readers = [child for pid in decoders for child in _children(pid)]
                pids |= {"reader": readers, "decoder": decoders, "master": [fleet.pid], "run": [os.getpid()]}
                records, end, cost = _driven(fleet.run_block(FleetBlock(spec=order, engine="openai"), _jobs()), pids)
        else:
            with LoadGenerator() as child:
                pids |= {"reader": [child.pid], "decoder": [os.getpid()]}
                records, end, cost = _driven(child.run_block(order, _jobs()), pids)
        opened, closed = end.window_open_ns or 0, end.window_close_ns or 0
        with urllib.request.urlopen(f"{url}/truth/window/{opened}/{closed}", timeout=30) as answer:
            true = json.load(answer)
    chunks = max(1, end.health.chunks)
    inside = sum(opened <= record.sent_ns + at < closed for record in records for at in record.event_ns)
    return Row(
        who,
        inside / ((closed - opened) / 1e9),
        tuple(_errors(records, opened, closed, true)),
        tuple(_complaints(records, end)),
        {name: 1e6 * seconds_used / chunks for name, seconds_used in cost.items()},
    )


def _driven(block: Iterator[object], pids: dict[str, list[int]]) -> tuple[list[RequestRecord], BlockSummary, dict[str, float]]:
    """The records of the block, its end, and the seconds of CPU that each kind of process used for it."""
    before = {name: sum(map(_cpu_s, each)) for name, each in pids.items()}
    records: list[RequestRecord] = []
    rule, asked = ENGINES["openai"].stream, RequestSpec("", "", TOKENS)
    for message in block:
        if isinstance(message, BlockSummary):
            return records, message, {name: sum(map(_cpu_s, each)) - before[name] for name, each in pids.items()}
        if isinstance(message, Capture):
            records.append(record_of(message, asked, rule))
        elif isinstance(message, DecodedAnswer):
            records.append(message.record)
    raise AssertionError("the block has no end")


def _errors(records: Sequence[RequestRecord], opened: int, closed: int, true: dict[str, list[float]]) -> Iterator[str]:
    gaps = [
        ms(later - earlier)
        for record in records
        for place, (earlier, later) in enumerate(itertools.pairwise(record.event_ns))
        if record.sent_ns + earlier >= opened
        and record.sent_ns + later < closed
        and not {place, place + 1} & set(record.censored)
    ]
    firsts = [ms(record.event_ns[0]) for record in records if record.event_ns and opened <= record.sent_ns < closed]
    for what, said, known, points, floor in (
        ("gap", gaps, true["gap_ms"], (50, 95, 99), GAP_MS),
        ("TTFT", firsts, true["ttft_ms"], (50, 95), FIRST_MS),
    ):
        for point in points:
            reported, sent = (float(np.percentile(values, point)) if values else float("nan") for values in (said, known))
            if not abs(reported - sent) <= max(RELATIVE * sent, floor):
                yield f"{what} p{point} {reported:.2f} for {sent:.2f} ms"


def _complaints(records: Sequence[RequestRecord], end: BlockSummary) -> Iterator[str]:
    found = merged_reads(records, {"scale": (end.window_open_ns, end.window_close_ns)})
    delay, busiest = end.health.send_delay_ms_p95, end.health.cpu_share
    if (found.share or 0.0) > CENSORED_SHARE or found.firsts > found.firsts_allowed:
        yield f"{found.share or 0.0:.1%} merged"
    if delay is not None and delay > latest_ms([ms(one.end_ns) for one in records if one.outcome == "ok"], closed_loop=True):
        yield f"sends {delay:.0f} ms late"
    if busiest is not None and busiest > CPU_SHARE:
        yield f"core {busiest:.0%} busy"
    if end.fleet is not None and end.fleet.void is not None:
        yield end.fleet.void


def _jobs() -> Iterator[RequestJob]:
    body = {"model": "truth", "prompt": "x", "max_tokens": TOKENS, "stream": True, "stream_options": {"include_usage": True}}
    packed = json.dumps(body).encode()
    return (RequestJob(index=index, body=packed) for index in itertools.count())


@contextmanager
def _endpoint(rate: int) -> Iterator[tuple[str, int]]:
    options = ["--ttft-ms", str(TTFT_MS), "--interval-us", str(1e6 / rate)]
    command = [sys.executable, "-m", "specbench.engine.reference_endpoint.reference_endpoint", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        try:
            yield endpoint.stdout.readline().strip(), endpoint.pid
        finally:
            endpoint.terminate()


def _cpu_s(pid: int) -> float:
    """Processor time of a living process; its own by the finer clock."""
    used = time.process_time() if pid == os.getpid() else cpu_s(pid)
    assert used is not None, f"process {pid} is gone"
    return used


def _children(pid: int) -> list[int]:
    """Its reading process."""
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


if __name__ == "__main__":
    sys.exit(main())
