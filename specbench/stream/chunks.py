"""One event's JSON as every route of every engine writes it, read into typed values. Knows no time and no other event."""

from typing import Any

import msgspec


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

    index: int = 0
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    token_ids: list[int] | None = None
    output_ids: list[int] | None = None
    logprobs: Logprobs | None = None


class PromptDetails(msgspec.Struct):
    """Where the prompt's tokens came from."""

    cached_tokens: int | None = None


class Usage(msgspec.Struct):
    """Token counts so far."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None


class Timings(msgspec.Struct):
    """llama.cpp's own account (tools/server, `result_timings`): tokens generated so far, prompt tokens found in its cache.

    `predicted_ms` is when the event's token was sampled, since generation began: one moment for a whole verified batch.
    """

    cache_n: int | None = None
    predicted_n: int | None = None
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
    tokens_predicted: int | None = None
    tokens_evaluated: int | None = None
    stop: bool | None = None
    stop_type: str | None = None


read_chunk = msgspec.json.Decoder(Chunk).decode
"""The event as a `Chunk`.  Raises: msgspec.ValidationError where it is JSON of another shape, msgspec.DecodeError where
it is no JSON."""
