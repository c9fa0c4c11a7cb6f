"""What the answers of an endpoint say of its stream, each symptom in one sentence with what to do. Pure: no socket, no clock."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from specbench.doctor.bursts import FEWEST_EVENTS, burst_symptom
from specbench.doctor.diagnosis import Symptom
from specbench.doctor.response_trace import ResponseTrace, failure_symptoms
from specbench.doctor.token_counts import hidden_tokens, tokens_per_event, unread_text, usage_ambiguous, usage_missing
from specbench.model.records import StreamFormat
from specbench.net.urls import is_loopback
from specbench.stream.sse import events_of
from specbench.units import ms, ns_of_ms

_ODD_ENDS = {"unterminated", "unclean_end", "no_finish_reason", "odd_end", "data_after_done"}
_ODD_HEADS = {"unknown_encoding", "other_2xx", "length_ignored"}

SLOW_LOOPBACK_NS = ns_of_ms(50)


def symptoms_of(answers: Sequence[ResponseTrace], rule: StreamFormat, url: str) -> tuple[Symptom, ...]:
    """Everything that is to be said of the stream at `url`, failures first; a stream without symptoms is a true one."""
    good = [one for one in answers if one.ok]
    found = list(failure_symptoms(answers))
    for look in _LOOKS if good else ():
        symptom = look(good)
        if symptom is not None:
            found.append(symptom)
    if good and (burst := burst_symptom(good, rule)) is not None:
        found.append(burst)
    return (*found, *_connections(answers, url))


def _compressed(good: Sequence[ResponseTrace]) -> Symptom | None:
    packed = [one for one in good if "compressed_stream" in one.record.flags]
    if not packed:
        return None
    return Symptom(
        "compressed",
        "unfit",
        f"the stream is compressed ({packed[0].capture.headers.get('content-encoding')}) although the client requested identity: "
        "tokens wait until enough of them can be compressed.",
        "Turn compression of text/event-stream off at the server or the proxy.",
    )


def _too_short(good: Sequence[ResponseTrace]) -> Symptom | None:
    if max(len(one.record.event_ns) for one in good) >= FEWEST_EVENTS or _whole_in_one(good) is not None:
        return None
    return Symptom(
        "too_short",
        "caution",
        f"no answer had {FEWEST_EVENTS} events, too few to check how they are streamed.",
        "Let the model give longer answers and run the doctor again.",
    )


def _whole_in_one(good: Sequence[ResponseTrace]) -> Symptom | None:
    tokens = [one.record.output_tokens for one in good if one.record.output_tokens is not None]
    if any(len(one.record.event_ns) > 1 for one in good) or max(tokens, default=1) < FEWEST_EVENTS:
        return None
    return Symptom(
        "one_event",
        "unfit",
        f"up to {max(tokens)} tokens came as one event: the answer was finished before it was sent.",
        "Let the server or gateway forward tokens as they are generated.",
    )


def _role_first(good: Sequence[ResponseTrace]) -> Symptom | None:
    leads = [lead for one in good if (lead := _lead_ns(one)) is not None]
    if len(leads) * 2 <= len(good):
        return None
    return Symptom(
        "role_first",
        "note",
        f"the first event has no token (it names the role), {ms(median(leads)):.1f} ms before one that has; it does not count.",
    )


def _lead_ns(one: ResponseTrace) -> int | None:
    """How long before the first token an event without any came first; None where the first event has a token."""
    events = events_of(one.capture.body)
    if "content-encoding" in one.capture.headers or not events or events[0].end >= one.answer.ends[0]:
        return None
    reached = 0
    for frame in one.capture.frames:
        reached += len(frame.data)
        if reached >= events[0].end:
            return one.record.event_ns[0] - (frame.stamp_ns - one.capture.sent_ns)
    return None


def _unclean(good: Sequence[ResponseTrace]) -> Symptom | None:
    odd = sorted({flag for one in good for flag in one.record.flags} & _ODD_ENDS)
    if not odd:
        return None
    return Symptom("unclean_end", "note", f"answers are whole but end in an unusual way ({', '.join(odd)}).")


def _odd_head(good: Sequence[ResponseTrace]) -> Symptom | None:
    odd = sorted({flag for one in good for flag in one.record.flags} & _ODD_HEADS)
    if not odd:
        return None
    return Symptom("odd_head", "note", f"answers are readable but have unusual headers ({', '.join(odd)}).")


def _stamps(good: Sequence[ResponseTrace]) -> Symptom | None:
    if all(one.record.stamp_source == "kernel" for one in good):
        return None
    return Symptom(
        "no_kernel_stamps",
        "caution",
        "timestamps are of reading, not of arrival: they include every delay of the client.",
        "Measure from Linux, outside a sandbox, if possible.",
    )


def _client_late(good: Sequence[ResponseTrace]) -> Symptom | None:
    late, groups = sum(one.late for one in good), sum(len(one.groups) for one in good)
    if late <= 0.05 * (late + groups):
        return None
    return Symptom(
        "client_late",
        "caution",
        f"this machine read late {late} times and may have merged events; they are excluded here.",
        "Stop other programs on this machine and run the doctor again.",
    )


def _connections(answers: Sequence[ResponseTrace], url: str) -> Iterator[Symptom]:
    opened = [one.capture.connect_ns for one in answers if one.capture.connect_ns is not None]
    host = url.split("://", 1)[-1].split("/", 1)[0].rsplit(":", 1)[0].strip("[]")
    if opened and is_loopback(host) and min(opened) > SLOW_LOOPBACK_NS:
        yield Symptom(
            "slow_connect",
            "caution",
            f"opening a connection to this very machine takes {ms(min(opened)):.0f} ms (in no figure).",
            "Use the address (127.0.0.1 or [::1]) instead of localhost: one of the two may not answer.",
        )
    good = [one for one in answers if one.ok]
    if len(good) > 1 and not any(one.capture.reused for one in good):
        yield Symptom(
            "not_kept_alive",
            "note",
            "the endpoint closes the connection after every answer; no figure includes the next connect.",
        )


_LOOKS: tuple[Callable[[Sequence[ResponseTrace]], Symptom | None], ...] = (
    _compressed,
    _too_short,
    _whole_in_one,
    _role_first,
    usage_missing,
    usage_ambiguous,
    hidden_tokens,
    unread_text,
    tokens_per_event,
    _unclean,
    _odd_head,
    _stamps,
    _client_late,
)
