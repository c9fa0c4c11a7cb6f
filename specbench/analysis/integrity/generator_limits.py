"""Was the load generator in time? A client that was late makes a cell invalid, never wrong.

Looks at the generator's own health and at merged reads; the endpoints are not judged here.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from specbench.analysis.cells import CellEvidence
from specbench.explain import integrity
from specbench.model.records import GeneratorHealth, RequestRecord
from specbench.model.result import IntegrityCheck, PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.units import ms, ns_of_ms

CENSORED_SHARE = 0.01
CPU_SHARE = 0.9
CONCURRENCY_HELD = 0.95
LATE_MS, LATE_SHARE = 5.0, 0.01  # docs/adr/0022
LATEST_BLOCK = 4.0  # so many times the limit voids a cell by one block alone: docs/adr/0022
SPOILED_SHARE = 0.01
AT_ONCE_NS = ns_of_ms(1.0)
AT_ONCE_SHARE = 0.9
LEAST_WRITES = 3


def events_apart(cell: CellEvidence) -> IntegrityCheck:
    """At most 1 % of an arm's gaps, and 1 % of its first tokens or a single one, were read together with a later event.

    The stamp of such an event is only an upper bound of its time; one of them among the first tokens moves a p95 by less than
    a rank. Source: docs/adr/0005. What counts is what metrics are made of: events inside the steady window, and first tokens
    of requests that began inside.
    """
    found = PerArm(_of_arm(cell, "baseline"), _of_arm(cell, "speculative"))
    worse: ArmName = max(ARMS, key=lambda arm: found.of(arm).share or 0.0)
    hit: ArmName = max(ARMS, key=lambda arm: found.of(arm).firsts - found.of(arm).firsts_allowed)
    share, firsts, allowed = found.of(worse).share, found.of(hit).firsts, found.of(hit).firsts_allowed
    ok = firsts <= allowed and (share or 0.0) <= CENSORED_SHARE
    without = [arm for arm in ARMS if found.of(arm).share is None]
    if ok and without:
        return cell.check("merged_events", None, None, CENSORED_SHARE, integrity.no_gaps(cell.cell, without))
    # Only a remedy needs it, and it takes a look at every event.
    at_once = None if ok else events_at_once(cell.records.of(worse if (share or 0.0) > CENSORED_SHARE else hit))
    message = integrity.events_apart(cell.cell, (worse, share), (hit, firsts), (CENSORED_SHARE, allowed), ok, at_once)
    return cell.check("merged_events", ok, share, CENSORED_SHARE, message)


def events_at_once(records: Iterable[RequestRecord]) -> int | None:
    """How many events an endpoint writes at once; None where that is one, or varies as with a client that reads late."""
    sizes: Counter[int] = Counter()
    for record in records:
        apart = [place for place, gap in enumerate(_gaps(record), 1) if gap > AT_ONCE_NS]
        if len(apart) + 1 >= LEAST_WRITES:
            sizes.update(later - earlier for earlier, later in pairwise([0, *apart]))  # the last write may hold fewer
    if not sizes:
        return None
    size, count = sizes.most_common(1)[0]
    return size if size > 1 and count >= AT_ONCE_SHARE * sizes.total() else None


def _gaps(record: RequestRecord) -> list[int]:
    return [later - earlier for earlier, later in pairwise(record.event_ns)]


@dataclass(frozen=True, slots=True)
class MergedReads:
    """Of the windows: events whose time is only an upper bound, and gaps; requests that began there, and those so hit first."""

    events: int
    gaps: int
    requests: int
    firsts: int

    @property
    def share(self) -> float | None:
        """Events without a time ÷ gaps; None where no gap lies inside."""
        return self.events / self.gaps if self.gaps else None

    @property
    def firsts_allowed(self) -> int:
        """How many first tokens may have no time: one in a hundred, or a single one."""
        return max(1, int(CENSORED_SHARE * self.requests))


def merged_reads(records: Iterable[RequestRecord], windows: Mapping[str, tuple[int | None, int | None]]) -> MergedReads:
    """What was read together inside the windows, (opened, closed) in nanoseconds by block; None where one never opened."""
    events = gaps = requests = firsts = 0
    for record in records:
        opened, closed = windows[record.block]
        if opened is None or closed is None:
            continue
        first, end = (bisect_left(record.event_ns, bound - record.sent_ns) for bound in (opened, closed))
        gaps += max(end - first - 1, 0)
        events += sum(first <= place < end for place in record.censored) if record.censored else 0
        if opened <= (record.sent_ns if record.scheduled_ns is None else record.scheduled_ns) < closed:
            requests += 1
            firsts += 0 in record.censored
    return MergedReads(events, gaps, requests, firsts)


def _of_arm(cell: CellEvidence, arm: ArmName) -> MergedReads:
    windows = {block.id: (block.window_open_ns, block.window_close_ns) for block in cell.blocks.of(arm)}
    return merged_reads(cell.records.of(arm), windows)


def reads_in_time(cell: CellEvidence) -> IntegrityCheck:
    """How late the client read, as far as it can be known; the kernel's stamps do not suffer from it, so it never fails.

    Where stamps are taken in user space there is no better clock to hold them to: a busy core is then the sign
    (`client_saturated`).
    """
    lag = _worst(cell, lambda health: health.read_lag_ms_p99)
    return cell.check("read_lag", None if lag is None else True, lag, None, integrity.reads_in_time(cell.cell, lag))


def sends_in_time(cell: CellEvidence) -> IntegrityCheck:
    """Requests leave at most 5 ms after their time; in a closed loop, at most 1 % of an answer where that is more.

    What counts is the mean of an arm's blocks: among the few requests of one, a 95th percentile is hardly less than the maximum.
    A block that was later than four times as much voids the cell by itself.
    """
    delays = [[block.health.send_delay_ms_p95 for block in cell.blocks.of(arm)] for arm in ARMS]
    known = [of_arm for each in delays if (of_arm := [delay for delay in each if delay is not None])]
    if not known:
        return cell.check("send_delay", None, None, None, integrity.sends_in_time(cell.cell, None, (0.0, 0.0), None))
    delay, worst = max(map(fmean, known)), max(map(max, known))
    answers = [[ms(record.end_ns) for record in cell.records.of(arm) if record.outcome == "ok"] for arm in ARMS]
    limit = min(latest_ms(times, closed_loop=cell.cell.rate is None) for times in answers)
    most = LATEST_BLOCK * limit
    ok = delay <= limit and worst <= most
    message = integrity.sends_in_time(cell.cell, (delay, worst), (limit, most), ok)
    value, allowed = (delay, limit) if delay > limit or ok else (worst, most)
    return cell.check("send_delay", ok, value, allowed, message)


def latest_ms(answers_ms: Sequence[float], *, closed_loop: bool) -> float:
    """How late one request in twenty may leave, given how long answers take.

    In the open loop the delay is part of every latency. In the closed loop it only keeps a stream idle, for at most 1 % of the
    time there. Source: docs/adr/0022.
    """
    return max(LATE_MS, LATE_SHARE * median(answers_ms)) if closed_loop and answers_ms else LATE_MS


def machine_free(cell: CellEvidence) -> IntegrityCheck:
    """How busy the machine and the client's event loop were, whoever kept them so; never fails.

    What it does to a measurement shows in the checks that can fail: merged events, late requests, streams that were not held.
    """
    busy = _worst(cell, lambda health: health.machine_cpu_share)
    lag = _worst(cell, lambda health: health.loop_lag_ms_p99)
    events = _worst(cell, lambda health: health.events_per_stamp)
    known = any(figure is not None for figure in (busy, lag, events))
    message = integrity.machine_free(cell.cell, busy, lag, events)
    return cell.check("machine_busy", True if known else None, busy, None, message)


def cpu_free(cell: CellEvidence) -> IntegrityCheck:
    """The generator's core had room in every block."""
    share = _worst(cell, lambda health: health.cpu_share)
    ok = None if share is None else share <= CPU_SHARE
    message = integrity.cpu_free(cell.cell, share, CPU_SHARE, ok)
    return cell.check("client_saturated", ok, share, CPU_SHARE, message)


def concurrency_held(cell: CellEvidence) -> IntegrityCheck:
    """Closed loop: as many streams were in use as asked for, in every block; a lost generator process shows here.

    A stream that is stuck in a request which is never answered is no fault of the client: it is told apart (`hanging.py`).
    """
    asked = cell.cell.concurrency
    held = [(block.health.achieved_concurrency, block.health.stuck_share or 0.0) for block in cell.all_blocks]
    known = [(alive, stuck) for alive, stuck in held if alive is not None]
    if asked is None or not known:
        unknown = integrity.concurrency_held(cell.cell, None, 0.0, CONCURRENCY_HELD, None)
        return cell.check("achieved_concurrency", None, None, None, unknown)
    used = min(map(sum, known))
    least, stuck = min(known)
    ok = used >= CONCURRENCY_HELD
    message = integrity.concurrency_held(cell.cell, least * asked, stuck * asked, CONCURRENCY_HELD * asked, ok)
    return cell.check("achieved_concurrency", ok, least, CONCURRENCY_HELD, message)


def clock_steady(cell: CellEvidence) -> IntegrityCheck:
    """The machine's clock was not set while answers were timed by it; an odd answer that it spoils does no harm."""
    requests = max(1, min(len(cell.records.of(arm)) for arm in ARMS))
    steps = sum(block.health.clock_steps for block in cell.all_blocks)
    share = steps / requests
    ok = share <= SPOILED_SHARE
    return cell.check("clock_step", ok, share, SPOILED_SHARE, integrity.clock_steady(cell.cell, steps, SPOILED_SHARE, ok))


def _worst(cell: CellEvidence, figure: Callable[[GeneratorHealth], float | None]) -> float | None:
    values = [figure(block.health) for block in cell.all_blocks]
    return max((value for value in values if value is not None), default=None)
