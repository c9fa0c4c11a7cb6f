"""How answers failed, and what to do about each kind. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from specbench.doctor.diagnosis import Symptom
from specbench.doctor.heard import Heard
from specbench.model.seen import Outcome

_REMEDIES: dict[Outcome, str] = {
    "connect_failed": "Is it up, and is this its address?",
    "client_resource": "Raise the limit on open files (ulimit -n) of this machine.",
    "timeout_connect": "Is it up, and does a firewall let this machine through?",
    "timeout_first_token": "Try it when it is idle; a request waits in its queue.",
    "stalled": "Look at the engine's log: it stopped in the middle of an answer.",
    "timeout_total": "Ask for shorter answers.",
    "disconnected": "Look at the engine's log, and at idle limits of what is between.",
    "protocol_error": "Is this an HTTP endpoint, and not another service's port?",
    "line_too_long": "Is this a language model's endpoint?",
    "not_streamed": "Turn streaming on at the server, and have gateways pass text/event-stream through unchanged.",
    "in_band_error": "Look at the engine's log.",
    "truncated_stream": "Look for a limit on time or size between here and the engine.",
    "empty_output": "Look at the model's chat template: it ends before it begins.",
    "prompt_too_long": "Serve the model with a context of at least a few hundred tokens.",
}
_BY_STATUS = (
    ((401, 403), "Give the key's environment variable (--api-key-env)."),
    ((404, 405), "Check the address and the model's name (--model)."),
    ((429,), "Lift the rate limit for the measurement: a request is sent once, and a refusal counts as a failure."),
    (tuple(range(300, 400)), "Use the address that it points to: redirects are not followed under load."),
    (tuple(range(500, 600)), "Look at the engine's log, and at the gateway's."),
)


def failure_symptoms(answers: Sequence[Heard]) -> Iterator[Symptom]:
    """One symptom per way in which answers failed, the most frequent first."""
    outcomes = Counter(one.record.outcome for one in answers if not one.ok)
    for outcome, times in outcomes.most_common():
        example = next(one for one in answers if one.record.outcome == outcome)
        reason = (example.record.reason or outcome).rstrip(".")
        yield Symptom(outcome, "unfit", f"{times} of {len(answers)} answers: {reason}.", _remedy(example))


def _remedy(one: Heard) -> str:
    status = one.record.status
    if one.record.outcome == "http_error" and status is not None:
        target = one.capture.headers.get("location")
        remedy = next((text for statuses, text in _BY_STATUS if status in statuses), "Ask the endpoint's owner.")
        return f"{remedy} ({target})" if 300 <= status < 400 and target else remedy
    if one.record.outcome == "not_streamed" and "html" in one.capture.headers.get("content-type", ""):
        return "That is a web page: is this the address of the API?"
    return _REMEDIES.get(one.record.outcome, "")
