"""What an event stream said: its content events, counts and end. Knows no time: an event has an offset in the body.

A content event shows generated tokens: text of the answer, of reasoning or of a tool call, token ids, or a rise of running
usage. An event that only names a role, ends the answer or brings the final usage is none.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from specbench.stream.answers.streamed_calls import ToolCallParts
from specbench.stream.chunks import Choice, Chunk, LenientChunk, Usage, read_chunk
from specbench.stream.oddities import has_words
from specbench.stream.sse import Event, one_by_one
from specbench.stream.usage import Reading, Streamed, reading_of, reasoning_in

DONE = b"[DONE]"
ODD_DONE = re.compile(rb"([\"']?)(?:DONE|\[DONE\])\1")
"""An end mark of another spelling; it is one behind a finish reason alone."""

EVENTS_AT_ONCE = 32
"""Between two breaks, where they are asked for: a fifth of a millisecond."""

INLINE_THOUGHT = "</think>"
MOST_UNREAD = 2
"""Events whose only text is under an unknown name: a single one may be a gateway's greeting, more are a part of the answer."""

OPEN_NAMES = (b"", b"message", b"error")
"""Event names that can carry an answer; others (SGLang's `sglext_ids`, say) are extensions."""


class EventCounts(NamedTuple):
    """What one content event tells beside its text: token ids in it, running usage, the reasoning in that, the engine's own
    count, its clock."""

    ids: int | None
    usage: int | None
    own_count: int | None
    sampled_ms: float | None
    reasoning: int | None = None


@dataclass(slots=True)
class ParsedStream:
    """A stream as it was told; parallel lists hold one entry per content event.

    `ends`: offset just past the event. `ids`, `usage`, `counts`: token ids in it, running usage after it, tokens by the
    engine's own count after it, each None where not told. `sampled_ms`: when its token was sampled by the engine's own clock,
    None where not told. `reasoning`: tokens of reasoning in that usage. `answering`: whether it belongs to the answer, not to
    reasoning. `account`: the last event in which the engine may tell what it drafted. `choices`: how many choices came at once,
    or by different indices. `unread`: names of fields whose text is not known to be generated; `unread_events`: how many events
    had such text and no other. `by_logprobs`: whether `counts` are of log probabilities.
    `read`: its counts as they were read once it was whole. `contents`: text that is neither reasoning nor a tool call.
    `token_ids`: of all events, as far as they tell; `prompt_ids`: those of the prompt, None where not told.
    """

    ends: list[int] = field(default_factory=list)
    ids: list[int | None] = field(default_factory=list)
    usage: list[int | None] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=list)
    sampled_ms: list[float | None] = field(default_factory=list)
    reasoning: list[int | None] = field(default_factory=list)
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
    running_shown: int = 0
    own_count: int | None = None
    by_logprobs: bool = False
    last_usage: Usage | None = None
    usage_in_choice: bool = False
    indices: set[int] = field(default_factory=set)
    choices: int = 0
    unread: set[str] = field(default_factory=set)
    unread_events: int = 0
    read: Reading | None = None
    contents: list[str] = field(default_factory=list)
    calls: ToolCallParts = field(default_factory=ToolCallParts)
    token_ids: list[Any] = field(default_factory=list)
    prompt_ids: list[Any] | None = None

    @property
    def text(self) -> str:
        """Everything that was generated, in order: reasoning, answer and tool calls."""
        return "".join(self.pieces)

    @property
    def output_tokens(self) -> int | None:
        """Streamed tokens of the whole answer by the server's count: usage, else the engine's own, None where neither tells."""
        return self.reading.streamed

    @property
    def reading(self) -> Reading:
        """What the server's counts say of the tokens that were streamed; they say nothing where text went by unread."""
        if self.read is None:
            self.read = self._read_counts()
        return self.read

    def _read_counts(self) -> Reading:
        if self.usage_total is None:
            return Reading(self.engine_total)
        if self.last_usage is None:
            return Reading(self.usage_total)
        counted_by_event = None not in self.usage or None not in self.ids
        if self.unread_events >= MOST_UNREAD and not (self.ends and counted_by_event):
            return Reading(doubt=f"{self.unread_events} events have text under a name that is not read ({self.unread_names})")
        ids = None if not self.ids or None in self.ids else sum(told or 0 for told in self.ids)
        shown = Streamed(
            events=len(self.ends),
            text=self.text,
            reasoning=False in self.answering or (bool(reasoning_in(self.last_usage)) and INLINE_THOUGHT in self.text),
            summed_up="reasoning_summary" in self.flags,
            ids=ids,
        )
        return reading_of(self.last_usage, self.usage_total, shown)

    @property
    def unread_names(self) -> str:
        """The names of the fields whose text is not read, in a row."""
        return ", ".join(sorted(self.unread))

    @property
    def ended(self) -> bool:
        """Whether the stream said that it is whole."""
        return self.done or self.finish_reason is not None


def parse_stream(body: bytes, between: Callable[[], None] | None = None) -> ParsedStream:
    """What the whole body of an event stream said up to its end mark, however broken it is.

    Args:
        between: Called again and again meanwhile, by who must not be kept from other work for long.
    """
    answer = ParsedStream()
    for place, event in enumerate(one_by_one(body), 1):
        if between is not None and place % EVENTS_AT_ONCE == 0:
            between()
        if not event.terminated:
            answer.flags.add("unterminated")
        if len(event.data) < 20 and _is_end(answer, event.data.strip()):
            answer.done = True
            if body[event.end :].strip():
                answer.flags.add("data_after_done")
            break
        if event.name in OPEN_NAMES:
            _take(answer, event)
    return answer


def _is_end(answer: ParsedStream, mark: bytes) -> bool:
    """Whether this is the end mark, or one that is meant as it and noted."""
    if mark == DONE:
        return True
    if answer.finish_reason is None or not ODD_DONE.fullmatch(mark):
        return False
    answer.flags.add("odd_end")
    return True


def _take(answer: ParsedStream, event: Event) -> None:
    try:
        chunk = read_chunk(event.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:  # the last of brackets, thousands deep
        if event.name == b"error":
            answer.error = _plain(event.data)
        elif answer.finish_reason is not None and (event.terminated or not event.data.lstrip().startswith(b"{")):
            answer.flags.add("odd_end")  # an end mark of some other kind: the answer is whole without it
        elif answer.broken is None:
            answer.broken, answer.cut_short = str(problem), not event.terminated
        return
    if chunk.error or chunk.object == "error" or event.name == b"error":
        answer.error = chunk.error or _plain(event.data)
        return
    _account(answer, chunk, event.data)
    answer.prompt_ids = chunk.prompt_token_ids or answer.prompt_ids
    if chunk.choices:
        if len(chunk.choices) > answer.choices:
            _note_choices(answer, len(chunk.choices))
        for choice in chunk.choices:
            _add_choice(answer, event.end, choice, chunk)
    elif chunk.content is not None:
        _speak_natively(answer, event.end, chunk)


def _account(answer: ParsedStream, chunk: Chunk, data: bytes) -> None:
    """Counts that an event brings along, the last of each kind wins; usage of the whole event before usage in a choice."""
    if isinstance(chunk, LenientChunk):
        answer.flags.update(chunk.oddities)
    if (usage := _usage_of(answer, chunk)) is not None:
        answer.prompt_tokens = usage.prompt_tokens if usage.prompt_tokens is not None else answer.prompt_tokens
        if usage.completion_tokens:  # 0 with text is as good as missing
            answer.usage_total, answer.last_usage = usage.completion_tokens, usage
        if usage.prompt_tokens_details is not None:
            answer.cached_tokens = usage.prompt_tokens_details.cached_tokens
    if chunk.timings is not None:
        answer.cached_tokens = chunk.timings.cache_n if answer.cached_tokens is None else answer.cached_tokens
        answer.engine_total = chunk.timings.predicted_n
    if chunk.timings is not None or chunk.metrics is not None or chunk.sglext is not None or chunk.meta_info is not None:
        answer.account = data


def _usage_of(answer: ParsedStream, chunk: Chunk) -> Usage | None:
    """The usage in an event; that in a choice only where no event has told one of its own."""
    if chunk.usage is not None:
        answer.usage_in_choice = False
        return chunk.usage
    inner = None if chunk.x_groq is None else chunk.x_groq.usage
    for choice in chunk.choices or ():
        inner = choice.usage or inner
    if inner is None or (answer.last_usage is not None and not answer.usage_in_choice):
        return None
    answer.usage_in_choice = True
    return inner


def _add_choice(answer: ParsedStream, end: int, choice: Choice, chunk: Chunk) -> None:
    """One choice of an OpenAI-style event."""
    text, answering = choice.text or "", True
    delta = choice.delta
    if delta is not None:
        thought = delta.reasoning or ""
        if delta.reasoning_content and delta.reasoning_content != thought:  # gateways mirror one under the other's name
            thought += delta.reasoning_content
        said = (delta.content or "") + (delta.refusal or "")
        called = "" if delta.tool_calls is None and delta.function_call is None else answer.calls.take(delta)
        answer.contents.append(said)
        text, answering = thought + said + called, bool(said or called) or not thought
    elif text:
        answer.contents.append(text)
    told_ids = choice.token_ids or choice.output_ids or ()
    answer.token_ids += told_ids
    answer.prompt_ids = choice.prompt_token_ids or answer.prompt_ids
    ids = len(told_ids) or None
    usage = chunk.usage or choice.usage
    finish_reason = choice.finish_reason or None  # SGLang 0.4 and Ollama send "" until there is one
    rises = usage is not None and _rises(answer, usage, finish_reason is not None)
    if finish_reason is not None:
        answer.finish_reason = finish_reason
    if (index := choice.index or 0) not in answer.indices:  # servers that count from 1 have one choice, too
        answer.indices.add(index)
        _note_choices(answer, len(answer.indices))
    if text or ids or rises:
        count = None
        if chunk.timings is not None and chunk.timings.predicted_n is not None:
            count = chunk.timings.predicted_n
        elif choice.logprobs is not None:
            count = answer.own_count = (answer.own_count or 0) + len(choice.logprobs.content or choice.logprobs.tokens or ())
            answer.by_logprobs = True
        completion, reasoning = (None, None) if usage is None else (usage.completion_tokens, reasoning_in(usage))
        _add(answer, end, text, answering, EventCounts(ids, completion, count, _sampled_ms(chunk), reasoning))
    if isinstance(chunk, LenientChunk) or (delta is None and choice.text is None):
        _look_for_unread(answer, choice, chunk, read=bool(text or ids or rises))


def _rises(answer: ParsedStream, usage: Usage, finishing: bool) -> bool:
    """Whether the running usage says that an event brought tokens, hidden reasoning apart.

    Usage that comes with the finish for the first time is the final one: it says nothing of this event.
    """
    told = usage.completion_tokens
    if told is None:
        return False
    first = answer.running_usage is None
    shown = told - (reasoning_in(usage) or 0)
    rises = told > (answer.running_usage or 0) and shown > answer.running_shown and not (finishing and first)
    if told < (answer.running_usage or 0):
        answer.flags.add("usage_fell")
    answer.running_usage = max(told, answer.running_usage or 0)
    answer.running_shown = max(shown, answer.running_shown)
    return rises


def _note_choices(answer: ParsedStream, count: int) -> None:
    """Notes how many choices the answer has."""
    answer.choices = max(answer.choices, count)
    if answer.choices > 1:
        answer.flags.add("several_choices")


def _look_for_unread(answer: ParsedStream, choice: Choice, chunk: Chunk, *, read: bool) -> None:
    """Notes text under a name that is not read: it may have been generated, and a first token that was missed makes TTFT late."""
    names = set(chunk.unread) if isinstance(chunk, LenientChunk) else set()
    if choice.delta is None and choice.text is None and has_words(choice.message):
        names.add("message")
    if not names:
        return
    answer.flags.add("unread_text")
    answer.unread |= names
    if not read:
        answer.unread_events += 1
        if not answer.ends:
            answer.flags.add("first_token_doubtful")


def _speak_natively(answer: ParsedStream, end: int, chunk: Chunk) -> None:
    """An event of llama.cpp's `/completion`: one token each; the last one only counts (tools/server/README)."""
    ids = len(chunk.tokens) if chunk.tokens else None
    if chunk.stop:
        answer.finish_reason = chunk.stop_type or "stop"
        answer.engine_total, answer.prompt_tokens = chunk.tokens_predicted, chunk.tokens_evaluated
    if chunk.content or ids:
        answer.contents.append(chunk.content or "")
        answer.token_ids += chunk.tokens or ()
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
    answer.reasoning.append(told.reasoning)


def _plain(data: bytes) -> Any:
    """An error as it was told: JSON of whatever shape, or else text; never nothing."""
    try:
        return msgspec.json.decode(data) or "an error without a word"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return data.decode("utf-8", "replace")
