"""TensorRT-LLM's server (mid-2026), read from tensorrt_llm/serve and tensorrt_llm/metrics.

Only its own names and habits live here. Its `/metrics` is a JSON list of iterations that each reader empties, so the
scraper must be the only one; `/prometheus/metrics` has counters, but no count of rounds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specbench.model.records import SpeculationCounts, StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import (
    Reported,
    ScrapeWindow,
    exposes,
    gauge_mean,
    gauge_peak,
    increase,
    observed_mean,
    records,
    whole,
)
from specbench.telemetry.endpoint_facts import as_facts, first_model, json_at, metrics_at, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.json_fields import Fields, count_in, number_in, object_in, word_in
from specbench.telemetry.metrics_pages import HttpAnswers
from specbench.telemetry.speculation import checked
from specbench.units import MS_PER_S

PROMETHEUS = "/prometheus/metrics"


def read(span: ScrapeWindow) -> Quantities:
    """Quantities of one block from the iterations handed out in it and from the counters, whichever there are."""
    prefix = _prefix(span)
    iterations = records(span)
    reused = whole(increase(span, f"{prefix}kv_cache_reused_blocks"))
    missed = whole(increase(span, f"{prefix}kv_cache_missed_blocks"))
    both = None if reused.value is None or missed.value is None else reused.value + missed.value
    return {
        **_acceptance(span, prefix, iterations),
        "generated_tokens": whole(increase(span, f"{prefix}generation_tokens")),
        "prompt_tokens": whole(increase(span, f"{prefix}prompt_tokens")),
        # In blocks, not tokens: the share of hits is what can be compared.
        "prefix_queries": Reported(both, reused.reason or missed.reason),
        "prefix_hits": reused,
        "preemptions": Reported(None, "not_told: TensorRT-LLM shows who is paused now, not how often it pauses"),
        "queue_time_s_mean": observed_mean(span, f"{prefix}request_queue_time_seconds"),
        "server_ttft_s_mean": observed_mean(span, f"{prefix}time_to_first_token_seconds"),
        "server_itl_s_mean": observed_mean(span, f"{prefix}time_per_output_token_seconds"),
        "kv_usage_peak": _kv_usage_peak(span, prefix, iterations),
        "running_mean": _mean_or(iterations, "numActiveRequests", gauge_mean(span, f"{prefix}num_requests_running")),
        "waiting_mean": _mean_or(iterations, "numQueuedRequests", gauge_mean(span, f"{prefix}num_requests_waiting")),
        "draft_s": _draft_s(iterations),
        "memory_bytes_peak": _memory_peak(span, prefix, iterations),
    }


def _prefix(span: ScrapeWindow) -> str:
    """Older builds had no prefix at all."""
    return "" if exposes(span, "spec_decode_num_draft_tokens") or exposes(span, "generation_tokens") else "trtllm_"


def _acceptance(span: ScrapeWindow, prefix: str, iterations: Sequence[Fields]) -> Quantities:
    """Counts summed over iterations (never their mean of lengths); the counters check that no iteration was lost."""
    drafted = whole(increase(span, f"{prefix}spec_decode_num_draft_tokens"))
    accepted = whole(increase(span, f"{prefix}spec_decode_num_accepted_tokens"))
    missing: Reported[int] = Reported(None, "not_told: TensorRT-LLM has no counts by position")
    rounds = _rounds(iterations, drafted.value)
    drafted = drafted if drafted.value is not None else _sum(iterations, "numDraftTokens", drafted.reason)
    accepted = accepted if accepted.value is not None else _sum(iterations, "numAcceptedTokens", accepted.reason)
    if drafted.value is None and accepted.value is None:
        return {"acceptance": Reported(None, drafted.reason)}
    counts = SpeculationCounts(rounds=rounds.value, drafted=drafted.value, accepted=accepted.value, per_position=None)
    parts: Quantities = {"acceptance.rounds": rounds} if rounds.value is None else {}
    return checked(counts) | {"acceptance.per_position": missing} | parts


def _rounds(iterations: Sequence[Fields], drafted_by_counter: int | None) -> Reported[int]:
    rounds = _sum(iterations, "numRequestsWithDraftTokens", None)
    listed = _sum(iterations, "numDraftTokens", None).value
    if rounds.value is None:
        return Reported(None, "not_told: only the iterations of /metrics count rounds (enable_iter_perf_stats)")
    if drafted_by_counter is not None and listed != drafted_by_counter:
        return Reported(None, f"inconsistent: the iterations list {listed} drafted tokens, the counter {drafted_by_counter}")
    return rounds


def _sum(iterations: Sequence[Fields], name: str, reason: str | None) -> Reported[int]:
    """Sum over iterations of one field of `specDecodingStats`."""
    values = [count for one in iterations if (count := count_in(object_in(one, "specDecodingStats"), name)) is not None]
    return Reported(sum(values)) if values else Reported(None, reason or "not_exposed: no iteration has specDecodingStats")


def _kv_usage_peak(span: ScrapeWindow, prefix: str, iterations: Sequence[Fields]) -> Reported[float]:
    blocks = [object_in(one, "kvCacheStats") for one in iterations]
    shares = [
        used / most
        for one in blocks
        if (most := count_in(one, "maxNumBlocks")) and (used := count_in(one, "usedNumBlocks")) is not None
    ]
    return Reported(max(shares)) if shares else gauge_peak(span, f"{prefix}kv_cache_utilization")


def _mean_or(iterations: Sequence[Fields], name: str, gauge: Reported[float]) -> Reported[float]:
    """Mean over time of a field of the iterations, each weighted by how long it took; the gauge where there are none."""
    timed = [
        (value, latency)
        for one in iterations
        if (value := number_in(one, name)) is not None and (latency := number_in(one, "iterLatencyMS"))
    ]
    weight = sum(latency for _, latency in timed)
    return Reported(sum(value * latency for value, latency in timed) / weight) if timed else gauge


def _draft_s(iterations: Sequence[Fields]) -> Reported[float]:
    """Seconds spent drafting; only the two-model drafter fills the field, and 0 means unknown everywhere else."""
    spent_ms = sum(number_in(object_in(one, "specDecodingStats"), "iterLatencyMS") or 0.0 for one in iterations)
    if not spent_ms:
        return Reported(None, "not_told: only TensorRT-LLM's two-model drafter times its drafting")
    return Reported(spent_ms / MS_PER_S)


def _memory_peak(span: ScrapeWindow, prefix: str, iterations: Sequence[Fields]) -> Reported[int]:
    used = [used for one in iterations if (used := count_in(one, "gpuMemUsage"))]
    return Reported(max(used)) if used else whole(gauge_peak(span, f"{prefix}gpu_memory_usage_bytes"))


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """Running usage in every event."""
    return {"stream_options": {"include_usage": True, "continuous_usage_stats": True}} if streaming else {}


def answer_counts(event: Mapping[str, Any]) -> SpeculationCounts | None:
    """None: an answer has a mean of tokens per iteration (`avg_decoded_tokens_per_iter`), and no counts."""
    return None


def recognises(answers: HttpAnswers) -> bool:
    """Whether `/metrics` is a JSON list, or `/prometheus/metrics` has its names; `/version` alone could be vLLM's."""
    page = answers.get("/metrics")
    listed = page.json() if page is not None else None
    return isinstance(listed, list) or any(name.startswith("trtllm_") for name, _ in metrics_at(answers, PROMETHEUS))


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What TensorRT-LLM tells of itself: its version, its model's name and the configuration gauges' labels."""
    samples = metrics_at(answers, PROMETHEUS)
    labels = {name.removeprefix("trtllm_"): dict(pairs) for name, pairs in samples if name.endswith("_config_info")}
    drafted = [value for (name, _), value in samples.items() if name.endswith("spec_decode_num_draft_tokens")]
    speculative = {name: value for name, value in labels.get("speculative_config_info", {}).items() if value not in ("", "None")}
    return as_facts(
        model=source_name(word_in(first_model(answers), "root", "id")),
        engine_version=word_in(json_at(answers, "/version"), "version"),
        # Nothing drafted yet is no proof that nothing will be.
        speculation=True if any(drafted) else None,
        speculation_config=", ".join(f"{name} {value}" for name, value in sorted(speculative.items())),
    )


TRTLLM = EngineSupport(
    name="trtllm",
    label="TensorRT-LLM",
    stream=StreamFormat(
        engine="trtllm",
        event_is_step=True,
        burst_ns=None,
        token_sources=("running_usage", "final_usage_spread", "tokenizer", "events"),
        answer_counts=answer_counts,
    ),
    request_extras=request_extras,
    metrics_paths=("/metrics", PROMETHEUS),
    read=read,
    fact_paths=("/version", "/v1/models", "/metrics", PROMETHEUS),
    recognises=recognises,
    facts=facts,
    prefixes=("trtllm_",),
    histograms={
        "ttft": "time_to_first_token_seconds",
        "tpot": "time_per_output_token_seconds",
        "e2e": "e2e_request_latency_seconds",
        "queue": "request_queue_time_seconds",
    },
)
