"""Why events come several at a time: held back on the way, batched by the server, or tokens of one verification. Pure.

What each of them does to a measurement is said in one sentence, with what to do.
"""

from collections.abc import Sequence
from itertools import chain
from statistics import median

from specbench.doctor.diagnosis import Symptom
from specbench.doctor.response_trace import ResponseTrace
from specbench.model.records import StreamFormat
from specbench.stream.grouping import EVEN_SHARE, EXACT, is_even
from specbench.units import ms

FEWEST_EVENTS = 10
HELD_SPAN = 0.1
"""An answer whose events span less of its time than this was not streamed to us, whatever the engine did."""

GROUPED_SHARE = 0.3
TORN_SHARE = 0.25
LARGEST_STEP = 16
"""Tokens that one verification may plausibly bring; larger bursts are a buffer's."""

PROXY_REMEDY = (
    "Measure the engine directly, or turn buffering off on the way (nginx: proxy_buffering off; a header "
    "X-Accel-Buffering: no; Envoy and cloud gateways: response streaming)."
)


def burst_symptom(answers: Sequence[ResponseTrace], rule: StreamFormat) -> Symptom | None:
    """The one reason why events come several at a time that fits best; None where they come one by one."""
    if (whole := _held_whole(answers)) is not None:
        return whole
    groups = list(chain.from_iterable(one.groups[1:-1] for one in answers))
    grouped = sum(size for size in groups if size > 1)
    if len(groups) < 3 or grouped < GROUPED_SHARE * sum(groups):
        return None
    size, largest = median(groups), max(groups)
    torn = sum(one.torn for one in answers)
    seen = f"events come in bursts of {size:g} (at most {largest})"
    if torn >= TORN_SHARE * len(groups):
        return Symptom(
            "held_back",
            "unfit",
            f"{seen}, and {torn} reads end in the middle of an event: a buffer on the way is passed on when it is full.",
            PROXY_REMEDY,
        )
    if not rule.event_is_step and largest <= LARGEST_STEP:
        return _steps(seen, rule, is_even(groups))
    if is_even(groups):
        return Symptom(
            "batched_events",
            "unfit",
            f"{seen}, always as many: the server writes {size:g} events at once, or a proxy empties its buffer by the clock.",
            "Set the server's stream interval to 1 and turn buffering off on the way, or the time to the first token and the "
            "gaps are the buffer's.",
        )
    if rule.engine == "openai" and largest <= LARGEST_STEP and not _several_tokens(answers):
        return Symptom(
            "token_bursts",
            "caution",
            f"{seen} of different sizes, one token in each event: the tokens of one verification, written one by one.",
            "Name the engine (--engine llamacpp or tgi), so that a burst counts as one step; taken as steps, their gaps would "
            "look like tokens made in no time.",
        )
    return Symptom(
        "held_back",
        "unfit",
        f"{seen}, where an event should come when it is made: something on the way collects them.",
        PROXY_REMEDY,
    )


def _steps(seen: str, rule: StreamFormat, even: bool) -> Symptom:
    told = f"{seen}, as {rule.engine} writes one event per token: a burst counts as one engine step"
    if not even:
        return Symptom("token_bursts", "note", f"{told}.")
    remedy = "Where it does not speculate, turn buffering off on the way: then each token is a step of its own."
    return Symptom("token_bursts", "caution", f"{told}; but all are alike, as if every draft were accepted.", remedy)


def _held_whole(answers: Sequence[ResponseTrace]) -> Symptom | None:
    held = [one for one in answers if _is_held(one)]
    if len(held) * 2 <= len(answers):
        return None
    record = held[0].record
    first, last = record.event_ns[0], record.event_ns[-1]
    return Symptom(
        "held_back_whole",
        "unfit",
        f"{len(record.event_ns)} events came within {ms(last - first):.1f} ms after {ms(first):.0f} ms of silence: the answer "
        "was made first and passed on at its end.",
        PROXY_REMEDY,
    )


def _is_held(one: ResponseTrace) -> bool:
    times = one.record.event_ns
    return (
        len(times) >= FEWEST_EVENTS
        and max(one.groups, default=0) >= EVEN_SHARE * len(times)
        and (times[-1] - times[0] <= HELD_SPAN * times[-1])
    )


def _several_tokens(answers: Sequence[ResponseTrace]) -> bool:
    counted = [one.record for one in answers if one.record.token_source in EXACT]
    events = sum(len(record.event_tokens) for record in counted)
    return events > 0 and sum(sum(record.event_tokens) for record in counted) > 1.05 * events


__all__ = ["EXACT", "FEWEST_EVENTS", "burst_symptom", "is_even"]
