"""SGLang (0.5.4 and later, with `--enable-metrics`), read from python/sglang/srt up to 0.5.23.

Only SGLang's own names and habits live here. Its acceptance gauges are refused everywhere: they cover the last 40 decode
iterations, go stale when load stops, and their formula changed twice. Its answers carry the counts instead.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from specbench.model.answers.token_probabilities import TokenProbabilities
from specbench.model.records import SpeculationCounts, StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import Reported, ScrapeWindow, gauge_mean, gauge_peak, increase, observed_mean, whole
from specbench.telemetry.endpoint_facts import as_facts, first_model, json_at, metrics_at, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.engines.rulers import BEST, Question, Ruler, ScoringRule, log_probability, ranked
from specbench.telemetry.json_fields import count_in, counts_in, flag_in, number_in, object_in, word_in
from specbench.telemetry.metrics_pages import HttpAnswers, Scrape
from specbench.telemetry.prometheus_text import Exposition, Key, Labels
from specbench.telemetry.speculation import of_histogram

PAGE, ROUTER_PAGE = "/metrics", "/engine_metrics"
_CAPACITY = ("sglang:max_total_num_tokens", "sglang_max_total_num_tokens")
_RANKS = ("pp_rank", "tp_rank", "moe_ep_rank")
_DRAFTING = frozenset({"eagle_draft", "eagle_draft_extend", "frozen_kv_draft"})
_ALGORITHM = ("speculative_algorithm", "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")
# Below 1, which is the default, they accept drafts that the target would not: answers then change on purpose.
_THRESHOLDS = ("speculative_accept_threshold_single", "speculative_accept_threshold_acc")


def read(span: ScrapeWindow) -> Quantities:
    """Quantities of one block; token counters move when a request ends, so the block must be drained.

    A router shows its engines' series on a page of its own, and like some exporters writes `sglang_` for `sglang:`.
    """
    span = replace(
        span, before=_with_colons(span.before), during=tuple(map(_with_colons, span.during)), after=_with_colons(span.after)
    )
    return {
        **_rounds(span),
        "generated_tokens": whole(increase(span, "sglang:generation_tokens")),
        "prompt_tokens": whole(increase(span, "sglang:prompt_tokens")),
        "prefix_queries": whole(increase(span, "sglang:prompt_tokens")),
        "prefix_hits": whole(increase(span, "sglang:cached_tokens")),
        "preemptions": whole(increase(span, "sglang:num_retracted_requests", _once)),
        "queue_time_s_mean": observed_mean(span, "sglang:queue_time_seconds", _once),
        "server_ttft_s_mean": observed_mean(span, "sglang:time_to_first_token_seconds"),
        "server_itl_s_mean": observed_mean(span, "sglang:inter_token_latency_seconds"),
        "kv_usage_peak": gauge_peak(span, "sglang:token_usage", _once),
        "running_mean": gauge_mean(span, "sglang:num_running_reqs", _once),
        "waiting_mean": _waiting(span),
        "draft_s": _gpu_seconds(span, _DRAFTING),
        "verify_s": _gpu_seconds(span, frozenset({"target_verify"})),
    }


def _with_colons(scrape: Scrape) -> Scrape:
    """The scrape with the engine's series under its own names, and no page that repeats another one."""
    pages = [page if page.samples is None else replace(page, samples=_own_names(page.samples)) for page in scrape.pages]
    telling = {page.url for page in pages if page.samples is not None and any(_is_own(name) for name, _ in page.samples.values)}
    repeated = {url.removesuffix(PAGE) + ROUTER_PAGE for url in telling if url.endswith(PAGE)}
    return replace(scrape, pages=tuple(page for page in pages if page.url not in repeated))


def _own_names(samples: Exposition) -> Exposition:
    if not any(_is_foreign(name) for name, _ in samples.values) or any(_is_own(name) for name, _ in samples.values):
        return samples

    def own(key: Key) -> Key:
        return (f"sglang:{key[0].removeprefix('sglang_')}", key[1]) if _is_foreign(key[0]) else key

    return Exposition(
        values={own(key): value for key, value in samples.values.items()},
        monotone=frozenset(map(own, samples.monotone)),
        not_finite=frozenset(map(own, samples.not_finite)),
        created={own(key): value for key, value in samples.created.items()},
        unreadable=samples.unreadable,
    )


def _is_own(name: str) -> bool:
    return name.startswith("sglang:")


def _is_foreign(name: str) -> bool:
    """Whether it is an engine's series as others write it; a router's own are none."""
    return name.startswith("sglang_") and not name.startswith("sglang_router")


def _once(family: Collection[Labels]) -> Collection[Labels]:
    """The series of a family without the same work told again by another tensor, pipeline or expert rank.

    Of series that differ in these ranks alone it is the lowest: under DP attention `tp_rank` counts through all data-parallel
    ranks, so that each of those has a lowest one of its own.
    """
    first: dict[Labels, Labels] = {}
    for labels in sorted(family, key=_ranks):
        first.setdefault(tuple(pair for pair in labels if pair[0] not in _RANKS), labels)
    return list(first.values())


def _ranks(labels: Labels) -> list[tuple[int, str]]:
    """The ranks, to be compared as numbers; one that is not there is 0."""
    named = dict(labels)
    return [(len(rank), rank) for rank in (named.get(name, "0") for name in _RANKS)]


def _rounds(span: ScrapeWindow) -> Quantities:
    """The one speculative counter there is (0.5.13); a baseline's answers have no rounds and its steps are not counted."""
    rounds = whole(increase(span, "sglang:spec_verify_calls", _once))
    if rounds.value is None:
        return {"acceptance": Reported(None, rounds.reason), "decode_steps": Reported(None, rounds.reason)}
    missing: Reported[int] = Reported(
        None, "not_told: SGLang's metrics count verification rounds only; the rest is in its answers"
    )
    return {
        "acceptance": Reported(SpeculationCounts(rounds=rounds.value, drafted=None, accepted=None, per_position=None)),
        "acceptance.drafted": missing,
        "acceptance.accepted": missing,
        "acceptance.per_position": missing,
        # Where it speculates it always does, so that every decode step of a request is a round.
        "decode_steps": rounds if rounds.value else Reported(None, "not_told: SGLang counts decode steps only as rounds"),
    }


def _waiting(span: ScrapeWindow) -> Reported[float]:
    queued = gauge_mean(span, "sglang:num_queue_reqs", _once)
    grammar = gauge_mean(span, "sglang:num_grammar_queue_reqs", _once)
    return queued if queued.value is None or grammar.value is None else Reported(queued.value + grammar.value)


def _gpu_seconds(span: ScrapeWindow, categories: frozenset[str]) -> Reported[float]:
    """GPU seconds of these kinds of forward pass; there with SGLANG_ENABLE_METRICS_DEVICE_TIMER=1 alone (0.5.11)."""
    return increase(
        span,
        "sglang:forward_execution_seconds",
        lambda family: _once([labels for labels in family if dict(labels).get("category") in categories]),
    )


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """Running usage in every event, token ids where it has them, and the request's own speculative counts at the end."""
    extras: dict[str, Any] = {"return_spec_tokens_details": True, "return_token_ids": True}
    if streaming:
        extras["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
    return extras


def answer_counts(event: Mapping[str, Any]) -> SpeculationCounts | None:
    """Speculation of one request, by the names of 0.5.12 and the older ones; drafted tokens are nominal, rounds × depth.

    `spec_accept_length` is left alone: it counts the prefill's token and what was cut at the stop.
    """
    details = object_in(event, "meta_info") or object_in(object_in(event, "sglext"), "spec_tokens_details")
    rounds = count_in(details, "spec_verify_ct")
    if rounds is None:
        return None
    histogram = counts_in(details, "spec_correct_drafts_histogram", "spec_accept_histogram")
    return SpeculationCounts(
        rounds=rounds,
        drafted=count_in(details, "spec_num_proposed_drafts", "spec_draft_token_num"),
        accepted=count_in(details, "spec_num_correct_drafts", "spec_accept_token_num"),
        per_position=of_histogram(histogram)[2] if histogram else None,
    )


def recognises(answers: HttpAnswers) -> bool:
    """Whether its server info has internal states, its metrics SGLang's names, or its models belong to "sglang"."""
    return (
        "internal_states" in _server_info(answers)
        or any(_is_own(name) or _is_foreign(name) for page in (PAGE, ROUTER_PAGE) for name, _ in metrics_at(answers, page))
        or first_model(answers).get("owned_by") == "sglang"
    )


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What SGLang tells of itself: its resolved server arguments."""
    info, model = _server_info(answers), first_model(answers)
    told_by = [metrics_at(answers, page).items() for page in (PAGE, ROUTER_PAGE)]
    tokens = [value for page in told_by for (name, _), value in page if name in _CAPACITY]
    cacheless, graphless = flag_in(info, "disable_radix_cache"), flag_in(info, "disable_cuda_graph")
    drafting = {name: word for name in _ALGORITHM if (word := word_in(info, name)) is not None}
    lenient = {name: number for name in _THRESHOLDS if (number := number_in(info, name)) is not None and number < 1}
    return as_facts(
        model=source_name(word_in(info, "model_path") or word_in(model, "root", "id")),
        revision=word_in(info, "revision"),
        quantization=word_in(info, "quantization", "dtype"),
        kv_dtype=word_in(info, "kv_cache_dtype"),
        context_length=count_in(info, "context_length") or count_in(model, "max_model_len"),
        chat_template=word_in(info, "chat_template"),
        engine_version=word_in(info, "version"),
        sampling_defaults=word_in(info, "sampling_defaults"),
        prefix_caching=None if cacheless is None else not cacheless,
        speculation=_ALGORITHM[0] in drafting if _ALGORITHM[0] in info else None,
        speculation_config=", ".join(f"{name} {word}" for name, word in {**drafting, **lenient}.items()),
        kv_capacity_tokens=count_in(info, "max_total_num_tokens") or (f"{max(tokens):.0f}" if tokens else None),
        memory_share=word_in(info, "mem_fraction_static"),
        max_running=count_in(info, "max_running_requests"),
        graph_mode=None if graphless is None else not graphless,
    )


def _server_info(answers: HttpAnswers) -> Mapping[str, Any]:
    return json_at(answers, "/server_info") or json_at(answers, "/get_server_info")


def tokenize(model: str, text: str) -> tuple[str, dict[str, Any]]:
    """How to ask for the ids of a text."""
    return "/tokenize", {"model": model, "prompt": text}


def score_question(model: str, prompt: Sequence[int], answer: Sequence[int]) -> Question:
    """One prefill of prompt and answer, with the log probabilities from the prompt's last token on."""
    return "/generate", {
        "input_ids": [*prompt, *answer],
        "sampling_params": {"max_new_tokens": 1, "temperature": 0},
        "return_logprob": True,
        "logprob_start_len": len(prompt) - 1,
        "top_logprobs_num": BEST,
    }


def scores(answer: Any, ids: Sequence[int]) -> tuple[TokenProbabilities, ...] | None:
    """The probabilities of the answer's tokens: lists of [log probability, id, text], the first of which has no probability.

    None where there are no such lists, or the tokens at their end are others.
    """
    meta = object_in(answer if isinstance(answer, dict) else {}, "meta_info")
    own, best = (_places(meta.get(name), len(ids)) for name in ("input_token_logprobs", "input_top_logprobs"))
    if own is None or best is None or [_id_in(one) for one in own] != list(ids):
        return None
    return tuple(
        TokenProbabilities(
            token=token,
            log_p=log_probability(told[0]),
            best=ranked([(number, one[0]) for one in few or () if (number := _id_in(one)) is not None]),
        )
        for token, told, few in zip(ids, own, best, strict=True)
    )


def _places(listed: Any, count: int) -> list[Any] | None:
    """The last so many entries; None where there are fewer."""
    return listed[-count:] if isinstance(listed, list) and 0 < count <= len(listed) else None


def _id_in(entry: Any) -> int | None:
    return entry[1] if isinstance(entry, list) and len(entry) > 1 and isinstance(entry[1], int) else None


SGLANG = EngineSupport(
    name="sglang",
    label="SGLang",
    stream=StreamFormat(
        engine="sglang",
        event_is_step=True,
        burst_ns=None,
        token_sources=("running_usage", "token_ids", "engine_counts", "final_usage_spread", "tokenizer", "events"),
        answer_counts=answer_counts,
    ),
    request_extras=request_extras,
    metrics_paths=(PAGE, ROUTER_PAGE),
    read=read,
    fact_paths=("/server_info", "/get_server_info", "/v1/models", PAGE, ROUTER_PAGE),
    recognises=recognises,
    facts=facts,
    tokenize=tokenize,
    prefixes=("sglang:", "sglang_"),
    # Its prompt and answer lengths are there with --collect-tokens-histogram alone; it times no token by request.
    histograms={
        "ttft": "time_to_first_token_seconds",
        "e2e": "e2e_request_latency_seconds",
        "queue": "queue_time_seconds",
        "prompt_tokens": "prompt_tokens_histogram",
        "answer_tokens": "generation_tokens_histogram",
    },
    ruler=Ruler(scoring=ScoringRule(ask=score_question, read=scores)),
)
