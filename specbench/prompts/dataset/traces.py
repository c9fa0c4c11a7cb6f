"""Rows of logs and traces: gateways' and engines' records with their times, and those that hold lengths alone.

Units are the source's own: milliseconds in AIPerf's and Mooncake's files, seconds in BurstGPT's and LiteLLM's, dates in Azure's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from specbench.model.data.datasets import DatasetReading, TurnChoice
from specbench.prompts.dataset.conversations import requests_in
from specbench.prompts.dataset.row import Found, FoundSeveral, Row, field_at, whole_number

INPUT_TOKENS = ("prompt_tokens", "input_tokens")
ANSWER_TOKENS = ("completion_tokens", "output_tokens", "output_length")
SINGLE_TURN = ("session_id", "timestamp", "delay", "output_length", "image", "images", "audio", "video")
# The keys that tell a shape, those of one set joined by +.
MOONCAKE = ("input_length", "text_input", "payload+session_id", "payload+timestamp", "messages+output_length")
SPANS = ("resourceSpans", "attributes", "gen_ai.operation.name", "gen_ai.request.model")
LITELLM = ("call_type+startTime", "call_type+model_parameters", "standard_logging_object")
REDACTED = "redacted-by-litellm"
_CHATS = ("chat", "text_completion", "generate_content")
_CALLS = ("completion", "text_completion", "responses")
FAILED = "a request that failed"
_MOST = 1e24  # times in nanoseconds are numbers too, to be refused as times of another unit
_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)


def ms_of(value: Any) -> float | None:
    """Seconds of a time in milliseconds, or of a date."""
    number = _number(value)
    return seconds_of(value) if number is None else number / 1e3


def seconds_of(value: Any) -> float | None:
    """Seconds of a number of seconds, or of a date since 1970, in UTC where it names no zone; None where it is neither."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    number = _number(value)
    if number is not None or not isinstance(value, str):
        return number
    date, point, rest = value.strip().partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    zone = rest[len(digits) :]
    try:  # Azure writes seven digits behind the point, which are no date to Python
        moment = datetime.fromisoformat(f"{date}{zone if point else ''}".replace("Z", "+00:00"))
    except ValueError:
        return None
    whole = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _OLDEST
    return whole.total_seconds() + (float(f"0.{digits}") if digits else 0.0)


def usage_of(value: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Prompt and output tokens as a row recorded them, at its top or under `usage`, its own or its answer's."""
    answer = value.get("response")
    places = [value.get("usage"), value]
    if isinstance(answer, dict):
        places += [answer.get("usage"), field_at(answer, "body.usage")]
    for place in places:
        if isinstance(place, dict):
            before, after = _first_count(place, INPUT_TOKENS), _first_count(place, ANSWER_TOKENS)
            if before is not None or after is not None:
                return before, after
    return None, None


def _first_count(value: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        if key in value and (count := whole_number(value[key])) is not None:
            return count
    return None


def of_lengths(before: Any, after: Any, blocks: Any = None) -> Found:
    """A request of which the lengths are known and the text is not."""
    tokens = whole_number(before)
    if not tokens:
        return "empty prompt" if tokens == 0 else "a length that is no whole number"
    ids = tuple(one for one in blocks if isinstance(one, int)) if isinstance(blocks, list) else ()
    return [Row("", input_tokens=tokens, output_tokens=whole_number(after), made_up=True, blocks=ids)]


def timed(found: Found, moment: Any, session: Any = None) -> Found:
    """The requests with their time."""
    at_s = seconds_of(moment)
    if isinstance(found, str) or (at_s is None and session is None):
        return found
    return [row._replace(at_s=at_s, session=row.session if session is None else str(session)) for row in found]


def burstgpt(value: Mapping[str, Any], reading: DatasetReading) -> Found:
    """A row of BurstGPT."""
    if whole_number(value["Response tokens"]) == 0:
        return FAILED
    found = of_lengths(value["Request tokens"], value["Response tokens"])
    return timed(found, value.get("Timestamp"), value.get("Session ID") or None)


def azure(value: Mapping[str, Any], reading: DatasetReading) -> Found:
    """A row of the traces of 2023 and 2024."""
    return timed(of_lengths(value["ContextTokens"], value["GeneratedTokens"]), value.get("TIMESTAMP"))


def litellm(value: Mapping[str, Any], of_body: Callable[[Any], Found]) -> Found:
    """A logged request; where its text was taken out, its lengths."""
    inner = value.get("standard_logging_object")
    value = inner if isinstance(inner, dict) else value
    kind = str(value.get("call_type") or "completion").removeprefix("a")
    if kind not in _CALLS:
        return f"a call of type {kind[:40]}"
    if value.get("status") == "failure":
        return FAILED
    settings = value.get("model_parameters")
    messages = value.get("messages")
    body = {**(settings if isinstance(settings, dict) else {}), "messages": messages}
    found: Found
    if isinstance(messages, str) and messages.strip() and REDACTED not in messages:
        found = [Row(messages)]
    elif isinstance(messages, list) and messages and REDACTED not in json.dumps(messages[:1], default=str):
        found = of_body(body)
    else:
        found = of_lengths(value.get("prompt_tokens"), value.get("completion_tokens"))
    if not isinstance(found, str) and len(found) == 1:
        before, after = usage_of(value)
        found = [found[0]._replace(input_tokens=before or None, output_tokens=after)]
    return timed(found, value.get("startTime"), value.get("trace_id"))


def is_span(value: Mapping[str, Any]) -> bool:
    """Whether the mapping is a span, or an export of many, that tells of a model's use."""
    if "resourceSpans" in value or any(key.startswith("gen_ai.") for key in value):
        return True
    held = _attributes(value)
    return any(key.startswith("gen_ai.") for key in held)


def spans(value: Mapping[str, Any], turns: TurnChoice | None) -> FoundSeveral:
    """The requests of a span, or of all spans that one export holds."""
    if "resourceSpans" not in value:
        return _span(value, turns)
    scopes = [scope for resource in _mappings(value["resourceSpans"]) for scope in _mappings(resource.get("scopeSpans"))]
    listed = [one for scope in scopes for one in _mappings(scope.get("spans"))]
    return [row for one in listed for row in _each(_span(one, turns))] or "no span"


def _each(found: Found) -> Sequence[Row | str]:
    return [found] if isinstance(found, str) else found


def _span(value: Mapping[str, Any], turns: TurnChoice | None) -> Found:
    held = _attributes(value)
    kind = str(held.get("gen_ai.operation.name") or "chat")
    if kind not in _CHATS:
        return f"a span of operation {kind[:40]}"
    if held.get("error.type"):
        return FAILED
    messages = _decoded(held.get("gen_ai.input.messages"))
    before, after = whole_number(held.get("gen_ai.usage.input_tokens")), whole_number(held.get("gen_ai.usage.output_tokens"))
    if isinstance(messages, list) and messages:
        system = _decoded(held.get("gen_ai.system_instructions"))
        first = [{"role": "system", "parts": system}] if isinstance(system, list) else []
        found = requests_in([*first, *messages], turns)
        if not isinstance(found, str) and len(found) == 1:
            found = [found[0]._replace(input_tokens=before or None, output_tokens=after)]
    else:
        found = of_lengths(before, after)
    nanoseconds = _number(value.get("startTimeUnixNano"))
    moment = value.get("start_time") if nanoseconds is None else nanoseconds / 1e9
    return timed(found, moment, held.get("gen_ai.conversation.id"))


def _attributes(value: Mapping[str, Any]) -> dict[str, Any]:
    """A span's attributes, which stand in it as a mapping, as a list of keys and typed values, or flat."""
    held = value.get("attributes", value)
    if isinstance(held, dict):
        return dict(held)
    return {str(one.get("key")): _typed(one.get("value")) for one in _mappings(held)}


def _typed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("arrayValue"), dict):
        return [_typed(one) for one in _mappings(value["arrayValue"].get("values"))]
    return next(iter(value.values()), None)


def _mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < _MOST else None  # not infinite and no NaN
