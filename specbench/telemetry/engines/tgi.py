"""Text Generation Inference (3.3, in maintenance), read from router/src and backends/v3.

Only TGI's own names and habits live here. It counts skipped (accepted) tokens, never drafted ones.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specbench.model.records import SpeculationCounts, StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import Reported, ScrapeWindow, gauge_mean, increase, observed_mean, whole
from specbench.telemetry.endpoint_facts import as_facts, json_at, metrics_at, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.engines.llamacpp import BURST_MS
from specbench.telemetry.engines.rulers import FEW_BEST, NextToken, NextTokenRule, Question, Ruler, next_tokens
from specbench.telemetry.json_fields import count_in, object_in, word_in
from specbench.telemetry.metrics_pages import HttpAnswers
from specbench.units import ns_of_ms


def read(span: ScrapeWindow) -> Quantities:
    """Quantities of one block. `tgi_request_skipped_tokens` is a summary: n - 1 for each request and step of n tokens."""
    accepted = whole(increase(span, "tgi_request_skipped_tokens_sum"))
    return {
        **_acceptance(accepted),
        "generated_tokens": whole(increase(span, "tgi_request_generated_tokens_sum")),
        "prompt_tokens": whole(increase(span, "tgi_request_input_length_sum")),
        "decode_steps": _decode_steps(span),
        "queue_time_s_mean": observed_mean(span, "tgi_request_queue_duration"),
        "server_itl_s_mean": observed_mean(span, "tgi_request_mean_time_per_token_duration"),
        "running_mean": gauge_mean(span, "tgi_batch_current_size"),
        "waiting_mean": gauge_mean(span, "tgi_queue_size"),
    }


def _acceptance(accepted: Reported[int]) -> Quantities:
    if accepted.value is None:
        return {"acceptance": Reported(None, accepted.reason)}
    missing: Reported[int] = Reported(None, "not_told: TGI counts accepted tokens only")
    return {
        "acceptance": Reported(SpeculationCounts(rounds=None, drafted=None, accepted=accepted.value, per_position=None)),
        "acceptance.rounds": missing,
        "acceptance.drafted": missing,
        "acceptance.per_position": missing,
    }


def _decode_steps(span: ScrapeWindow) -> Reported[int]:
    """Observed steps without each request's prefill, which is counted among them."""
    steps = whole(increase(span, "tgi_request_skipped_tokens_count"))
    requests = whole(increase(span, "tgi_request_generated_tokens_count"))
    if steps.value is None or requests.value is None:
        return Reported(None, steps.reason or requests.reason)
    return Reported(steps.value - requests.value)


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """The final usage; every event is one token already."""
    return {"stream_options": {"include_usage": True}} if streaming else {}


def answer_counts(event: Mapping[str, Any]) -> SpeculationCounts | None:
    """None: TGI's answers say nothing of drafts."""
    return None


def recognises(answers: HttpAnswers) -> bool:
    """Whether `/info` has TGI's token limit, or the metrics have its names."""
    return "max_total_tokens" in json_at(answers, "/info") or any(name.startswith("tgi_") for name, _ in metrics_at(answers))


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What TGI tells of itself; whether it speculates is not among it."""
    info = json_at(answers, "/info")
    return as_facts(
        model=source_name(word_in(info, "model_id")),
        revision=word_in(info, "model_sha"),
        context_length=count_in(info, "max_total_tokens"),
        engine_version=word_in(info, "version"),
        max_running=count_in(info, "max_concurrent_requests"),
    )


def tokenize(model: str, text: str) -> tuple[str, dict[str, Any]]:
    """How to ask for the ids of a text."""
    return "/tokenize", {"inputs": text}


def next_question(model: str, prompt: str, begun: Sequence[int] | str) -> Question:
    """One greedy token behind the text, with the best ones."""
    parameters = {"max_new_tokens": 1, "details": True, "top_n_tokens": FEW_BEST}
    return "/generate", {"inputs": prompt + str(begun), "parameters": parameters}


def best_tokens(answer: Any) -> tuple[NextToken, ...]:
    """The best tokens by their text, out of `details.top_tokens`; none where there are none."""
    listed = object_in(answer if isinstance(answer, dict) else {}, "details").get("top_tokens")
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], list) else []
    told = [one for one in first if isinstance(one, dict) and isinstance(one.get("text"), str)]
    return next_tokens([(one["text"], one.get("logprob"), None) for one in told])


TGI = EngineSupport(
    name="tgi",
    label="TGI",
    stream=StreamFormat(
        engine="tgi",
        event_is_step=False,
        # Accepted tokens are written in one loop, as llama.cpp does; there is no recording that could say otherwise.
        burst_ns=ns_of_ms(BURST_MS),
        token_sources=("token_ids", "events"),
        answer_counts=answer_counts,
    ),
    request_extras=request_extras,
    metrics_paths=("/metrics",),
    read=read,
    fact_paths=("/info", "/v1/models", "/metrics"),
    recognises=recognises,
    facts=facts,
    tokenize=tokenize,
    ruler=Ruler(next_token=NextTokenRule(ask=next_question, read=best_tokens)),
)
