"""An unusual event's JSON put right before it is read: text under other names, in parts or objects, and impossible counts.

What matters is kept (text, counts, the end), what does not (the type of a tool call's arguments) is let pass; either is named.
Works on plain JSON values and knows no event but this one.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

THOUGHTS = (
    *("reasoning", "reasoning_content", "reasoning_text", "reasoning_details", "reasoning_summary"),
    *("thinking", "thinking_content", "thinking_blocks", "thought", "thoughts"),
)
"""Names of reasoning in public APIs, most common first (vLLM, DeepSeek, Copilot, OpenRouter, Anthropic by LiteLLM, Ollama)."""

_WRAPPERS = ("provider_specific_fields",)  # LiteLLM: what it knows no field for
_ASIDE = frozenset(
    (
        *("id", "index", "name", "role", "type", "object", "model", "provider", "created", "signature", "finish_reason"),
        *("stop_reason", "native_finish_reason", "annotations", "citations", "extra_content", "logprobs", "token_ids", "usage"),
    )
)
_ASIDE_ENDS = ("_id", "_ids", "_type", "_signature", "_index")
_COUNTS = frozenset(
    (
        *("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens"),
        *("accepted_prediction_tokens", "rejected_prediction_tokens"),
        *("cache_n", "predicted_n", "tokens_predicted", "tokens_evaluated"),
    )
)
_COUNTED_AT = (
    *((), ("timings",), ("usage",), ("usage", "prompt_tokens_details"), ("usage", "completion_tokens_details")),
    *(("choices", "usage"), ("choices", "usage", "prompt_tokens_details"), ("choices", "usage", "completion_tokens_details")),
    *(("x_groq", "usage"),),
)


@dataclass(slots=True)
class Found:
    """What was odd, in the words of a record's flags, and the names of fields whose text is not known to be generated."""

    oddities: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)


def put_right(raw: dict[str, Any], most: int) -> Found:
    """What was odd in this event, which is changed in place; a count above `most` stands as not told."""
    found = Found()
    for path in _COUNTED_AT:
        for fields in _objects(raw, *path):
            _counts(fields, most, found)
    for choice in _objects(raw, "choices"):
        if isinstance(delta := choice.get("delta"), dict):
            choice["delta"] = _delta(delta, found)
        if isinstance(reason := choice.get("finish_reason"), dict | bool | int):
            choice["finish_reason"] = json.dumps(reason) if reason else None
            found.oddities.add("odd_type")
    return found


def text_of(raw: Any) -> str:
    """The text in a part of a message, or in a list of parts; one of another kind (a reference, say) has none."""
    if isinstance(raw, dict):
        return text_of(raw.get("text"))
    if isinstance(raw, list):
        return "".join(map(text_of, raw))
    return raw if isinstance(raw, str) else ""


def has_words(raw: Any) -> bool:
    """Whether a value of unknown meaning holds text, names and references aside."""
    if isinstance(raw, dict):
        return any(has_words(value) for name, value in raw.items() if not _is_aside(name))
    if isinstance(raw, list):
        return any(map(has_words, raw))
    return isinstance(raw, str) and bool(raw)


def _delta(raw: dict[str, Any], found: Found) -> dict[str, Any]:
    """The delta with the names that are read: content, reasoning, refusal, tool_calls, function_call."""
    for wrapper in _WRAPPERS:
        if isinstance(inner := raw.get(wrapper), dict):
            raw = {**{name: value for name, value in inner.items() if name in THOUGHTS}, **raw}
            raw[wrapper] = {name: value for name, value in inner.items() if name not in THOUGHTS}
    content = raw.get("content")
    thoughts = [_thought(raw.get(name), found) for name in THOUGHTS]
    if isinstance(content, list) and all(isinstance(part, dict | str) for part in content):
        thoughts += [_thought(part["thinking"], found) for part in content if isinstance(part, dict) and "thinking" in part]
        content = text_of(content)
    refusal, audio = raw.get("refusal"), raw.get("audio")
    if isinstance(audio, dict) and isinstance(transcript := audio.get("transcript"), str):
        content = f"{content or ''}{transcript}"
    known = {"content", "refusal", "tool_calls", "function_call", "audio", *THOUGHTS}
    found.unread |= {name for name, value in raw.items() if name not in known and not _is_aside(name) and has_words(value)}
    return {
        "content": content,
        "reasoning": "".join(dict.fromkeys(thoughts)) or None,  # gateways mirror one text under several names
        "refusal": refusal if isinstance(refusal, str) else text_of(refusal) or None,
        "tool_calls": [_call(call, found) for call in _listed(raw.get("tool_calls"))] or None,
        "function_call": None if raw.get("function_call") is None else _function(raw["function_call"], found),
    }


def _thought(raw: Any, found: Found) -> str:
    """The text of reasoning in any of its forms; what is encrypted has none, and what is summed up has only its summary."""
    if isinstance(raw, list):
        return "".join(_thought(part, found) for part in raw)
    if not isinstance(raw, dict):
        return raw if isinstance(raw, str) else ""
    if raw.get("summary"):
        found.oddities.add("reasoning_summary")
    parts = (raw.get(name) for name in ("text", "content", "thinking", "reasoning", "reasoning_content", "summary"))
    return "".join(dict.fromkeys(_thought(part, found) for part in parts))


def _call(raw: Any, found: Found) -> dict[str, Any]:
    """A tool call as text under `function`, wherever it stands: there, under `custom`, or in the call itself."""
    if not isinstance(raw, dict):
        return {"function": _function(raw, found)}
    place = {name: raw[name] for name in ("index", "id") if name in raw}
    for name in ("function", "custom"):
        if raw.get(name) is not None:
            return {**place, "function": _function(raw[name], found)}
    spoken = {name: raw[name] for name in ("name", "arguments", "input") if name in raw}
    return {**place, "function": _function(spoken, found)}


def _function(raw: Any, found: Found) -> dict[str, Any]:
    if not isinstance(raw, dict):
        return {"arguments": _as_text(raw, found)}
    spoken = [raw[name] for name in ("arguments", "input") if raw.get(name) is not None]
    return {"name": _as_text(raw.get("name"), found), "arguments": "".join(_as_text(one, found) or "" for one in spoken)}


def _as_text(raw: Any, found: Found) -> str | None:
    """Text as it stands, any other value as its JSON; an empty one is how some say that there are no arguments yet."""
    if raw is None or isinstance(raw, str):
        return raw
    found.oddities.add("odd_type")
    return json.dumps(raw, ensure_ascii=False) if raw or raw == 0 else None


def _counts(fields: dict[str, Any], most: int, found: Found) -> None:
    for name in _COUNTS & fields.keys():
        value = fields[name]
        if isinstance(value, str) and value.strip().isdecimal():
            found.oddities.add("odd_type")
            fields[name] = value = int(value) if len(value) < 20 else -1
        if type(value) in (int, float):
            plausible = 0 <= value <= most and value == int(value)
            fields[name] = int(value) if plausible else None
            if not plausible:
                found.oddities.add("implausible_count")


def _listed(raw: Any) -> Iterable[Any]:
    return raw if isinstance(raw, list) else () if raw is None else (raw,)


def _is_aside(name: str) -> bool:
    """Whether a field of this name is about the text, not text."""
    return name in _ASIDE or name.endswith(_ASIDE_ENDS)


def _objects(raw: Any, *path: str) -> list[dict[str, Any]]:
    """The objects at a path of names, those in lists included."""
    found = [raw]
    for name in path:
        inner = [one.get(name) for one in found if isinstance(one, dict)]
        found = [one for value in inner for one in (value if isinstance(value, list) else [value])]
    return [one for one in found if isinstance(one, dict)]


__all__ = ["THOUGHTS", "Found", "has_words", "put_right", "text_of"]
