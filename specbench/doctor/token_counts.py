"""How many tokens the events of a stream hold, and whether it says so. Pure; what they look like, stream/grouping.py knows."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from statistics import mean, median, pstdev

from specbench.doctor.diagnosis import Symptom
from specbench.doctor.response_trace import ResponseTrace
from specbench.stream.grouping import EXACT, SEVERAL, is_even

TOKEN_SPREAD = 0.65
"""Spread of characters per token as a share of their mean (0.57 and 0.71 in recordings of prose and code). k tokens at a time
spread by this ÷ √k or less; numbers of tokens that vary add to it."""


def usage_missing(good: Sequence[ResponseTrace]) -> Symptom | None:
    """The server does not say how many tokens an answer held; None where it does."""
    silent = [one for one in good if one.answer.output_tokens is None and one.answer.reading.doubt is None]
    if not silent:
        return None
    guessed = any("tokens_guessed" in one.record.flags for one in silent)
    return Symptom(
        "usage_missing",
        "caution",
        f"{len(silent)} of {len(good)} answers do not report their number of tokens"
        + (": one per event is a guess, and wrong where a verification round yields several." if guessed else "."),
        "Have the server honour stream_options.include_usage, or name its engine so that its own counts are read.",
    )


def tokens_per_event(good: Sequence[ResponseTrace]) -> Symptom | None:
    """Events hold several tokens, and what that looks like; None where they hold one."""
    exact = [one for one in good if one.record.token_source in EXACT]
    if exact:
        inner = [tokens for one in exact for tokens in one.record.event_tokens[1:-1]]
        if not inner or mean(inner) < SEVERAL:
            return None
        if is_even(inner):
            return _interval(f"{median(inner):g}", True)
        seen = Counter(one.record.grouping for one in exact).most_common(1)[0][0]
        return _hidden_between(mean(inner)) if seen == "hidden" else _several(mean(inner), surely=seen == "drafts")
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


def _several(tokens: float, *, surely: bool) -> Symptom:
    seen = f"an event holds {tokens:.1f} tokens on average, in varying number, as speculation does"
    return Symptom(
        "several_tokens",
        "note",
        f"{seen}." if surely else f"{seen}; this is not sure, so acceptance needs the engine's counters or a declared method.",
    )


def _hidden_between(tokens: float) -> Symptom:
    return Symptom(
        "hidden_tokens",
        "caution",
        f"an event holds {tokens:.1f} tokens on average, and larger ones have no more text: some tokens are not shown.",
        "Let the server stream its reasoning, or switch it off; times per token count what was not streamed.",
    )


def _uncounted(ratio: float) -> Symptom:
    return Symptom(
        "tokens_uncounted",
        "caution",
        f"an event holds {ratio:.1f} tokens on average, and none says how many: they are spread evenly over the events.",
        "Name the engine (--engine), so that token ids or running usage are requested.",
    )


def hidden_tokens(good: Sequence[ResponseTrace]) -> Symptom | None:
    """Tokens were counted that no event showed; None where all were streamed, or nothing says."""
    hidden = [one.record.hidden_tokens for one in good if one.record.hidden_tokens]
    if not hidden:
        return None
    return Symptom(
        "hidden_tokens",
        "caution",
        f"{len(hidden)} of {len(good)} answers hold tokens that were counted and not streamed ({sum(hidden)} in all, as those of "
        "reasoning that is not shown): they are in no time per token, and the time to the first token contains them.",
        "Let the server stream its reasoning, or switch it off.",
    )


def usage_ambiguous(good: Sequence[ResponseTrace]) -> Symptom | None:
    """The server's counts fit no reading of which tokens were streamed; None where they do."""
    doubts = [one.answer.reading.doubt for one in good if one.answer.reading.doubt is not None]
    if not doubts:
        return None
    return Symptom(
        "usage_ambiguous",
        "unfit",
        f"the token counts of {len(doubts)} of {len(good)} answers cannot be used: {doubts[0]}.",
        "Have the server stream what it counts, or report completion_tokens_details and a total that adds up.",
    )


def unread_text(good: Sequence[ResponseTrace]) -> Symptom | None:
    """Events have text under a name that is not read; None where all text was read."""
    unread = [one for one in good if "unread_text" in one.record.flags]
    if not unread:
        return None
    names = ", ".join(sorted(set().union(*(one.answer.unread for one in unread))))
    first = sum("first_token_doubtful" in one.record.flags for one in unread)
    late = f", in {first} of them before the first token that is read, so that TTFT may be too long" if first else ""
    return Symptom(
        "unread_text",
        "caution",
        f"{len(unread)} of {len(good)} answers have text under a name that is not read ({names}){late}.",
        "If it is generated text, have the server send it as content or reasoning_content.",
    )
