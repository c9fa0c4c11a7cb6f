"""One endpoint, quickly: send some requests, say what the client saw. A straight script over load, stream and telemetry.

No scenario, no second arm and no verdict; what the numbers are is in `probe/summary.py`.
"""

import itertools
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from specbench.arms.arms import bare_arm
from specbench.credentials import Secrets, secrets_in
from specbench.errors import ScenarioError, UnreachableError
from specbench.explain import notes
from specbench.load.machine import own_cpu_s
from specbench.load.messages import BlockSpec, RequestJob
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
    processes: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    asking: Asking = field(default_factory=Asking)
    without_options: bool = False


def probe(order: ProbeRequest) -> dict[str, Any]:
    """What the client saw, as `probe --json` prints it: times in milliseconds, None where there is nothing to say.

    Raises:
        ScenarioError: the URL, a number or an engine's name makes no sense.
        UnreachableError: nothing answers at the URL.
        RefusedError: the endpoint lists several models, or none, and none was named.
    """
    began = time.monotonic()
    _check(order)
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
    order, parts = _answered(order, url, engine, secrets)
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
    for name in ("concurrency", "requests", "max_tokens", "processes"):
        if getattr(order, name) < 1:
            raise ScenarioError(f"--{name.replace('_', '-')} {getattr(order, name)}: must be at least 1")
    if order.engine is not None and order.engine not in ENGINES:
        raise ScenarioError(f"--engine {order.engine}: not known; one of {', '.join(ENGINES)}")
    if order.processes > min(order.concurrency, order.requests):
        raise ScenarioError(f"--processes {order.processes}: more than there are streams or requests")


def _answered(
    order: ProbeRequest, url: str, engine: EngineSupport, secrets: Secrets
) -> tuple[ProbeRequest, list[ProcessOutcome]]:
    """What came back, and how it was asked for: without `stream_options` where every request was refused as with it."""
    parts = _load(order, url, engine, secrets)
    if STREAM_OPTIONS not in order.asking.extra_body and refuses_fields([record for part in parts for record in part.records]):
        bare = replace(order, asking=replace(order.asking, extra_body={**order.asking.extra_body, STREAM_OPTIONS: None}))
        again = _load(bare, url, engine, secrets)
        if any(record.outcome == "ok" for part in again for record in part.records):
            return replace(bare, without_options=True), again
    return order, parts


def _notes(order: ProbeRequest, parts: list[ProcessOutcome]) -> Iterator[str]:
    """What to know of how the endpoint was asked in the end."""
    if order.without_options:
        yield notes.without_options(base_url(order.url))
    if moved := sorted({part.moved for part in parts if part.moved is not None}):
        yield notes.redirects(base_url(order.url), moved)


def _load(order: ProbeRequest, url: str, engine: EngineSupport, secrets: Secrets) -> list[ProcessOutcome]:
    """Every process drives its share of the streams and of the requests; a thread each decodes what comes back.

    Where one process is lost, the others end at once, as they end before the threads that listen to them.
    """
    numbers = range(order.processes)
    served = ServedEndpoint(url, order.headers, order.model or "", secrets)
    streams = [len(range(number, order.concurrency, order.processes)) for number in numbers]
    path = asked_path(order.url, order.asking.path, ROUTES["chat"])
    blocks = [requests_block(BLOCK, served, path, order.requests, LONGEST_S, each) for each in streams]
    works = [itertools.islice(works_of(_bodies(order, engine)), number, None, order.processes) for number in numbers]
    with ThreadPoolExecutor(order.processes) as threads, ExitStack() as started:
        children = [started.enter_context(LoadGenerator()) for _ in numbers]
        parts = [threads.submit(_drive, *each, engine, secrets) for each in zip(children, blocks, works, strict=True)]
        for ended in wait(parts, return_when=FIRST_EXCEPTION).done:
            ended.result()
        return [part.result() for part in parts]


def _drive(
    child: LoadGenerator, block: BlockSpec, works: Iterator[RequestJob], engine: EngineSupport, secrets: Secrets
) -> ProcessOutcome:
    records: list[RequestRecord] = []
    texts: dict[int, str] = {}
    moved: list[str] = []

    def take(capture: Capture) -> None:
        record, text = record_and_text(capture, RequestSpec("", "", 0), engine.stream, secrets)
        records.append(record)
        if capture.redirected is not None:
            moved.append(capture.redirected)
        texts[record.index] = text

    end = drive(child, block, works, take)
    return ProcessOutcome(tuple(records), texts, end, moved[-1] if moved else None)


def _bodies(order: ProbeRequest, engine: EngineSupport) -> Iterator[bytes]:
    extras = engine.request_extras("chat", True)
    for index in range(order.requests):
        yield chat_body(order.model or "", f"({index}) {QUESTION}", order.max_tokens, 0, extras, order.asking)


__all__ = ["ProbeRequest", "as_text", "probe"]
