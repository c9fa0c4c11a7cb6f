"""Was the load generator in time? A client that was late makes a cell invalid, never wrong.

Looks at the generator's own health and at merged reads; the endpoints are not judged here.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from specbench.analysis.cells import CellEvidence
from specbench.analysis.words import number, percent, place_of
from specbench.model.asked import ARMS, ArmName
from specbench.model.judged import IntegrityCheck, PerArm
from specbench.model.seen import Block, GeneratorHealth
from specbench.units import ms

CENSORED_SHARE = 0.01
CPU_SHARE = 0.9
CONCURRENCY_HELD = 0.95
LATE_MS, LATE_SHARE = 5.0, 0.01  # docs/adr/0022
SPOILED_SHARE = 0.01
FEWER_STREAMS = "run fewer streams per process or more processes"


def events_apart(cell: CellEvidence) -> IntegrityCheck:
    """At most 1 % of an arm's gaps, and 1 % of its first tokens or a single one, were read together with a later event.

    The stamp of such an event is only an upper bound of its time; one of them among the first tokens moves a p95 by less than
    a rank. Source: docs/adr/0005. What counts is what metrics are made of: events inside the steady window, and first tokens
    of requests that began inside.
    """
    merged = PerArm(_merged(cell, "baseline"), _merged(cell, "speculative"))
    worse: ArmName = "speculative" if merged.speculative.share > merged.baseline.share else "baseline"
    allowed = {arm: max(1, int(CENSORED_SHARE * merged.of(arm).requests)) for arm in ARMS}
    hit: ArmName = max(ARMS, key=lambda arm: merged.of(arm).firsts - allowed[arm])
    share, firsts = merged.of(worse).share, merged.of(hit).firsts
    ok = firsts <= allowed[hit] and share <= CENSORED_SHARE
    message = (
        f"{place_of(cell.cell)} {percent(share)} of the {worse} arm's gaps and {firsts} of the {hit} arm's first"
        f" tokens could not be timed, as the client read events together (allowed: {percent(CENSORED_SHARE)} and {allowed[hit]})"
        f"{'' if ok else ': ' + FEWER_STREAMS}."
    )
    return _check(cell, "merged_events", ok, share, CENSORED_SHARE, message)


@dataclass(frozen=True, slots=True)
class _Merged:
    """Events of an arm's windows whose time is only an upper bound ÷ gaps; requests that began there, and those so hit first."""

    share: float
    requests: int
    firsts: int


def _merged(cell: CellEvidence, arm: ArmName) -> _Merged:
    windows = {block.id: (block.window_open_ns, block.window_close_ns) for block in cell.blocks.of(arm)}
    events = gaps = requests = firsts = 0
    for record in cell.records.of(arm):
        opened, closed = windows[record.block]
        if opened is None or closed is None:
            continue
        first, end = (bisect_left(record.event_ns, bound - record.sent_ns) for bound in (opened, closed))
        gaps += max(end - first - 1, 0)
        events += sum(first <= place < end for place in record.censored)
        if opened <= (record.sent_ns if record.scheduled_ns is None else record.scheduled_ns) < closed:
            requests += 1
            firsts += 0 in record.censored
    return _Merged(events / gaps if gaps else 0.0, requests, firsts)


def reads_in_time(cell: CellEvidence) -> IntegrityCheck:
    """How late the client read, as far as it can be known; the kernel's stamps do not suffer from it, so it never fails.

    Where stamps are taken in user space there is no better clock to hold them to: a busy core is then the sign
    (`client_saturated`).
    """
    lag = _worst(cell, lambda health: health.read_lag_ms_p99)
    if lag is None:
        message = (
            f"{place_of(cell.cell)} stamps were taken on reading, not on arrival, so it is not known how late the client read."
        )
        return _check(cell, "read_lag", None, None, None, message)
    message = f"{place_of(cell.cell)} 1 in 100 reads came {number(lag)} ms or more after the data, stamped on arrival."
    return _check(cell, "read_lag", True, lag, None, message)


def sends_in_time(cell: CellEvidence) -> IntegrityCheck:
    """Requests leave at most 5 ms after their time; in a closed loop, at most 1 % of an answer where that is more.

    What counts is the mean of an arm's blocks: among the few requests of one, a 95th percentile is hardly less than the maximum.
    """
    delays = [[block.health.send_delay_ms_p95 for block in cell.blocks.of(arm)] for arm in ARMS]
    known = [[delay for delay in of_arm if delay is not None] for of_arm in delays]
    delay = max((fmean(of_arm) for of_arm in known if of_arm), default=None)
    if delay is None:
        return _check(
            cell, "send_delay", None, delay, None, f"{place_of(cell.cell)} it is not known how late requests were sent."
        )
    answers = [[ms(record.end_ns) for record in cell.records.of(arm) if record.outcome == "ok"] for arm in ARMS]
    limit = min(latest_ms(times, closed_loop=cell.cell.rate is None) for times in answers)
    ok = delay <= limit
    message = (
        f"{place_of(cell.cell)} 1 in 20 requests left {number(delay)} ms or more after its time"
        f" (allowed: {number(limit)} ms){'' if ok else ': ' + FEWER_STREAMS}."
    )
    return _check(cell, "send_delay", ok, delay, limit, message)


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
    known = [
        f"the machine's processors were busy {percent(busy)} of the time" if busy is not None else "",
        f"1 in 100 times the client's loop woke {number(lag)} ms late or more" if lag is not None else "",
        f"one read brought {number(events)} events on average" if events is not None else "",
    ]
    said = "; ".join(each for each in known if each) or "it is not known how busy the client's machine was"
    message = f"{place_of(cell.cell)} {said}{' (in the worst block of each)' if any(known) else ''}."
    return _check(cell, "machine_busy", True if any(known) else None, busy, None, message)


def cpu_free(cell: CellEvidence) -> IntegrityCheck:
    """The generator's core had room in every block."""
    share = _worst(cell, lambda health: health.cpu_share)
    if share is None:
        return _check(
            cell, "client_saturated", None, None, CPU_SHARE, f"{place_of(cell.cell)} the client's CPU was not measured."
        )
    ok = share <= CPU_SHARE
    message = (
        f"{place_of(cell.cell)} the client's core was busy {percent(share)} of the time"
        f" (allowed: {percent(CPU_SHARE)}){'' if ok else ': ' + FEWER_STREAMS}."
    )
    return _check(cell, "client_saturated", ok, share, CPU_SHARE, message)


def concurrency_held(cell: CellEvidence) -> IntegrityCheck:
    """Closed loop: as many streams were in flight as asked for, in every block; a lost generator process shows here."""
    asked = cell.cell.concurrency
    held = [block.health.achieved_concurrency for block in _blocks(cell)]
    known = [share for share in held if share is not None]
    if asked is None or not known:
        message = f"{place_of(cell.cell)} the number of requests in flight was not held, or not measured."
        return _check(cell, "achieved_concurrency", None, None, None, message)
    least = min(known)
    ok = least >= CONCURRENCY_HELD
    message = (
        f"{place_of(cell.cell)} {number(least * asked)} requests were in flight on average in the emptiest block"
        f" (allowed: {number(CONCURRENCY_HELD * asked)} or more){'' if ok else ', so the client did not keep the load up'}."
    )
    return _check(cell, "achieved_concurrency", ok, least, CONCURRENCY_HELD, message)


def clock_steady(cell: CellEvidence) -> IntegrityCheck:
    """The machine's clock was not set while answers were timed by it; an odd answer that it spoils does no harm."""
    requests = max(1, min(len(cell.records.of(arm)) for arm in ARMS))
    steps = sum(block.health.clock_steps for block in _blocks(cell))
    share = steps / requests
    ok = share <= SPOILED_SHARE
    message = (
        f"{place_of(cell.cell)} the machine's clock was set during {steps} answers (allowed: {percent(SPOILED_SHARE)} of them)"
    )
    remedy = "." if ok else ": stop what sets it (a time service that steps) and run again."
    return _check(cell, "clock_step", ok, share, SPOILED_SHARE, message + remedy)


def _blocks(cell: CellEvidence) -> list[Block]:
    return [block for arm in ARMS for block in cell.blocks.of(arm)]


def _worst(cell: CellEvidence, figure: Callable[[GeneratorHealth], float | None]) -> float | None:
    values = [figure(block.health) for block in _blocks(cell)]
    return max((value for value in values if value is not None), default=None)


def _check(
    cell: CellEvidence, name: str, ok: bool | None, value: float | None, limit: float | None, message: str
) -> IntegrityCheck:
    return IntegrityCheck(id=name, cell=cell.cell.id, ok=ok, value=value, limit=limit, message=message)
