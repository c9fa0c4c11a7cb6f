"""llama.cpp's server (metrics of August 2026 and later), read from tools/server and seen in recordings of two builds.

Only llama.cpp's own names and habits live here. Its counters move when a request ends, so a block must be drained.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specbench.model.records import SpeculationCounts, StreamFormat
from specbench.model.scenario import Route
from specbench.telemetry.counters import Reported, ScrapeWindow, gauge_mean, increase, records, whole
from specbench.telemetry.endpoint_facts import as_facts, fingerprint, first_model, json_at, metrics_at, source_name
from specbench.telemetry.engine import EngineSupport, Quantities
from specbench.telemetry.engines.rulers import BEST, NextToken, NextTokenRule, Question, Ruler, next_tokens
from specbench.telemetry.json_fields import count_in, number_in, object_in, objects_in, word_in
from specbench.telemetry.metrics_pages import HttpAnswers
from specbench.telemetry.speculation import counted
from specbench.units import ns_of_ms

# One event is one token; the tokens of one verified batch are written together. In the recordings (a slow machine, reader
# and engine on two cores) events of one batch are at most 0.3 ms apart, but for one in twelve batches, which the scheduler
# cut in two 2.4 to 4.5 ms apart; steps of their own are at least 8 ms apart there, and on a GPU not below 2 ms.
BURST_MS = 1.5

_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repeat_penalty", "presence_penalty", "frequency_penalty")
_OF_THE_TEMPLATE = ("messages", "tools", "tool_choice", "parallel_tool_calls", "chat_template_kwargs")


def read(span: ScrapeWindow) -> Quantities:
    """Quantities of one block from `/metrics` and `/slots`."""
    return {
        **counted(span, "llamacpp:spec_decode_"),
        "generated_tokens": whole(increase(span, "llamacpp:tokens_predicted")),
        **_prompts(span),
        "preemptions": Reported(None, "not_told: llama.cpp never preempts; a request that overflows fails"),
        "decode_steps": Reported(None, "not_told: llama.cpp counts decode calls of all requests together, prompts included"),
        "server_itl_s_mean": _ratio(
            increase(span, "llamacpp:tokens_predicted_seconds"), increase(span, "llamacpp:tokens_predicted")
        ),
        "queue_time_s_mean": Reported(None, "not_told: llama.cpp has no queue time"),
        "kv_usage_peak": _kv_usage_peak(span),
        "running_mean": gauge_mean(span, "llamacpp:requests_processing"),
        "waiting_mean": gauge_mean(span, "llamacpp:requests_deferred"),
    }


def _prompts(span: ScrapeWindow) -> Quantities:
    """Prompt tokens as the other engines count them: llama.cpp's own counter leaves out those found in the cache."""
    processed, cached = whole(increase(span, "llamacpp:prompt_tokens")), whole(increase(span, "llamacpp:prompt_tokens_cached"))
    if processed.value is None or cached.value is None:
        absent: Reported[int] = Reported(None, cached.reason or processed.reason)
        return {"prompt_tokens": absent, "prefix_queries": absent, "prefix_hits": absent}
    total = Reported(processed.value + cached.value)
    return {"prompt_tokens": total, "prefix_queries": total, "prefix_hits": cached}


def _ratio(seconds: Reported[float], tokens: Reported[float]) -> Reported[float]:
    if seconds.value is None or tokens.value is None:
        return Reported(None, seconds.reason or tokens.reason)
    return Reported(seconds.value / tokens.value) if tokens.value else Reported(None, "no_observation: no token in this block")


def _kv_usage_peak(span: ScrapeWindow) -> Reported[float]:
    """The fullest slot at any scrape: (prompt + generated) ÷ its context; there has been no KV gauge since May 2025."""
    slots = records(span)
    if not slots:
        return Reported(None, "not_exposed: no /slots (it needs --slots)")
    shares = [share for slot in slots if slot.get("is_processing") and (share := _filled(slot)) is not None]
    return Reported(max(shares)) if shares else Reported(None, "not_sampled: no slot was busy at any scrape")


def _filled(slot: Mapping[str, Any]) -> float | None:
    context, prompt = count_in(slot, "n_ctx"), count_in(slot, "n_prompt_tokens")
    if not context or prompt is None:
        return None
    decoded = sum(count_in(one, "n_decoded") or 0 for one in objects_in(slot, "next_token"))
    return (prompt + decoded) / context


def request_extras(route: Route, streaming: bool) -> dict[str, Any]:
    """Running counts in every event, and the final usage."""
    return {"timings_per_token": True, "stream_options": {"include_usage": True}} if streaming else {}


def answer_counts(event: Mapping[str, Any]) -> SpeculationCounts | None:
    """Drafted and accepted tokens of one request from `timings`, per position too on the ik_llama.cpp fork.

    There is no count of rounds, and no draft keys at all where nothing was drafted.
    """
    timings = object_in(event, "timings")
    drafted, accepted = count_in(timings, "draft_n"), count_in(timings, "draft_n_accepted")
    if drafted is None:
        return None
    by_depth = sorted(objects_in(timings, "draft_by_depth"), key=lambda one: count_in(one, "depth") or 0)
    per_position = tuple(count_in(one, "draft_n_accepted") or 0 for one in by_depth) or None
    return SpeculationCounts(rounds=None, drafted=drafted, accepted=accepted, per_position=per_position)


def recognises(answers: HttpAnswers) -> bool:
    """Whether `/props` has a build, the metrics have llama.cpp's names, or the models belong to "llamacpp"."""
    return (
        "build_info" in json_at(answers, "/props")
        or any(name.startswith("llamacpp:") for name, _ in metrics_at(answers))
        or first_model(answers).get("owned_by") == "llamacpp"
    )


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What llama.cpp tells of itself. `/props` says "speculative.types: none" even where it drafts: `/slots` is right."""
    props, slots = json_at(answers, "/props"), _slots(answers)
    defaults = object_in(props, "default_generation_settings")
    sampling = {name: number_in(object_in(defaults, "params"), name) for name in _SAMPLING}
    meta = object_in(first_model(answers), "meta")
    template = word_in(props, "chat_template")
    methods = {method for slot in slots if (method := word_in(object_in(slot, "params"), "speculative.types"))}
    contexts = [context for slot in slots if (context := count_in(slot, "n_ctx")) is not None]
    return as_facts(
        model=source_name(word_in(props, "model_path") or word_in(first_model(answers), "id")),
        quantization=word_in(props, "model_ftype") or word_in(meta, "ftype"),
        context_length=count_in(defaults, "n_ctx") or count_in(meta, "n_ctx"),
        chat_template=fingerprint(template) if template else None,
        engine_version=word_in(props, "build_info"),
        sampling_defaults=", ".join(f"{name} {value:.6g}" for name, value in sampling.items() if value is not None),
        speculation=any(slot.get("speculative") is True for slot in slots) if slots else None,
        speculation_config=", ".join(sorted(methods - {"none"})),
        kv_capacity_tokens=sum(contexts) if contexts else None,
        max_running=count_in(props, "total_slots"),
    )


def _slots(answers: HttpAnswers) -> list[Mapping[str, Any]]:
    body = answers["/slots"].json() if "/slots" in answers else None
    return [slot for slot in body if isinstance(slot, dict)] if isinstance(body, list) else []


def tokenize(model: str, text: str) -> tuple[str, dict[str, Any]]:
    """How to ask for the ids of a text."""
    return "/tokenize", {"content": text}


def next_question(model: str, prompt: str, begun: Sequence[int] | str) -> Question:
    """One greedy token behind the prompt's text and the ids of what was begun; raw log probabilities."""
    body = {"prompt": [prompt, *begun], "n_predict": 1, "temperature": 0, "n_probs": BEST, "cache_prompt": True}
    return "/completion", body


def best_tokens(answer: Any) -> tuple[NextToken, ...]:
    """The best tokens with their ids, out of `completion_probabilities`; none where there are none."""
    first = next(iter(objects_in(answer if isinstance(answer, dict) else {}, "completion_probabilities")), {})
    told = [one for one in objects_in(first, "top_logprobs") if isinstance(one.get("id"), int)]
    return next_tokens([(one["token"], one.get("logprob"), one["id"]) for one in told if isinstance(one.get("token"), str)])


def pieces_question(text: str) -> Question:
    """How to ask for the ids of a text and the text of each."""
    return "/tokenize", {"content": text, "with_pieces": True}


def prompt_question(body: Mapping[str, Any]) -> Question:
    """How to ask for the text that a chat becomes."""
    return "/apply-template", {name: body[name] for name in _OF_THE_TEMPLATE if name in body}


LLAMACPP = EngineSupport(
    name="llamacpp",
    label="llama.cpp",
    stream=StreamFormat(
        engine="llamacpp",
        event_is_step=False,
        burst_ns=ns_of_ms(BURST_MS),
        token_sources=("token_ids", "engine_counts", "events"),
        answer_counts=answer_counts,
    ),
    request_extras=request_extras,
    metrics_paths=("/metrics", "/slots"),
    read=read,
    fact_paths=("/props", "/slots", "/v1/models", "/metrics"),
    recognises=recognises,
    facts=facts,
    tokenize=tokenize,
    ruler=Ruler(
        next_token=NextTokenRule(ask=next_question, read=best_tokens, pieces=pieces_question), prompt_text=prompt_question
    ),
)
