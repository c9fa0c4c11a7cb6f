"""One endpoint, quickly: send some requests, say what the client saw. A straight script over load, stream and telemetry.

No scenario, no second arm and no verdict; what the numbers are is in `probe/summary.py`.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from specbench.arms.arms import bare_arm
from specbench.credentials import Secrets, secrets_in
from specbench.errors import InternalError, ScenarioError, UnreachableError
from specbench.explain import notes
from specbench.explain.rules.fleet_of_workers import probe_void
from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import ONE_PROCESS, FleetOptions, fleet_plan
from specbench.load.fleet.wire import DecodedAnswer, FleetBlock, LostRequest
from specbench.load.fleet_session import drive_fleet, lost_capture
from specbench.load.machine import own_cpu_s
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive, requests_block, works_of
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.model.scenario import Asking
from specbench.net.urls import asked_path, base_url, check_address, models_path
from specbench.probe.summary import BLOCK, ProcessOutcome, as_text, summarize
from specbench.prompts.request_body import ROUTES, STREAM_OPTIONS, chat_body, refuses_fields
from specbench.scenario.asking import check_asking
from specbench.stream.record import RequestSpec, record_and_text
from specbench.telemetry import ENGINES, EngineSupport, telemetry_of
from specbench.telemetry.endpoint import MODELS, ServedEndpoint, get_all, recognise, served_model
from specbench.telemetry.metrics_pages import unreachable
from specbench.telemetry.scrape import metrics_source, moved_pages, scrape_idle

LONGEST_S = 24 * 3600.0
NOTHING_ASKED = RequestSpec("", "", 0)
QUESTION = "Write a Python class for a bounded queue with docstrings and type hints, then explain each method in a sentence."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest:
    """What to probe: one endpoint, how many requests in how many streams, and how many tokens each may bring.

    `model` is None where the endpoint serves only one, `engine` where its own answers are to tell which it is. `without_options`:
    `stream_options` was left out, as it was refused.
    """

    url: str
    model: str | None
    concurrency: int
    requests: int
    max_tokens: int
    engine: str | None = None
    fleet: FleetOptions = ONE_PROCESS
    headers: dict[str, str] = field(default_factory=dict)
    asking: Asking = field(default_factory=Asking)
    without_options: bool = False


def probe(order: ProbeRequest, say: Callable[[str], None] = lambda said: None) -> dict[str, Any]:
    """What the client saw, as `probe --json` prints it: times in milliseconds, None where there is nothing to say.

    Args:
        say: Is told what to know while workers are waited for.

    Raises:
        ScenarioError: the URL, a number or an engine's name makes no sense, or the fleet that is asked for cannot be.
        UnreachableError: nothing answers at the URL, or workers did not come.
        RefusedError: the endpoint lists several models, or none, and none was named.
        InternalError: the load generator was lost, or a worker of the fleet.
    """
    began = time.monotonic()
    _check(order)
    plan = fleet_plan(order.fleet, os.environ, min(order.concurrency, order.requests), at_once=False)
    url = base_url(order.url)
    secrets = secrets_in(order.headers.values())
    engine = ENGINES[order.engine] if order.engine is not None else recognise(url, order.headers, secrets)
    if engine is None:
        if (why := _why_not(url, order.headers, secrets)) is not None:
            raise UnreachableError(why)
        engine = ENGINES["openai"]  # something is there, which may know the way it is asked and nothing else
    model = order.model or _only_model(order, url, secrets)
    order = replace(order, model=model)
    arm = bare_arm(engine.name, order.url, model, order.headers)
    source = metrics_source(arm, url, order.headers, engine, secrets)
    before = scrape_idle(source, engine) if source.urls else None
    with nullcontext() if plan is None else Fleet(plan, say) as fleet:
        order, parts = _answered(order, url, engine, secrets, fleet)
    telemetry = telemetry_of(before, (), scrape_idle(source, engine), engine) if before is not None else None
    told = summarize(parts, engine.name, telemetry, order.max_tokens)
    if found := (*_notes(order, parts), *(() if before is None else moved_pages(before))):
        told["notes"] = [*told.get("notes", ()), *found]
    told["generator"] |= {"cpu_s": own_cpu_s(), "wall_s": time.monotonic() - began}
    return told


def _only_model(order: ProbeRequest, url: str, secrets: Secrets) -> str:
    """The only model that the endpoint lists."""
    listed_at = models_path(asked_path(order.url, order.asking.path, MODELS))
    return served_model(url, order.headers, None, listed_at=listed_at, secrets=secrets).name


def _why_not(url: str, headers: Mapping[str, str], secrets: Secrets) -> str | None:
    """Why nothing can be requested there, and what to try; None where something answers."""
    answer = get_all(url, headers, [MODELS], secrets)[MODELS]
    if answer.failure is not None:
        return unreachable(url, answer)
    if answer.status in (401, 403):
        return f"{url} refuses {MODELS} (HTTP {answer.status}); name the environment variable with its key: --api-key-env"
    return None


def _check(order: ProbeRequest) -> None:
    check_address(order.url)
    check_asking(order.url, order.asking)
    for name in ("concurrency", "requests", "max_tokens"):
        if getattr(order, name) < 1:
            raise ScenarioError(f"--{name.replace('_', '-')} {getattr(order, name)}: must be at least 1")
    if order.engine is not None and order.engine not in ENGINES:
        raise ScenarioError(f"--engine {order.engine}: not known; one of {', '.join(ENGINES)}")


def _answered(
    order: ProbeRequest, url: str, engine: EngineSupport, secrets: Secrets, fleet: Fleet | None
) -> tuple[ProbeRequest, list[ProcessOutcome]]:
    """What came back, and how it was asked for: without `stream_options` where every request was refused as with it."""
    parts = [_load(order, url, engine, secrets, fleet)]
    if STREAM_OPTIONS not in order.asking.extra_body and refuses_fields([record for part in parts for record in part.records]):
        bare = replace(order, asking=replace(order.asking, extra_body={**order.asking.extra_body, STREAM_OPTIONS: None}))
        again = [_load(bare, url, engine, secrets, fleet)]
        if any(record.outcome == "ok" for part in again for record in part.records):
            return replace(bare, without_options=True), again
    return order, parts


def _notes(order: ProbeRequest, parts: list[ProcessOutcome]) -> Iterator[str]:
    """What to know of how the endpoint was asked in the end."""
    if order.without_options:
        yield notes.without_options(base_url(order.url))
    if moved := sorted({part.moved for part in parts if part.moved is not None}):
        yield notes.redirects(base_url(order.url), moved)


def _load(order: ProbeRequest, url: str, engine: EngineSupport, secrets: Secrets, fleet: Fleet | None) -> ProcessOutcome:
    """All requests in one block, driven by one process of this machine or by a fleet of workers."""
    served = ServedEndpoint(url, order.headers, order.model or "", secrets)
    path = asked_path(order.url, order.asking.path, ROUTES["chat"])
    block = requests_block(BLOCK, served, path, order.requests, LONGEST_S, order.concurrency)
    works = works_of(_bodies(order, engine))
    records: list[RequestRecord] = []
    texts: dict[int, str] = {}
    moved: list[str] = []

    def keep(record: RequestRecord, text: str, redirected: str | None) -> None:
        records.append(record)
        texts[record.index] = text
        if redirected is not None:
            moved.append(redirected)

    def take(capture: Capture) -> None:
        keep(*record_and_text(capture, NOTHING_ASKED, engine.stream, secrets), capture.redirected)

    def take_decoded(answer: DecodedAnswer | LostRequest) -> None:
        if isinstance(answer, DecodedAnswer):
            keep(answer.record, answer.text or "", answer.redirected)
        else:
            keep(*record_and_text(lost_capture(answer, BLOCK), NOTHING_ASKED, engine.stream), None)

    if fleet is None:
        with LoadGenerator() as child:
            end = drive(child, block, works, take)
    else:
        whole = FleetBlock(spec=block, engine=engine.name, secrets=secrets.values, texts=True)
        end = drive_fleet(fleet, whole, works, take_decoded)
        if end.fleet is not None and end.fleet.void is not None:
            raise InternalError(probe_void(end.fleet.void))
    return ProcessOutcome(tuple(records), texts, end, moved[-1] if moved else None)


def _bodies(order: ProbeRequest, engine: EngineSupport) -> Iterator[bytes]:
    extras = engine.request_extras("chat", True)
    for index in range(order.requests):
        yield chat_body(order.model or "", f"({index}) {QUESTION}", order.max_tokens, 0, extras, order.asking)


__all__ = ["ProbeRequest", "as_text", "probe"]
