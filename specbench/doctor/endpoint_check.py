"""Asks an endpoint a few questions, one after another, through the very client that measures, and reads how it answers.

What the answers say of the stream is decided in `symptoms.py`.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from specbench.credentials import LONGEST_WORD, one_line, secrets_in
from specbench.doctor.diagnosis import Diagnosis, Symptom
from specbench.doctor.response_trace import ResponseTrace, response_trace
from specbench.doctor.symptoms import symptoms_of
from specbench.errors import ScenarioError
from specbench.explain import notes
from specbench.load.parent import LoadGenerator
from specbench.load.session import requests_block, works_of
from specbench.model.captures import Capture
from specbench.model.scenario import Asking
from specbench.net.urls import asked_path, base_url, check_address, models_path
from specbench.prompts.request_body import ROUTES, STREAM_OPTIONS, chat_body, refuses_fields
from specbench.scenario.asking import check_asking
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint, recognise, served_model
from specbench.telemetry.engine import EngineSupport
from specbench.telemetry.http import proxy_name
from specbench.telemetry.scrape import MetricsSource, scrape

BLOCK = "doctor"
MAX_TOKENS = 96
LONGEST_S = 600.0
HOPELESS = ("timeout_connect", "timeout_first_token")
QUESTIONS = (
    ("Write a Python class for a bounded queue with docstrings and type hints, then explain each method in a sentence.", 0.0),
    ("Tell a strange short story about a lighthouse keeper who collects clocks.", 1.0),
    ("List fifty words that have nothing to do with each other, separated by commas.", 1.0),
    ("Explain to a new colleague how rain forms, in plain words.", 0.7),
)
"""Texts and temperatures of different kinds, so that drafts are not accepted alike in all of them."""


def endpoint_diagnosis(
    url: str, model: str | None, engine_name: str | None, headers: dict[str, str], asking: Asking
) -> Diagnosis:
    """Whether the stream of the endpoint at `url` is fit to be measured.

    Raises: ScenarioError, UnreachableError, RefusedError, as `doctor` says.
    """
    if engine_name is not None and engine_name not in ENGINES:
        raise ScenarioError(f"--engine {engine_name}: not known; one of {', '.join(ENGINES)}")
    check_address(url)
    check_asking(url, asking)
    secrets = secrets_in(headers.values())
    at, path = base_url(url), asked_path(url, asking.path, ROUTES["chat"])
    # First of all: what does not answer this is not asked for a dozen other pages.
    asked = served_model(at, headers, model, listed_at=models_path(path), secrets=secrets).name
    engine = ENGINES[engine_name] if engine_name is not None else recognise(at, headers, secrets) or ENGINES["openai"]
    target = _Target(ServedEndpoint(at, headers, asked, secrets), path, asking)
    answers = _answers(target, engine)
    without = STREAM_OPTIONS not in asking.extra_body and refuses_fields([one.record for one in answers])
    if without:
        bare = replace(target, asking=replace(asking, extra_body={**asking.extra_body, STREAM_OPTIONS: None}))
        again = _answers(bare, engine)
        without = any(one.ok for one in again)
        answers = again if without else answers
    facts = (
        ("engine", engine.name),
        ("model", one_line(asked, LONGEST_WORD)),
        ("answers", str(len(answers))),
        *_figures(answers),
    )
    return Diagnosis(
        subject=at,
        symptoms=(
            *symptoms_of(answers, engine.stream, at),
            *_by_proxy(at),
            *_unread(target.served, engine),
            *_otherwise(answers, without),
        ),
        facts=facts,
    )


@dataclass(frozen=True, slots=True)
class _Target:
    """Where and how the questions are asked."""

    served: ServedEndpoint
    path: str
    asking: Asking


def _otherwise(answers: tuple[ResponseTrace, ...], without_options: bool) -> Iterator[Symptom]:
    """In what the endpoint was asked otherwise than it was to be."""
    if without_options:
        yield Symptom("no_stream_options", "note", f"{notes.without_options('the endpoint')}.")
    if moved := sorted({one.capture.redirected for one in answers if one.capture.redirected is not None}):
        yield Symptom("redirected", "note", f"{notes.redirects('the endpoint', moved)}.")


def _by_proxy(url: str) -> Iterator[Symptom]:
    proxy = proxy_name(url)
    if proxy is not None:
        yield Symptom(
            "by_proxy",
            "caution",
            f"requests go by the proxy {proxy}, as the environment says: times are those of the way through it.",
            "List the host in NO_PROXY to measure it directly.",
        )


def _answers(target: _Target, engine: EngineSupport) -> tuple[ResponseTrace, ...]:
    return tuple(response_trace(capture, engine.stream, target.served.secrets) for capture in _captures(target, engine))


def _unread(served: ServedEndpoint, engine: EngineSupport) -> Iterator[Symptom]:
    """The engine's own counters cannot be read, where it has a page of them: by the page that tells most."""
    if not engine.metrics_paths:
        return
    urls = tuple((served.url + path, dict(served.headers)) for path in engine.metrics_paths)
    pages = scrape(MetricsSource(urls=urls, secrets=served.secrets)).pages
    if all(page.absent is not None for page in pages):
        yield Symptom(
            "metrics_unread",
            "caution",
            f"{pages[0].url} was not read ({pages[0].absent}): acceptance is unknown: no counters are read.",
            "Switch the page on, or say where it is (metrics_url) and which key it wants (options.metrics_api_key_env).",
        )


def _captures(target: _Target, engine: EngineSupport) -> list[Capture]:
    """One stream, one answer after another: what merges events here is not the client's load.

    Where an answer did not even begin in time, the others are not waited for.
    """
    extras, model = engine.request_extras("chat", True), target.served.model
    bodies = [chat_body(model, text, MAX_TOKENS, temperature, extras, target.asking) for text, temperature in QUESTIONS]
    order = requests_block(BLOCK, target.served, target.path, len(bodies), LONGEST_S)
    captures: list[Capture] = []
    with LoadGenerator() as child, closing(child.run_block(order, works_of(bodies))) as block:
        for message in block:
            if isinstance(message, Capture):
                captures.append(message)
                if message.problem in HOPELESS:
                    break
    return captures


def _figures(answers: tuple[ResponseTrace, ...]) -> Iterator[tuple[str, str]]:
    """Tokens per event, and where that is known from."""
    good = [one.record for one in answers if one.ok and one.record.event_tokens]
    events = sum(len(record.event_tokens) for record in good)
    if events:
        sources = sorted({str(record.token_source) for record in good})
        yield "tokens an event", f"{sum(map(sum, (record.event_tokens for record in good))) / events:.2f} ({', '.join(sources)})"
