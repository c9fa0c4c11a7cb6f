"""One event's JSON as every route of every engine writes it, read into typed values. Knows no time and no other event.

What is usual is decoded at once; an event with something unusual in it is put right by `oddities.py` first.
"""

import json
import re
from typing import Annotated, Any

import msgspec

from specbench.stream.oddities import put_right

MOST_TOKENS = 10_000_000
"""The largest count of tokens that one request is believed: the longest context that any model claims."""

Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]


class Function(msgspec.Struct):
    """The part of a tool call that carries generated text."""

    name: str | None = None
    arguments: str | None = None


class ToolCall(msgspec.Struct, forbid_unknown_fields=True):
    """A fragment of a tool call; fragments of one call share an index. A call of another shape makes the event an unusual one."""

    function: Function | None = None
    index: Any = None
    id: Any = None
    type: Any = None


class Delta(msgspec.Struct, forbid_unknown_fields=True):
    """What a chat event adds to the message. A field that is not here makes the event an unusual one, to be looked at.

    `role` and what follows it are no generated text.
    """

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    role: Any = None
    name: Any = None
    id: Any = None
    annotations: Any = None


class Logprobs(msgspec.Struct):
    """Log probabilities: one entry per token of the event, under `content` (chat) or `tokens` (completions)."""

    content: list[Any] | None = None
    tokens: list[Any] | None = None


class PromptDetails(msgspec.Struct):
    """Where the prompt's tokens came from."""

    cached_tokens: Count | None = None


class OutputDetails(msgspec.Struct):
    """What the output's tokens were. Rejected tokens of a prediction are counted and never streamed."""

    reasoning_tokens: Count | None = None
    accepted_prediction_tokens: Count | None = None
    rejected_prediction_tokens: Count | None = None


class Usage(msgspec.Struct):
    """Token counts so far; SGLang has the tokens of reasoning beside the others."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    total_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: OutputDetails | None = None


class Choice(msgspec.Struct):
    """One choice: `delta` on the chat route, `text` on the completions route; `message` is the whole answer, or the text so far.

    Token ids are `token_ids` (vLLM, SGLang's completions) or `output_ids` (LMDeploy); `prompt_token_ids` are vLLM's on the
    completions route. `usage` is where Moonshot tells it.
    """

    index: int | None = 0
    delta: Delta | None = None
    text: str | None = None
    message: Any = None
    finish_reason: str | None = None
    token_ids: list[Any] | None = None
    output_ids: list[Any] | None = None
    prompt_token_ids: list[Any] | None = None
    logprobs: Logprobs | None = None
    usage: Usage | None = None


class Timings(msgspec.Struct):
    """llama.cpp's own account (tools/server, `result_timings`): tokens generated so far, prompt tokens found in its cache.

    `predicted_ms` is when the event's token was sampled, since generation began: one moment for a whole verified batch.
    """

    cache_n: Count | None = None
    predicted_n: Count | None = None
    predicted_ms: float | None = None


class GroqFields(msgspec.Struct):
    """What Groq adds of its own: the usage, in the last event (documented)."""

    usage: Usage | None = None


class Chunk(msgspec.Struct):
    """One event of any route: OpenAI's chat and completions, or llama.cpp's native one (`content`, `tokens`, `stop`).

    `prompt_token_ids` are vLLM's on the chat route. Where an engine tells what it drafted for the request is for its file in
    `telemetry/` to know; it is in one of `timings`, `metrics`, `sglext` and `meta_info`.
    """

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    object: str | None = None
    timings: Timings | None = None
    metrics: Any = None
    sglext: Any = None
    meta_info: Any = None
    x_groq: GroqFields | None = None
    prompt_token_ids: list[Any] | None = None
    content: str | None = None
    tokens: list[Any] | None = None
    tokens_predicted: Count | None = None
    tokens_evaluated: Count | None = None
    stop: bool | None = None
    stop_type: str | None = None


class LenientChunk(Chunk):
    """An event that was put right. `oddities`: what was odd in it, in the words of a record's flags; `unread`: the names of
    fields with text that is not known to be generated."""

    oddities: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


_NEEDED = frozenset({"choices", "delta", "content", "text"})
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_MOST_ODD = 20  # fields of one event that are let pass

_read = msgspec.json.Decoder(Chunk).decode


def read_chunk(data: bytes) -> Chunk:
    """The event as a `Chunk`, or as a `LenientChunk` where something harmless in it had to be put right.

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


def _put_right(raw: Any) -> Chunk:
    """The chunk in JSON where an event may be null, text stand under another name, a field that matters little be of any type."""
    if raw is None:
        return Chunk()
    if not isinstance(raw, dict):
        return msgspec.convert(raw, Chunk)
    found = put_right(raw, MOST_TOKENS)
    raw |= {"oddities": (), "unread": ()}
    for _ in range(_MOST_ODD):
        try:
            chunk = msgspec.convert(raw, LenientChunk)
            break
        except msgspec.ValidationError as problem:
            if not _dropped(raw, str(problem)):
                raise
            found.oddities.add("odd_type")
    else:
        chunk = msgspec.convert(raw, LenientChunk)
    chunk.oddities, chunk.unread = tuple(sorted(found.oddities)), tuple(sorted(found.unread))
    return chunk


def _dropped(raw: Any, problem: str) -> bool:
    """Whether the field that a problem names could be set to None, as nothing rests on it; text and its place never are."""
    steps: list[str | int] = [name or int(place) for name, place in _STEP.findall(problem.rpartition("`$")[2])]
    names = [step for step in steps if isinstance(step, str)]
    if not names or names[-1] in _NEEDED:
        return False
    last = len(steps) - 1 - steps[::-1].index(names[-1])
    for step in steps[:last]:
        raw = raw[step]
    raw[names[-1]] = None
    return True


def _is_whole(data: bytes) -> bool:
    """Whether a reader that lets half a surrogate pair pass finds a whole JSON text."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
