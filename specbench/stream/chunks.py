"""One event's JSON as every route of every engine writes it, read into typed values. Knows no time and no other event."""

import json
from typing import Annotated, Any

import msgspec

MOST_TOKENS = 10_000_000
"""The largest count of tokens that one request is believed: the longest context that any model claims."""

_COUNTS = {
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cache_n",
    "predicted_n",
    "tokens_predicted",
    "tokens_evaluated",
}
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]


class Function(msgspec.Struct):
    """The part of a tool call that carries generated text."""

    name: str | None = None
    arguments: str | None = None


class ToolCall(msgspec.Struct):
    """A fragment of a tool call; fragments of one call share an index."""

    function: Function | None = None


class Delta(msgspec.Struct):
    """What a chat event adds to the message."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None


class Logprobs(msgspec.Struct):
    """Log probabilities: one entry per token of the event, under `content` (chat) or `tokens` (completions)."""

    content: list[Any] | None = None
    tokens: list[Any] | None = None


class Choice(msgspec.Struct):
    """One choice: `delta` on the chat route, `text` on the completions route.

    Token ids are `token_ids` (vLLM, SGLang's completions) or `output_ids` (LMDeploy).
    """

    index: int | None = 0
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    token_ids: list[int] | None = None
    output_ids: list[int] | None = None
    logprobs: Logprobs | None = None


class PromptDetails(msgspec.Struct):
    """Where the prompt's tokens came from."""

    cached_tokens: Count | None = None


class Usage(msgspec.Struct):
    """Token counts so far."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: PromptDetails | None = None


class Timings(msgspec.Struct):
    """llama.cpp's own account (tools/server, `result_timings`): tokens generated so far, prompt tokens found in its cache.

    `predicted_ms` is when the event's token was sampled, since generation began: one moment for a whole verified batch.
    """

    cache_n: Count | None = None
    predicted_n: Count | None = None
    predicted_ms: float | None = None


class Chunk(msgspec.Struct):
    """One event of any route: OpenAI's chat and completions, or llama.cpp's native one (`content`, `tokens`, `stop`).

    Where an engine tells what it drafted for the request is for its file in `telemetry/` to know; it is in one of `timings`,
    `metrics`, `sglext` and `meta_info`.
    """

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    object: str | None = None
    timings: Timings | None = None
    metrics: Any = None
    sglext: Any = None
    meta_info: Any = None
    content: str | None = None
    tokens: list[int] | None = None
    tokens_predicted: Count | None = None
    tokens_evaluated: Count | None = None
    stop: bool | None = None
    stop_type: str | None = None


class LenientChunk(Chunk):
    """An event with a count that no answer can have; it stands as not told."""


_read = msgspec.json.Decoder(Chunk).decode


def read_chunk(data: bytes) -> Chunk:
    """The event as a `Chunk`, harmless oddities put right; `Doubtful` where a count was negative, broken or above MOST_TOKENS.

    Raises: msgspec.ValidationError where it is JSON of another shape, msgspec.DecodeError where it is no JSON.
    """
    try:
        return _read(data)
    except msgspec.ValidationError:  # rare, so that only oddities pay for being looked at
        return _put_right(msgspec.json.decode(data))
    except msgspec.DecodeError as problem:
        if "truncated" in str(problem) and _is_whole(data):
            raise msgspec.DecodeError("an escape is half of a surrogate pair") from problem
        raise


def _put_right(told: Any) -> Chunk:
    """The chunk in JSON where an event may be null, a count a whole float or implausible, and content a list of parts."""
    if told is None:
        return Chunk()
    for delta in _objects(told, "choices", "delta"):
        parts = delta.get("content")
        if isinstance(parts, list) and all(isinstance(part, dict | str) for part in parts):
            thoughts = "".join(_text_of(part.get("thinking")) for part in parts if isinstance(part, dict))
            delta["content"], delta["reasoning"] = _text_of(parts), delta.get("reasoning") or thoughts
    doubtful = False
    for path in ((), ("usage",), ("usage", "prompt_tokens_details"), ("timings",)):
        for fields in _objects(told, *path):
            for name in _COUNTS & fields.keys():
                if type(value := fields[name]) in (int, float):
                    plausible = 0 <= value <= MOST_TOKENS and value == int(value)
                    fields[name] = int(value) if plausible else None
                    doubtful = doubtful or not plausible
    return msgspec.convert(told, LenientChunk if doubtful else Chunk)


def _objects(told: Any, *path: str) -> list[dict[str, Any]]:
    """The objects at a path of names, those in lists included."""
    found = [told]
    for name in path:
        inner = [one.get(name) for one in found if isinstance(one, dict)]
        found = [one for value in inner for one in (value if isinstance(value, list) else [value])]
    return [one for one in found if isinstance(one, dict)]


def _text_of(told: Any) -> str:
    """The text in a part of a message, or in a list of parts; one of another kind (a reference, say) has none."""
    if isinstance(told, dict):
        return _text_of(told.get("text"))
    if isinstance(told, list):
        return "".join(map(_text_of, told))
    return told if isinstance(told, str) else ""


def _is_whole(data: bytes) -> bool:
    """Whether a reader that lets half a surrogate pair pass finds a whole JSON text."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
