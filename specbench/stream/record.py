"""A capture turned into the facts of one request. Pure: no clock, no socket; the same capture always gives the same record."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import msgspec

from specbench.credentials import LONGEST_WORD, NO_SECRETS, Secrets, one_line
from specbench.model.answers.kept_pairs import GeneratedAnswer
from specbench.model.captures import Capture
from specbench.model.records import Grouping, Outcome, RequestRecord, SpeculationCounts, StreamFormat, TokenSource
from specbench.stream.answers.asked_form import AskedForm
from specbench.stream.answers.generated import generated_of
from specbench.stream.answers.marks import foreign_scripts, marks_of, scripts_in
from specbench.stream.chunks import MOST_TOKENS
from specbench.stream.decoded_body import PlainBody, encoding_flags, event_stamps, plain_body
from specbench.stream.grouping import censored, engine_timestamps, grouping_of, step_sizes, steps_of_moments
from specbench.stream.outcome import outcome_of, outcome_of_document, outcome_of_status, succeeded
from specbench.stream.parse_stream import ParsedStream, parse_stream
from specbench.stream.tokens import attribute
from specbench.units import NS_PER_MS

BURST_GAP_NS = NS_PER_MS
GIVEN_UP = ("protocol_error", "line_too_long")
GIVEN_UP_BYTES = 1024 * 1024
"""So much of an answer is read that was given up for what it is: it may be endless, and is a failure whatever it says."""

BURST_SHARE = 0.9
BURST_EVENTS = 10
LONGEST_REASON = 500  # characters: an excerpt and what it is an excerpt of


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """What was asked for: the request's bin, its sampling's name, its limit of output tokens, and its place in a session.

    `form`: what its answer must look like; without it no marks are given.
    """

    bin: str
    sampling: str
    max_tokens: int
    session: int | None = None
    turn: int | None = None
    form: AskedForm | None = None


@dataclass(frozen=True, slots=True)
class EventTimes:
    """The content events of one answer in time: stamps since the request was sent, tokens, steps, censored indices."""

    event_ns: tuple[int, ...] = ()
    event_tokens: tuple[int, ...] = ()
    step_events: tuple[int, ...] | None = None
    censored: tuple[int, ...] = ()
    first_answer_ns: int | None = None
    token_source: TokenSource | None = None
    flags: tuple[str, ...] = ()
    burst_ns: int | None = None
    grouping: Grouping | None = None


def record_of(capture: Capture, asked: RequestSpec, rule: StreamFormat, secrets: Secrets = NO_SECRETS) -> RequestRecord:
    """The facts of one request, whatever became of it; `secrets` stand in none of them."""
    return record_and_answer(capture, asked, rule, secrets)[0]


def record_and_text(
    capture: Capture, asked: RequestSpec, rule: StreamFormat, secrets: Secrets = NO_SECRETS
) -> tuple[RequestRecord, str]:
    """The facts of one request, and the text that it generated."""
    record, generated = record_and_answer(capture, asked, rule, secrets)
    return record, generated.text


def record_and_answer(
    capture: Capture, asked: RequestSpec, rule: StreamFormat, secrets: Secrets = NO_SECRETS
) -> tuple[RequestRecord, GeneratedAnswer]:
    """The facts of one request, and what it generated, of which no file holds more than these facts."""
    plain = plain_body(capture)
    body = _readable(capture, plain)
    answer, outcome, reason = _judged(capture, body, plain.problem)
    if reason is not None and secrets.values:  # before it is cut to an excerpt, which may cut a key in two
        outcome, reason = _judged(_freed(capture, secrets), secrets.out_of_bytes(body), plain.problem)[1:]
    line = _timeline(capture, answer, rule, event_stamps(capture, plain, answer.ends))
    if line.event_ns and line.event_ns[0] < 0:
        line, outcome, reason = EventTimes(), "protocol_error", "the answer came before its request was sent"
    output_tokens = answer.output_tokens if answer.output_tokens is not None else sum(line.event_tokens) or None
    generated = generated_of(answer, output_tokens)
    text = generated.text
    form = asked.form if outcome == "ok" else None
    loops = is_looping(text)
    flags = {*answer.flags, *line.flags, *_flags(capture, answer)}
    return RequestRecord(
        block=capture.block,
        index=capture.index,
        stream=capture.stream,
        bin=asked.bin,
        sampling=asked.sampling,
        max_tokens=asked.max_tokens,
        scheduled_ns=capture.scheduled_ns,
        sent_ns=capture.sent_ns,
        connect_ns=capture.connect_ns,
        retries=capture.retries,
        outcome=outcome,
        reason=None if reason is None else one_line(secrets.out_of(reason), LONGEST_REASON),
        status=capture.status,
        stamp_source=capture.stamp_source,
        token_source=line.token_source,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=output_tokens,
        cached_tokens=answer.cached_tokens,
        finish_reason=None if answer.finish_reason is None else one_line(secrets.out_of(answer.finish_reason), LONGEST_WORD),
        event_ns=line.event_ns,
        event_tokens=line.event_tokens,
        step_events=line.step_events,
        censored=line.censored,
        first_answer_ns=line.first_answer_ns,
        end_ns=max(0, capture.end_ns - capture.sent_ns),
        text_chars=len(text),
        text_sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        looping=loops,
        acceptance=_acceptance(answer, rule),
        flags=tuple(sorted(flags)),
        burst_ns=line.burst_ns,
        hidden_tokens=answer.reading.hidden,
        grouping=line.grouping,
        session=asked.session,
        turn=asked.turn,
        marks=() if form is None else marks_of(generated, form, loops),
        scripts=() if form is None else tuple(sorted(scripts_in(generated))),
        foreign_scripts=() if form is None else tuple(sorted(foreign_scripts(generated, form))),
    ), generated


def content_of(capture: Capture, between: Callable[[], None] | None = None) -> str | None:
    """The text of an answer that ended well, without reasoning and tool calls; None where it failed or has none.

    Args:
        between: Called again and again meanwhile, by who must not be kept from other work for long.
    """
    plain = plain_body(capture)
    answer, outcome, _ = _judged(capture, _readable(capture, plain), plain.problem, between)
    content = "".join(answer.contents)
    return content if outcome == "ok" and content.strip() else None


def _readable(capture: Capture, plain: PlainBody) -> bytes:
    """As much of the body as is read at all."""
    return plain.data[:GIVEN_UP_BYTES] if capture.problem in GIVEN_UP else plain.data


def _freed(capture: Capture, secrets: Secrets) -> Capture:
    """The capture without the secrets in what stands beside its body."""
    headers = {name: secrets.out_of(value) for name, value in capture.headers.items()}
    problem = None if capture.problem_text is None else secrets.out_of(capture.problem_text)
    return replace(capture, headers=headers, problem_text=problem)


def _judged(
    capture: Capture, body: bytes, undecodable: str | None, between: Callable[[], None] | None = None
) -> tuple[ParsedStream, Outcome, str | None]:
    """What the body said and how the request ended, by the kind of body that it is."""
    start = body.lstrip()[:1]
    if capture.status is not None and not succeeded(capture.status) and capture.problem is None:
        return ParsedStream(), *outcome_of_status(capture.status, body, capture.headers.get("location"))
    if undecodable is not None and not (answer := parse_stream(body)).done:
        return answer if body else ParsedStream(), "protocol_error", undecodable
    is_stream = "event-stream" in capture.headers.get("content-type", "") or b"data:" in body
    if capture.problem is None and (start in (b"{", b"[") or not is_stream):
        return ParsedStream(), *outcome_of_document(_document(body))
    answer = parse_stream(body, between)
    return answer, *outcome_of(capture, answer)


def _document(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _timeline(capture: Capture, answer: ParsedStream, rule: StreamFormat, stamps: Sequence[int]) -> EventTimes:
    if not stamps:
        return EventTimes()
    event_ns = tuple(stamp - capture.sent_ns for stamp in stamps)
    counted = attribute(answer, rule, event_ns.count(event_ns[0]))
    exact = counted.tokens if counted.source in ("running_usage", "token_ids") else (1,) * len(event_ns)
    grouping = grouping_of(counted.tokens, answer.pieces, event_ns, counted.source)
    moments = None if rule.event_is_step else engine_timestamps(answer.sampled_ms)
    steps = step_sizes(event_ns, exact, rule) if moments is None else steps_of_moments(moments)
    first_answer = answer.answering.index(True) if True in answer.answering else None
    return EventTimes(
        event_ns=event_ns,
        event_tokens=counted.tokens,
        step_events=steps,
        censored=censored(event_ns, steps),
        burst_ns=rule.burst_ns if not rule.event_is_step and moments is None else None,
        first_answer_ns=None if first_answer is None else event_ns[first_answer],
        token_source=counted.source,
        grouping="drafts" if moments is not None and steps is not None else grouping,  # no two tokens are sampled at one moment
        flags=(*counted.flags, "burst") if _released_at_once(event_ns, steps) else counted.flags,
    )


def _released_at_once(event_ns: Sequence[int], steps: Sequence[int] | None) -> bool:
    """Whether something on the way held the answer back: nearly all events come without a gap, of however many steps."""
    if len(event_ns) < BURST_EVENTS or (steps is not None and len(steps) > 1):
        return False
    close = sum(later - earlier < BURST_GAP_NS for earlier, later in pairwise(event_ns))
    return close >= BURST_SHARE * (len(event_ns) - 1)


def _acceptance(answer: ParsedStream, rule: StreamFormat) -> SpeculationCounts | None:
    """What the engine told of its drafts for this request, read as its `StreamFormat` says; None where no answer
    can have had as many."""
    told = _document(answer.account) if rule.answer_counts is not None and answer.account is not None else None
    counts = rule.answer_counts(told) if rule.answer_counts is not None and isinstance(told, dict) else None
    if counts is None:
        return None
    largest = max(counts.rounds or 0, counts.drafted or 0, counts.accepted or 0, *(counts.per_position or ()))
    return counts if largest <= MOST_TOKENS else None


def _flags(capture: Capture, answer: ParsedStream) -> set[str]:
    flags = encoding_flags(capture)
    if capture.status is not None and capture.status != 200 and succeeded(capture.status):
        flags.add("other_2xx")
    if "chunked" in capture.headers.get("transfer-encoding", "").lower() and "content-length" in capture.headers:
        flags.add("length_ignored")
    if answer.done and capture.data_after_end:
        flags.add("data_after_done")
    if capture.redirected is not None:
        flags.add("redirected")
    if answer.done and capture.problem is not None:
        flags.add("unclean_end")
    if answer.done and answer.finish_reason is None:
        flags.add("no_finish_reason")
    if capture.clock_step:
        flags.add("clock_step")
    return flags


LOOP_TAILS = (160, 640)
"""Characters at a text's end that are looked at: a short loop shows in the first, a looping sentence in the second."""

LOOP_REPEATS = 4


def is_looping(text: str) -> bool:
    """Whether a text ends in a loop: its last 160 or 640 characters are one piece at least four times over.

    A tail repeats a piece of p characters where it equals itself shifted by p. Degenerate answers make speculation look
    better than it is, as a loop is easily drafted.
    """
    for length in LOOP_TAILS:
        tail = text[-length:]
        if len(tail) == length and any(tail[piece:] == tail[:-piece] for piece in range(1, length // LOOP_REPEATS + 1)):
            return True
    return False
