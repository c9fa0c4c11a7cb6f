"""Answers taken apart for the doctor: each one's record, what its stream said, which events were written in one go, and how
those that failed did. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from specbench.credentials import LONGEST_WORD, NO_SECRETS, Secrets, one_line
from specbench.doctor.diagnosis import Symptom
from specbench.model.captures import Capture
from specbench.model.records import Outcome, RequestRecord, StreamFormat
from specbench.stream.decoded_body import plain_body
from specbench.stream.parse_stream import ParsedStream, parse_stream
from specbench.stream.record import GIVEN_UP, GIVEN_UP_BYTES, RequestSpec, record_of
from specbench.units import ns_of_ms

TOGETHER_NS = ns_of_ms(0.5)
"""Events no further apart were written in one go: inside llama.cpp's batches the recorded gaps end at 0.26 ms, its next
steps begin at 2.4 ms."""

_UNLIMITED = RequestSpec("", "", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTrace:
    """One answer: the capture, the record and the stream's own words.

    `groups`: sizes of runs of content events that came in one go; `late` of them are left out, as the client itself read so
    late that it may have merged events of that many steps. `torn`: reads that ended inside a line whose rest came noticeably
    later, as a buffer that is emptied when it is full leaves them.
    """

    capture: Capture
    record: RequestRecord
    answer: ParsedStream
    groups: tuple[int, ...]
    late: int
    torn: int

    @property
    def ok(self) -> bool:
        """Whether the answer is whole and holds tokens."""
        return self.record.outcome == "ok"


def response_trace(capture: Capture, rule: StreamFormat, secrets: Secrets = NO_SECRETS) -> ResponseTrace:
    """The answer in this capture, read as its engine streams, its headers and its record without these secrets."""
    shown = {name: one_line(secrets.out_of(value), LONGEST_WORD) for name, value in capture.headers.items()}
    body = plain_body(capture).data
    record = record_of(capture, _UNLIMITED, rule, secrets)
    groups, late = _groups(record, {frame.stamp_ns - capture.sent_ns: frame.read_ns - frame.stamp_ns for frame in capture.frames})
    return ResponseTrace(
        capture=replace(capture, headers=shown),
        record=record,
        answer=parse_stream(body[:GIVEN_UP_BYTES] if capture.problem in GIVEN_UP else body),
        groups=groups,
        late=late,
        torn=_torn(capture),
    )


def _groups(record: RequestRecord, lags_ns: dict[int, int]) -> tuple[tuple[int, ...], int]:
    groups: list[int] = []
    late: set[int] = set()
    merged = Counter(record.event_ns)
    before: int | None = None
    for time_ns in record.event_ns:
        if before is not None and time_ns - before <= TOGETHER_NS:
            groups[-1] += 1
            if time_ns == before and lags_ns.get(time_ns, 0) > TOGETHER_NS * (merged[time_ns] - 1):
                late.add(len(groups) - 1)
        else:
            groups.append(1)
        before = time_ns
    return tuple(size for place, size in enumerate(groups) if place not in late), len(late)


def _torn(capture: Capture) -> int:
    """Of an answer that is not packed: packed bytes have no lines."""
    if "content-encoding" in capture.headers:
        return 0
    return sum(
        not earlier.data.endswith((b"\n", b"\r")) and later.stamp_ns - earlier.stamp_ns > TOGETHER_NS
        for earlier, later in pairwise(capture.frames)
    )


_REMEDIES: dict[Outcome, str] = {
    "connect_failed": "Start the engine, or correct the URL.",
    "client_resource": "Raise the limit on open files (ulimit -n) of this machine.",
    "timeout_connect": "Check that it is up and that no firewall blocks this machine.",
    "timeout_first_token": "Try again when it is idle: the request waited in its queue.",
    "stalled": "Check the engine's log: it stopped within an answer.",
    "timeout_total": "Request shorter answers.",
    "disconnected": "Check the engine's log and the idle limits of proxies.",
    "protocol_error": "Check that this is the port of an HTTP endpoint.",
    "line_too_long": "Check that this is the endpoint of a language model.",
    "not_streamed": "Turn streaming on at the server, and let gateways forward text/event-stream unchanged.",
    "in_band_error": "Check the engine's log.",
    "truncated_stream": "Check for limits on time or size between here and the engine.",
    "empty_output": "Check the model's chat template: the answer ends at once.",
    "prompt_too_long": "Serve the model with a context of at least a few hundred tokens.",
}
_BY_STATUS = (
    ((401, 403), "Name the key's environment variable (--api-key-env)."),
    ((404, 405), "Check the address and the model's name (--model)."),
    ((429,), "Lift the rate limit for the measurement: a request is sent once, and a refusal counts as a failure."),
    (tuple(range(300, 400)), "Use the address that it redirects to: redirects are not followed under load."),
    (tuple(range(500, 600)), "Check the logs of the engine and the gateway."),
)


def failure_symptoms(answers: Sequence[ResponseTrace]) -> Iterator[Symptom]:
    """One symptom per way in which answers failed, the most frequent first."""
    outcomes = Counter(one.record.outcome for one in answers if not one.ok)
    for outcome, times in outcomes.most_common():
        example = next(one for one in answers if one.record.outcome == outcome)
        reason = (example.record.reason or outcome).rstrip(".")
        yield Symptom(outcome, "unfit", f"{times} of {len(answers)} answers: {reason}.", _remedy(example))


def _remedy(one: ResponseTrace) -> str:
    status = one.record.status
    if one.record.outcome == "http_error" and status is not None:
        target = one.capture.headers.get("location")
        remedy = next((text for statuses, text in _BY_STATUS if status in statuses), "Ask the endpoint's owner.")
        return f"{remedy} ({target})" if 300 <= status < 400 and target else remedy
    if one.record.outcome == "not_streamed" and "html" in one.capture.headers.get("content-type", ""):
        return "This is a web page: check the address of the API."
    return _REMEDIES.get(one.record.outcome, "")
