"""What an event stream said: its content events, counts and end. Knows no time: an event has an offset in the body.

A content event shows generated tokens: text of the answer, of reasoning or of a tool call, token ids, or a rise of running
usage. An event that only names a role, ends the answer or brings the final usage is none.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from specbench.stream.chunks import Choice, Chunk, LenientChunk, read_chunk
from specbench.stream.sse import Event, events_of

DONE = b"[DONE]"
OPEN_NAMES = (b"", b"message", b"error")
"""Event names that can carry an answer; others (SGLang's `sglext_ids`, say) are extensions."""


class EventCounts(NamedTuple):
    """What one content event tells beside its text: token ids in it, running usage, the engine's own count, its clock."""

    ids: int | None
    usage: int | None
    own_count: int | None
    sampled_ms: float | None


@dataclass(slots=True)
class ParsedStream:
    """A stream as it was told; parallel lists hold one entry per content event.

    `ends`: offset just past the event. `ids`, `usage`, `counts`: token ids in it, running usage after it, tokens by the
    engine's own count after it, each None where not told. `sampled_ms`: when its token was sampled by the engine's own clock,
    None where not told. `answering`: whether it belongs to the answer, not to reasoning. `account`: the last event in which the
    engine may tell what it drafted.
    """

    ends: list[int] = field(default_factory=list)
    ids: list[int | None] = field(default_factory=list)
    usage: list[int | None] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=list)
    sampled_ms: list[float | None] = field(default_factory=list)
    answering: list[bool] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    done: bool = False
    finish_reason: str | None = None
    error: Any = None
    broken: str | None = None
    cut_short: bool = False
    prompt_tokens: int | None = None
    usage_total: int | None = None
    engine_total: int | None = None
    cached_tokens: int | None = None
    account: bytes | None = None
    running_usage: int | None = None
    own_count: int | None = None

    @property
    def text(self) -> str:
        """Everything that was generated, in order: reasoning, answer and tool calls."""
        return "".join(self.pieces)

    @property
    def output_tokens(self) -> int | None:
        """Tokens of the whole answer as counted by the server: usage, else the engine's own count, None where neither is told."""
        return self.usage_total if self.usage_total is not None else self.engine_total

    @property
    def ended(self) -> bool:
        """Whether the stream said that it is whole."""
        return self.done or self.finish_reason is not None


def parse_stream(body: bytes) -> ParsedStream:
    """What the whole body of an event stream said, however broken it is."""
    answer = ParsedStream()
    for event in events_of(body):
        if not event.terminated:
            answer.flags.add("unterminated")
        if len(event.data) < 20 and event.data.strip() == DONE:
            answer.done = True
        elif event.name in OPEN_NAMES:
            _take(answer, event)
    return answer


def _take(answer: ParsedStream, event: Event) -> None:
    try:
        chunk = read_chunk(event.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:  # the last of brackets, thousands deep
        if event.name == b"error":
            answer.error = _plain(event.data)
        elif answer.broken is None:
            answer.broken, answer.cut_short = str(problem), not event.terminated
        return
    if chunk.error or chunk.object == "error" or event.name == b"error":
        answer.error = chunk.error or _plain(event.data)
        return
    _account(answer, chunk, event.data)
    if chunk.choices:
        for choice in chunk.choices:
            _add_choice(answer, event.end, choice, chunk)
    elif chunk.content is not None:
        _speak_natively(answer, event.end, chunk)


def _account(answer: ParsedStream, chunk: Chunk, data: bytes) -> None:
    """Counts that an event brings along, the last of each kind wins."""
    if isinstance(chunk, LenientChunk):
        answer.flags.add("implausible_count")
    if (usage := chunk.usage) is not None:
        answer.prompt_tokens = usage.prompt_tokens if usage.prompt_tokens is not None else answer.prompt_tokens
        answer.usage_total = usage.completion_tokens or answer.usage_total  # 0 with text is as good as missing
        if usage.prompt_tokens_details is not None:
            answer.cached_tokens = usage.prompt_tokens_details.cached_tokens
    if chunk.timings is not None:
        answer.cached_tokens = chunk.timings.cache_n if answer.cached_tokens is None else answer.cached_tokens
        answer.engine_total = chunk.timings.predicted_n
    if chunk.timings is not None or chunk.metrics is not None or chunk.sglext is not None or chunk.meta_info is not None:
        answer.account = data


def _add_choice(answer: ParsedStream, end: int, choice: Choice, chunk: Chunk) -> None:
    """One choice of an OpenAI-style event."""
    text, answering = choice.text or "", True
    delta = choice.delta
    if delta is not None:
        thought = (delta.reasoning or "") + (delta.reasoning_content or "")
        said = (delta.content or "") + (delta.refusal or "")
        called = "".join((call.name or "") + (call.arguments or "") for call in _calls(choice))
        text, answering = thought + said + called, bool(said or called) or not thought
    ids = len(choice.token_ids or choice.output_ids or ()) or None
    usage = chunk.usage.completion_tokens if chunk.usage is not None else None
    # Usage that comes with the finish for the first time is the final one: it says nothing of this event.
    rises = usage is not None and usage > (answer.running_usage or 0)
    finish_reason = choice.finish_reason or None  # SGLang 0.4 and Ollama send "" until there is one
    rises = rises and (finish_reason is None or answer.running_usage is not None)
    if finish_reason is not None:
        answer.finish_reason = finish_reason
    if usage is not None:
        if usage < (answer.running_usage or 0):
            answer.flags.add("usage_fell")
        answer.running_usage = max(usage, answer.running_usage or 0)
    if choice.index:
        answer.flags.add("several_choices")
    if text or ids or rises:
        count = None
        if chunk.timings is not None and chunk.timings.predicted_n is not None:
            count = chunk.timings.predicted_n
        elif choice.logprobs is not None:
            count = answer.own_count = (answer.own_count or 0) + len(choice.logprobs.content or choice.logprobs.tokens or ())
        _add(answer, end, text, answering, EventCounts(ids, usage, count, _sampled_ms(chunk)))


def _calls(choice: Choice) -> list[Any]:
    assert choice.delta is not None
    calls = [call.function for call in choice.delta.tool_calls or () if call.function is not None]
    return [*calls, choice.delta.function_call] if choice.delta.function_call is not None else calls


def _speak_natively(answer: ParsedStream, end: int, chunk: Chunk) -> None:
    """An event of llama.cpp's `/completion`: one token each; the last one only counts (tools/server/README)."""
    ids = len(chunk.tokens) if chunk.tokens else None
    if chunk.stop:
        answer.finish_reason = chunk.stop_type or "stop"
        answer.engine_total, answer.prompt_tokens = chunk.tokens_predicted, chunk.tokens_evaluated
    if chunk.content or ids:
        _add(answer, end, chunk.content or "", True, EventCounts(ids, None, chunk.tokens_predicted, _sampled_ms(chunk)))


def _sampled_ms(chunk: Chunk) -> float | None:
    return chunk.timings.predicted_ms if chunk.timings is not None else None


def _add(answer: ParsedStream, end: int, text: str, answering: bool, told: EventCounts) -> None:
    answer.ends.append(end)
    answer.pieces.append(text)
    answer.answering.append(answering)
    answer.ids.append(told.ids)
    answer.usage.append(told.usage)
    answer.counts.append(told.own_count)
    answer.sampled_ms.append(told.sampled_ms)


def _plain(data: bytes) -> Any:
    """An error as it was told: JSON of whatever shape, or else text; never nothing."""
    try:
        return msgspec.json.decode(data) or "an error without a word"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return data.decode("utf-8", "replace")
