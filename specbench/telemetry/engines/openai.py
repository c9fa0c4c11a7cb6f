"""Any endpoint that speaks OpenAI's protocol and of which nothing else is known.

Nothing about a particular engine belongs here; an engine whose metrics are worth reading gets a file of its own.
"""

from typing import Any

from specbench.model.records import StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import ScrapeWindow
from specbench.telemetry.endpoint_facts import as_facts, first_model, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.json_fields import count_in, word_in
from specbench.telemetry.metrics_pages import HttpAnswers


def read(span: ScrapeWindow) -> Quantities:
    """Nothing: metrics of an unknown engine have no known meaning."""
    return {}


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """The final usage event; anything beyond the protocol may be refused."""
    return {"stream_options": {"include_usage": True}} if streaming else {}


def recognises(answers: HttpAnswers) -> bool:
    """Whether there is a list of models: what is left when no other engine knows itself in the answers."""
    return bool(first_model(answers))


def facts(answers: HttpAnswers) -> dict[str, str]:
    """The model's name, and its context length where the list of models has one."""
    model = first_model(answers)
    return as_facts(model=source_name(word_in(model, "root", "id")), context_length=count_in(model, "max_model_len"))


OPENAI = EngineSupport(
    name="openai",
    label="an OpenAI-compatible endpoint",
    stream=StreamFormat(
        engine="openai",
        event_is_step=True,
        burst_ns=None,
        token_sources=("token_ids", "running_usage", "engine_counts", "final_usage_spread", "tokenizer", "events"),
    ),
    request_extras=request_extras,
    metrics_paths=(),
    read=read,
    fact_paths=("/v1/models",),
    recognises=recognises,
    facts=facts,
)
