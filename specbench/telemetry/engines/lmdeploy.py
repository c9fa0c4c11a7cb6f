"""LMDeploy's PyTorch engine (0.14 and later), read from lmdeploy/metrics and lmdeploy/serve.

Only LMDeploy's own names and habits live here. Its lifetime gauges of acceptance are left alone.
"""

from typing import Any

from specbench.model.records import StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import Reported, ScrapeWindow, gauge_mean, gauge_peak, increase, observed_mean, whole
from specbench.telemetry.endpoint_facts import as_facts, first_model, metrics_at, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.json_fields import word_in
from specbench.telemetry.metrics_pages import HttpAnswers
from specbench.telemetry.speculation import counted


def read(span: ScrapeWindow) -> Quantities:
    """Quantities of one block; drafted tokens are nominal: every decode step counts as one draft of the configured depth."""
    acceptance = counted(span, "lmdeploy:spec_decode_")
    counts = acceptance["acceptance"].value
    rounds = counts.rounds if counts is not None else None
    return {
        **acceptance,
        "generated_tokens": whole(increase(span, "lmdeploy:generation_tokens")),
        "prompt_tokens": whole(increase(span, "lmdeploy:prompt_tokens")),
        "prefix_queries": whole(increase(span, "lmdeploy:prompt_tokens")),
        "prefix_hits": whole(increase(span, "lmdeploy:cached_tokens")),
        "decode_steps": Reported(rounds) if rounds else Reported(None, "not_told: LMDeploy counts decode steps only as drafts"),
        "queue_time_s_mean": observed_mean(span, "lmdeploy:request_queue_time_seconds"),
        "server_ttft_s_mean": observed_mean(span, "lmdeploy:time_to_first_token_seconds"),
        "server_itl_s_mean": observed_mean(span, "lmdeploy:iter_token_latency"),
        "kv_usage_peak": gauge_peak(span, "lmdeploy:gpu_cache_usage_perc"),
        "running_mean": gauge_mean(span, "lmdeploy:num_requests_running"),
        "waiting_mean": gauge_mean(span, "lmdeploy:num_requests_waiting"),
    }


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """The ids of the tokens in every event (`output_ids`), and the final usage."""
    extras: dict[str, Any] = {"return_token_ids": True}
    if streaming:
        extras["stream_options"] = {"include_usage": True}
    return extras


def recognises(answers: HttpAnswers) -> bool:
    """Whether the metrics have LMDeploy's names, or the models belong to "lmdeploy"."""
    return (
        any(name.startswith("lmdeploy:") for name, _ in metrics_at(answers)) or first_model(answers).get("owned_by") == "lmdeploy"
    )


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What LMDeploy tells of itself: the model's name, and that it drafts once it did (its counters exist at 0 always)."""
    drafts = [value for (name, _), value in metrics_at(answers).items() if name == "lmdeploy:spec_decode_num_drafts"]
    model = first_model(answers)
    return as_facts(model=source_name(word_in(model, "root", "id")), speculation=True if any(drafts) else None)


LMDEPLOY = EngineSupport(
    name="lmdeploy",
    label="LMDeploy",
    stream=StreamFormat(
        engine="lmdeploy",
        event_is_step=True,
        burst_ns=None,
        token_sources=("token_ids", "final_usage_spread", "tokenizer", "events"),
    ),
    request_extras=request_extras,
    metrics_paths=("/metrics",),
    read=read,
    fact_paths=("/v1/models", "/metrics"),
    recognises=recognises,
    facts=facts,
)
