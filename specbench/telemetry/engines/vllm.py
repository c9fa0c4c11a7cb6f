"""vLLM's V1 engine (0.8.3 and later), read from vllm/v1/metrics and vllm/v1/spec_decode/metrics.py up to 0.33.

Only vLLM's own names and habits live here. The V0 engine's speculative counters are refused: each log interval added
the lifetime total again.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from specbench.model.answers.token_probabilities import TokenProbabilities
from specbench.model.records import SpeculationCounts, StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import Reported, ScrapeWindow, exposes, gauge_mean, gauge_peak, increase, observed_mean, whole
from specbench.telemetry.endpoint_facts import as_facts, first_model, json_at, metrics_at, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.engines.rulers import BEST, Question, Ruler, ScoringRule, log_probability, ranked
from specbench.telemetry.json_fields import count_in, counts_in, flag_in, object_in, objects_in, word_in
from specbench.telemetry.metrics_pages import HttpAnswers
from specbench.telemetry.speculation import counted, of_histogram

SERVER_INFO = "/server_info?config_format=json"
_V0_ONLY = ("spec_decode_efficiency", "spec_decode_draft_acceptance_rate")


def read(span: ScrapeWindow) -> Quantities:
    """Quantities of one block under vLLM's names, or under those that Ray's metrics agent makes of them."""
    prefix = "ray_vllm_" if exposes(span, "ray_vllm_generation_tokens") else "vllm:"
    itl = _first(span, prefix, "inter_token_latency_seconds_count", "time_per_output_token_seconds_count").removesuffix("_count")
    cost: Reported[float] = Reported(None, "not_told: neither drafting nor verification is timed outside a profiler")
    return {
        **_acceptance(span, prefix),
        "generated_tokens": whole(increase(span, f"{prefix}generation_tokens")),
        "prompt_tokens": whole(increase(span, f"{prefix}prompt_tokens")),
        "prefix_queries": whole(increase(span, _first(span, prefix, "prefix_cache_queries", "gpu_prefix_cache_queries"))),
        "prefix_hits": whole(increase(span, _first(span, prefix, "prefix_cache_hits", "gpu_prefix_cache_hits"))),
        "preemptions": whole(increase(span, f"{prefix}num_preemptions")),
        # One observation per request and engine step, however many tokens the step brought.
        "decode_steps": whole(increase(span, f"{itl}_count")),
        "server_itl_s_mean": observed_mean(span, itl),
        "queue_time_s_mean": observed_mean(span, f"{prefix}request_queue_time_seconds"),
        "server_ttft_s_mean": observed_mean(span, f"{prefix}time_to_first_token_seconds"),
        "kv_usage_peak": gauge_peak(span, _first(span, prefix, "kv_cache_usage_perc", "gpu_cache_usage_perc")),
        "batch_size": _batch_size(span, prefix, f"{itl}_count"),
        "running_mean": gauge_mean(span, f"{prefix}num_requests_running"),
        "waiting_mean": gauge_mean(span, f"{prefix}num_requests_waiting"),
        "draft_s": cost,
        "verify_s": cost,
    }


def _batch_size(span: ScrapeWindow, prefix: str, gaps: str) -> Reported[float]:
    """Requests per engine step: those that decoded and those that got their first token, over all steps with any of them."""
    parts = [increase(span, stem) for stem in (gaps, f"{prefix}time_to_first_token_seconds_count")]
    steps = increase(span, f"{prefix}iteration_tokens_total_count")
    requests = [part.value for part in parts if part.value is not None]
    if len(requests) < len(parts) or steps.value is None:
        return Reported(None, next(part.reason for part in (*parts, steps) if part.value is None))
    if steps.value <= 0:
        return Reported(None, "no_observation: the engine made no step in this block")
    return Reported(sum(requests) / steps.value)


def _acceptance(span: ScrapeWindow, prefix: str) -> Quantities:
    if any(exposes(span, prefix + name) for name in _V0_ONLY):
        return {"acceptance": Reported(None, "broken_counters: vLLM's V0 engine adds lifetime totals again and again; use V1")}
    return counted(span, f"{prefix}spec_decode_")


def _first(span: ScrapeWindow, prefix: str, *names: str) -> str:
    """The first of these names that is exposed; the newest, first one, where none is."""
    return next((prefix + name for name in names if exposes(span, prefix + name)), prefix + names[0])


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """Token ids in every event, and running usage beside them; `stream_options` without a stream is an error to vLLM."""
    extras: dict[str, Any] = {"return_token_ids": True}
    if streaming:
        extras["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
    return extras


def answer_counts(event: Mapping[str, Any]) -> SpeculationCounts | None:
    """Speculation of one request, from the last event of a server with `--per-request-spec-decode-metrics` (0.33)."""
    counts = object_in(object_in(event, "metrics"), "speculative_decoding")
    if not counts:
        return None
    histogram = counts_in(counts, "acceptance_histogram")
    return SpeculationCounts(
        rounds=count_in(counts, "num_spec_steps"),
        drafted=count_in(counts, "num_draft_tokens"),
        accepted=count_in(counts, "num_accepted_draft_tokens"),
        per_position=None if histogram is None else of_histogram(histogram)[2],
    )


def recognises(answers: HttpAnswers) -> bool:
    """Whether an engine that answers so is vLLM: its metrics have vLLM's names, or its models belong to "vllm"."""
    return any(name.startswith("vllm:") for name, _ in metrics_at(answers)) or first_model(answers).get("owned_by") == "vllm"


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What vLLM tells of itself; model revision, tokenizer and quantisation only in its development mode."""
    model, samples = first_model(answers), metrics_at(answers)
    cache = next((dict(labels) for name, labels in samples if name == "vllm:cache_config_info"), {})
    config = object_in(json_at(answers, SERVER_INFO), "vllm_config")
    model_config = object_in(config, "model_config")
    eager = flag_in(model_config, "enforce_eager")
    return as_facts(
        model=source_name(word_in(model, "root", "id")),
        revision=word_in(model_config, "revision"),
        quantization=word_in(model_config, "quantization"),
        context_length=count_in(model, "max_model_len"),
        engine_version=word_in(json_at(answers, "/version"), "version"),
        kv_dtype=cache.get("cache_dtype"),
        prefix_caching={"True": True, "False": False}.get(cache.get("enable_prefix_caching", "")),
        speculation=_speculation(answers),
        speculation_config=_compact(object_in(config, "speculative_config")),
        kv_capacity_tokens=_capacity(cache),
        memory_share=cache.get("gpu_memory_utilization"),
        graph_mode=None if eager is None else not eager,
    )


def _speculation(answers: HttpAnswers) -> bool | None:
    """Whether vLLM drafts: its Python frontend has the counters only then, its Rust one (OpenMetrics) always, at 0."""
    samples = metrics_at(answers)
    if not any(name.startswith("vllm:") for name, _ in samples):
        return None
    drafts = [value for (name, _), value in samples.items() if name == "vllm:spec_decode_num_drafts"]
    if any(drafts):
        return True
    if drafts and answers["/metrics"].body.rstrip().endswith("# EOF"):
        return None
    return bool(drafts)


def _capacity(cache: Mapping[str, str]) -> int | None:
    blocks, size = cache.get("num_gpu_blocks", ""), cache.get("block_size", "")
    return int(blocks) * int(size) if blocks.isdecimal() and size.isdecimal() else None


def _compact(config: Mapping[str, Any]) -> str | None:
    return json.dumps(config, sort_keys=True) if config else None


def tokenize(model: str, text: str) -> tuple[str, dict[str, Any]]:
    """How to ask for the ids of a text."""
    return "/tokenize", {"model": model, "prompt": text}


def score_question(model: str, prompt: Sequence[int], answer: Sequence[int]) -> Question:
    """One prefill of prompt and answer, with the log probabilities of every token in it; raw ones, unless `--logprobs-mode` says
    otherwise."""
    return "/v1/completions", {
        "model": model,
        "prompt": [*prompt, *answer],
        "max_tokens": 1,
        "temperature": 0,
        "prompt_logprobs": BEST,
        "add_special_tokens": False,
    }


def scores(answer: Any, ids: Sequence[int]) -> tuple[TokenProbabilities, ...] | None:
    """The probabilities of the answer's tokens out of `prompt_logprobs`: a mapping of id to log probability for each place.

    None where there is no such list, or the tokens at its end are others.
    """
    listed = next(iter(objects_in(answer if isinstance(answer, dict) else {}, "choices")), {}).get("prompt_logprobs")
    places = listed[-len(ids) :] if isinstance(listed, list) and ids else []
    if len(places) != len(ids) or not all(
        isinstance(place, dict) and str(own) in place for place, own in zip(places, ids, strict=True)
    ):
        return None
    found: list[TokenProbabilities] = []
    for place, own in zip(places, ids, strict=True):
        told = [(int(name), object_in(place, name).get("logprob")) for name in place if name.isdecimal()]
        best = ranked(told)
        # Beyond the best ones stands the token itself, if it is none of them.
        found.append(TokenProbabilities(token=own, log_p=log_probability(dict(told).get(own)), best=best[:BEST]))
    return tuple(found)


VLLM = EngineSupport(
    name="vllm",
    label="vLLM",
    stream=StreamFormat(
        engine="vllm",
        event_is_step=True,
        burst_ns=None,
        token_sources=("token_ids", "running_usage", "final_usage_spread", "tokenizer", "events"),
        answer_counts=answer_counts,
    ),
    request_extras=request_extras,
    metrics_paths=("/metrics",),
    read=read,
    fact_paths=("/version", "/v1/models", "/metrics", SERVER_INFO),
    recognises=recognises,
    facts=facts,
    tokenize=tokenize,
    prefixes=("vllm:", "ray_vllm_"),
    histograms={
        "ttft": "time_to_first_token_seconds",
        "tpot": "request_time_per_output_token_seconds",
        "e2e": "e2e_request_latency_seconds",
        "queue": "request_queue_time_seconds",
        "decode": "request_decode_time_seconds",
        "step_gap": "inter_token_latency_seconds",
        "step_tokens": "iteration_tokens_total",
        "prompt_tokens": "request_prompt_tokens",
        "answer_tokens": "request_generation_tokens",
    },
    ruler=Ruler(scoring=ScoringRule(ask=score_question, read=scores)),
)
