"""One trial: scrape, load, decode, write; gives the block's facts. Records are on disk as soon as their request ends."""

import re
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Protocol

from specbench.arms.arms import RunningArm, asked_at, shares_server
from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.wire import DecodedAnswer, FleetBlock, LostRequest
from specbench.load.fleet_session import drive_fleet, lost_capture
from specbench.load.health import latest_read_ms
from specbench.load.messages import BlockSpec, BlockSummary, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive
from specbench.model.captures import Capture
from specbench.model.records import Block, RequestRecord
from specbench.model.scenario import ArmName, BlockSize, Scenario
from specbench.plan.trials import Trial
from specbench.prompts.dataset.arrival_trace import ArrivalTrace
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import Prompt, PromptSource, prompt, with_salt
from specbench.prompts.sessions import body_parts, session
from specbench.run.answers.kept_answers import NOT_KEPT, AnswerKeeper
from specbench.run.drains import HANGING, Drains
from specbench.run.due_requests import arrivals, backlog_by_second, ramp_of
from specbench.run.running_figures import Pulse, PulseCounter, RequestFigures, RunningFigures, request_figures, running_figures
from specbench.stream.answers.asked_form import AskedForm, asked_form
from specbench.stream.exchange import Timeouts
from specbench.stream.record import RequestSpec, record_and_answer
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.endpoint import get_all
from specbench.telemetry.oom import shows_crash, with_oom_events
from specbench.telemetry.scrape import MetricsSource, Sampler, metrics_source, scrape_idle
from specbench.units import ns_of_s

TRUTH = "/truth"
MOST_TRUTHS = 200
NAME = re.compile(r"[a-z0-9_.]{1,60}")
DYING_S = 10.0
NO_WORDS = b'""'  # for an own answer of a session, where only the form of a request matters

SentRequest = tuple[Prompt, bytes]
"""A request that is under way: what it asks, and its body, in which own answers of its session are empty."""


class FactsWriter(Protocol):
    """Takes the facts of blocks as they come: a run folder, or whoever passes them on to several."""

    def request(self, record: RequestRecord) -> None:
        """Keeps one request's record."""

    def block(self, block: Block) -> None:
        """Keeps one block's facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockContext:
    """Everything that blocks need while the run lasts, but for their arm.

    `fleet` drives the blocks, in this `lane`, where several processes do; `crew`: the workers that must, by name, as they drove
    the other arm of the pair. `pulse` is given what each arm shows, once a second while its block lasts.
    """

    scenario: Scenario
    drawing: PromptSource
    child: LoadGenerator
    writer: FactsWriter
    answers: AnswerKeeper = field(default_factory=lambda: AnswerKeeper(0, 0, (), NOT_KEPT))
    drains: Drains = field(default_factory=Drains)
    trace: ArrivalTrace | None = None
    fleet: Fleet | None = None
    lane: int = 0
    crew: tuple[str, ...] = ()
    pulse: Callable[[ArmName, Pulse], None] = lambda arm, pulse: None


@dataclass(frozen=True, slots=True)
class BlockOutcome:
    """A block's facts, and what it showed so far for those who wait: requests that ended well and badly, TPOT, tokens/s."""

    block: Block
    figures: RunningFigures


@dataclass(frozen=True, slots=True)
class _Loaded:
    """How the load of a block ended, its running figures, and all that was said of why requests failed."""

    end: BlockSummary
    figures: RunningFigures
    failures: frozenset[str]
    backlog: tuple[int, ...]


def measure(bench: BlockContext, ready: RunningArm, trial: Trial) -> BlockOutcome:
    """Runs one block on its arm; its records and its facts are in the run folder when this returns."""
    engine = ENGINES[ready.arm.engine]
    source = metrics_source(ready.arm, ready.url, ready.headers, engine, ready.secrets)
    started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    truth_before = _truth(ready)
    before = scrape_idle(source, engine)
    mark = ready.engine.printed() if ready.engine is not None else 0
    with Sampler(source) as sampler:
        loaded = _load(bench, ready, trial)
    after = scrape_idle(source, engine)
    end, died = loaded.end, _death(ready, loaded.end, mark)
    told = telemetry_of(before, sampler.scrapes, after, engine)
    told = with_oom_events(told, ready.engine.lines_since(mark) if ready.engine is not None else None, sorted(loaded.failures))
    block = Block(
        id=trial.block_id,
        cell=trial.cell.id,
        pair=trial.pair,
        arm=trial.arm,
        order=trial.order,
        concurrency=trial.cell.concurrency,
        rate=trial.cell.rate,
        bin=trial.cell.bin,
        launch=trial.launch,
        attempt=trial.attempt,
        backlog=loaded.backlog,
        workers=None if end.fleet is None else len(end.fleet.workers),
        started=started,
        telemetry=told if has_metrics(source) or told.oom_events is not None else None,
        engine_truth=_difference(truth_before, _truth(ready)),
        engine_exit=died,
        **end.facts(),
    )
    bench.writer.block(block)
    return BlockOutcome(block, loaded.figures)


def has_metrics(source: MetricsSource) -> bool:
    """Whether the engine has any page of metrics to read."""
    return bool(source.urls or source.gpu_urls)


def _death(ready: RunningArm, end: BlockSummary, mark: int) -> str | None:
    """How an engine of ours ended; one whose requests all fail is given a moment to, as servers outlive their workers.

    Args:
        mark: Where its log stood before the block.
    """
    died = None if ready.ended is None else ready.ended(DYING_S if end.end_reason == "endpoint_dead" else 0.0)
    if died is None or ready.engine is None or not shows_crash(ready.engine.lines_since(mark) or ()):
        return died
    return f"{died}, after its log had told of a crash,"


def _load(bench: BlockContext, ready: RunningArm, trial: Trial) -> _Loaded:
    rule = ENGINES[ready.arm.engine].stream
    requests: dict[int, SentRequest] = {}
    valid = {each.name: each.valid for each in bench.scenario.workload.bins}
    natural = bench.scenario.workload.length == "natural"
    ok = failed = 0
    failures: set[str] = set()
    telling: list[RequestRecord] = []  # what says how long the next drain need be: the slowest answer, and what hung
    slowest_ns = 0
    found: list[RequestFigures] = []
    start_ns = 0  # of an open loop, on the generator's clock
    sent = array("q")
    pulses = PulseCounter(_workers(bench), time.monotonic())

    def take(capture: Capture) -> None:
        request, body = requests.pop(capture.index)
        form = asked_form(body, natural, valid[request.bin])
        record, answer = record_and_answer(capture, spec_of(request, form), rule, ready.secrets)
        keep(record, latest_read_ms(capture))
        bench.answers.answered(trial, record, answer)

    def take_decoded(answer: DecodedAnswer | LostRequest) -> None:
        index = answer.record.index if isinstance(answer, DecodedAnswer) else answer.index
        asked = spec_of(requests.pop(index)[0], None)  # a worker tells no text, so that no mark can be given
        if isinstance(answer, LostRequest):
            keep(record_and_answer(lost_capture(answer, trial.block_id), asked, rule)[0])
        else:
            its_record = replace(answer.record, bin=asked.bin, sampling=asked.sampling, max_tokens=asked.max_tokens)
            keep(replace(its_record, session=asked.session, turn=asked.turn), answer.lag_ms)

    def spec_of(asked: Prompt, form: AskedForm | None) -> RequestSpec:
        return RequestSpec(asked.bin, asked.sampling.name, asked.max_tokens, asked.session, asked.turn, form)

    def keep(record: RequestRecord, lag_ms: float | None = None) -> None:
        nonlocal ok, failed, slowest_ns, start_ns
        if (pulse := pulses.add(record, lag_ms, time.monotonic())) is not None:
            bench.pulse(trial.arm, pulse)
        if record.scheduled_ns is not None:
            begun = record.index if record.session is None else record.session  # sessions arrive, not their turns
            start_ns = start_ns or record.scheduled_ns - next(islice(moments(), begun, None))
            sent.append(record.sent_ns)
        bench.writer.request(record)
        if record.outcome in HANGING or (record.outcome == "ok" and record.end_ns > slowest_ns):
            telling.append(record)
            slowest_ns = max(slowest_ns, record.end_ns) if record.outcome == "ok" else slowest_ns
        ok += record.outcome == "ok"
        if record.outcome not in ("ok", "cut", "worker_lost"):
            failed += 1
            failures.add(record.reason or record.outcome)
        elif (one := request_figures(record)) is not None:
            found.append(one)

    def moments() -> Iterator[int]:
        return (moment for moment in arrivals(bench.scenario, trial, bench.trace) if moment is not None)

    order, works = _order(bench, ready, trial), _works(bench, ready, trial, requests)
    if bench.fleet is None:
        end = drive(bench.child, order, works, take)
    else:
        block = FleetBlock(spec=order, engine=ready.arm.engine, secrets=ready.secrets.values, crew=bench.crew)
        end = drive_fleet(bench.fleet, block, works, take_decoded, bench.lane)
    bench.answers.block_ended(trial, lambda index: _baseline_body(bench, trial, index))
    bench.drains.note(trial.arm, end, telling)
    figures = running_figures(ok, failed, found, (end.window_open_ns, end.window_close_ns))
    if end.fleet is not None:
        figures = replace(figures, workers=len(end.fleet.workers), lag_ms=end.health.read_lag_ms_p99)
    closed_ns = end.window_close_ns
    backlog = backlog_by_second(moments(), start_ns, sent, closed_ns) if sent and closed_ns is not None else ()
    return _Loaded(end, figures, frozenset(failures), backlog)


def _workers(bench: BlockContext) -> int | None:
    """How many workers drive a block; None where one process does."""
    halves = 2 if bench.scenario.matrix.schedule == "simultaneous" else 1
    return None if bench.fleet is None else len(bench.fleet.workers) // halves


def _order(bench: BlockContext, ready: RunningArm, trial: Trial) -> BlockSpec:
    size, limits, ramp = bench.scenario.matrix.block, bench.scenario.matrix.limits, ramp_of(bench.scenario, trial)
    if ramp is not None:  # all of it is the window
        size = BlockSize(min_requests=0, min_s=ramp.lasts_s, max_s=ramp.lasts_s, ramp_s=0.0)
    url, path = asked_at(ready, bench.scenario.workload.route)
    return BlockSpec(
        block=trial.block_id,
        url=url,
        path=path,
        headers=ready.headers,
        concurrency=trial.cell.concurrency,
        min_requests=size.min_requests,
        min_s=size.min_s,
        max_s=size.max_s,
        ramp_s=size.ramp_s,
        drain_s=limits.total_s,
        shorter_drain_s=bench.drains.shorter_s(trial.arm),
        in_flight_limit=bench.scenario.matrix.in_flight,
        timeouts=Timeouts(first_token_s=limits.first_token_s, between_tokens_s=limits.stall_s, total_s=limits.total_s),
    )


def _works(bench: BlockContext, ready: RunningArm, trial: Trial, requests: dict[int, SentRequest]) -> Iterator[RequestJob]:
    workload = bench.scenario.workload
    extras = ENGINES[ready.arm.engine].request_extras(workload.route, True)
    moments = arrivals(bench.scenario, trial, bench.trace)
    shared = shares_server(bench.scenario)

    def job(asked: Prompt, arrival_ns: int | None, think_s: float, then: tuple[RequestJob, ...] = ()) -> RequestJob:
        salt = f"{trial.block_id}/{asked.index if asked.session is None else asked.session}"  # turns of a session share a head
        body = body_of(with_salt(asked, salt) if shared else asked, workload, ready.arm.model or "", extras, ready.arm)
        first, *behind = body_parts(body)
        requests[asked.index] = (asked, NO_WORDS.join((first, *behind)))
        return RequestJob(
            index=asked.index, body=first, arrival_ns=arrival_ns, think_ns=ns_of_s(think_s), then=then, behind=tuple(behind)
        )

    index = 0
    for number, moment in enumerate(moments):
        if workload.sessions is None:
            yield job(prompt(bench.drawing, trial.place, trial.cell.bin, trial.cell.sampling, number), moment, 0.0)
            continue
        drawn = session(bench.drawing, workload.sessions, trial.place, number, index)
        index += len(drawn.prompts)
        thinks = (*drawn.think_s, 0.0)
        then = tuple(job(asked, None, think_s) for asked, think_s in zip(drawn.prompts[1:], thinks[1:], strict=True))
        yield job(drawn.prompts[0], moment, thinks[0], then)


def _baseline_body(bench: BlockContext, trial: Trial, index: int) -> bytes:
    """What the baseline was sent for that prompt, but for the model's name and what its engine is asked for besides."""
    asked = prompt(bench.drawing, trial.place, trial.cell.bin, trial.cell.sampling, index)
    return body_of(asked, bench.scenario.workload, bench.scenario.baseline.model or "", {}, bench.scenario.baseline)


def _truth(ready: RunningArm) -> dict[str, float]:
    """The embedded engine's own cumulative counts; empty where there is no such engine or it does not answer."""
    if ready.arm.engine != "embedded":
        return {}
    told = get_all(ready.url, ready.headers, [TRUTH], ready.secrets)[TRUTH].json()
    flat: dict[str, float] = {}
    for name, value in told.items() if isinstance(told, dict) and len(told) <= MOST_TRUTHS else ():
        if not NAME.fullmatch(name):  # another server's, behind an address that the scenario calls embedded
            continue
        places = enumerate(value) if isinstance(value, list) else ()
        numbers = {name: value} | {f"{name}.{place}": each for place, each in places}
        flat |= {key: float(number) for key, number in numbers.items() if isinstance(number, int | float)}
    return flat


def _difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float] | None:
    if not before or not after:
        return None
    return {name: value - before.get(name, 0.0) for name, value in after.items()}
