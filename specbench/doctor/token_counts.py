"""How many tokens the events of a stream hold, and whether it says so. Pure."""

from collections.abc import Sequence
from math import sqrt
from statistics import mean, median, pstdev

from specbench.doctor.bursts import EXACT, is_even
from specbench.doctor.diagnosis import Symptom
from specbench.doctor.response_trace import ResponseTrace

SEVERAL = 1.2
TOKEN_SPREAD = 0.65
"""Spread of characters per token as a share of their mean (0.57 and 0.71 in recordings of prose and code). k tokens at a time
spread by this ÷ √k or less; numbers of tokens that vary add to it."""


def usage_missing(good: Sequence[ResponseTrace]) -> Symptom | None:
    """The server does not say how many tokens an answer held; None where it does."""
    silent = [one for one in good if one.answer.output_tokens is None]
    if not silent:
        return None
    guessed = any("tokens_guessed" in one.record.flags for one in silent)
    return Symptom(
        "usage_missing",
        "caution",
        f"{len(silent)} of {len(good)} answers do not tell how many tokens they hold"
        + (": one per event is a guess, and wrong where a verification brings several." if guessed else "."),
        "Have the server honour stream_options.include_usage, or name its engine so that its own counts are read.",
    )


def tokens_per_event(good: Sequence[ResponseTrace]) -> Symptom | None:
    """Events hold several tokens, and what that looks like; None where they hold one."""
    exact = [one for one in good if one.record.token_source in EXACT]
    if exact:
        inner = [tokens for one in exact for tokens in one.record.event_tokens[1:-1]]
        if not inner or mean(inner) < SEVERAL:
            return None
        return _interval(f"{median(inner):g}", True) if is_even(inner) else _speculating(f"{mean(inner):.1f}")
    answers = [one.answer for one in good if len(one.answer.pieces) > 2]
    counted = [(answer.output_tokens, answer.pieces) for answer in answers if answer.output_tokens is not None]
    events = sum(len(pieces) for _, pieces in counted)
    if not events or (ratio := sum(tokens for tokens, _ in counted) / events) < SEVERAL:
        return None
    sizes = [len(piece) for _, pieces in counted for piece in pieces[1:-1]]
    even = len(sizes) > 2 and pstdev(sizes) < TOKEN_SPREAD / sqrt(ratio) * mean(sizes)
    return _interval(f"{ratio:.1f}", False) if even else _uncounted(ratio)


def _interval(tokens: str, exact: bool) -> Symptom:
    known = f"every event holds {tokens} tokens" if exact else f"events hold {tokens} tokens on average and equally much text"
    return Symptom(
        "stream_interval",
        "caution",
        f"{known}: the server collects tokens before it sends them (a stream interval), unless every draft is accepted whole.",
        "Set a stream interval to 1: with it the first token is late by those that it waits for, and gaps are those of the "
        "interval, not of the engine's steps.",
    )


def _speculating(tokens: str) -> Symptom:
    return Symptom(
        "several_tokens", "note", f"an event holds {tokens} tokens on average, in varying number, as speculation does."
    )


def _uncounted(ratio: float) -> Symptom:
    return Symptom(
        "tokens_uncounted",
        "caution",
        f"an event holds {ratio:.1f} tokens on average, and none says how many: they are spread evenly over the events.",
        "Name the engine (--engine), so that token ids or running usage are asked for.",
    )
