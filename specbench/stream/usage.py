"""How many of the tokens that a server counted were streamed, and how many were only counted. Pure arithmetic on its own sums.

inside      total = prompt + completion: reasoning, if any, is part of `completion_tokens`
apart       total = prompt + completion + reasoning: it is not
hidden      reasoning that no event showed, and the rejected part of a prediction: counted, never streamed
ambiguous   sums that fit neither, or far more tokens than the text has bytes: which of them were streamed is not known
"""

from dataclasses import dataclass
from typing import NamedTuple

from specbench.stream.chunks import Usage

BYTES_ALLOW = 4
SLACK = 16
"""A token of text has a byte at least, and few have none (an end, a call's frame). Where there are more than four for every byte
and 16 besides, some were never shown."""


class Streamed(NamedTuple):
    """What the events of an answer showed: their number and text, whether reasoning was in it, ids if all tell theirs."""

    events: int
    text: str
    reasoning: bool
    summed_up: bool
    ids: int | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens that were streamed, tokens that were only counted, each None where not known.

    `apart`: whether reasoning is counted beside `completion_tokens`. `doubt`: why the counts cannot be used, None where they can.
    """

    streamed: int | None = None
    hidden: int | None = None
    apart: bool = False
    doubt: str | None = None


def reading_of(usage: Usage, completion: int, shown: Streamed) -> Reading:
    """The one reading that the sums allow, for an answer of `completion` tokens by its usage."""
    reasoning = reasoning_in(usage) or 0
    details = usage.completion_tokens_details
    rejected = (details.rejected_prediction_tokens or 0) if details is not None else 0
    more = (
        None if not usage.total_tokens or usage.prompt_tokens is None else usage.total_tokens - usage.prompt_tokens - completion
    )
    apart = reasoning > completion if more is None else more == reasoning > 0
    if more is not None and more != (reasoning if apart else 0):
        return Reading(doubt=f"total_tokens is {more:+d} of prompt_tokens + completion_tokens, which nothing explains")
    counted = completion + (reasoning if apart else 0)
    if shown.ids is not None and shown.ids == counted:
        return Reading(counted, 0, apart)
    unseen = _unseen(reasoning, counted - rejected, apart, shown)
    hidden = unseen + rejected
    streamed = counted - hidden
    if shown.reasoning and shown.summed_up and reasoning:
        return Reading(doubt="reasoning was streamed as a summary, which has other tokens than those that were counted")
    if streamed < 0 or (not streamed and shown.events):
        return Reading(doubt=f"of {counted} tokens {hidden} were not streamed, which leaves none for {shown.events} events")
    if shown.events and shown.ids is None and streamed > BYTES_ALLOW * len(shown.text) + SLACK:
        size = len(shown.text.encode("utf-8", "surrogatepass"))
        if streamed > BYTES_ALLOW * size + SLACK:
            return Reading(doubt=f"{streamed} tokens were counted, and only {size} bytes of text were streamed")
    return Reading(streamed, hidden, apart)


def reasoning_in(usage: Usage) -> int | None:
    """The tokens of reasoning that a usage tells, None where it tells none."""
    details = usage.completion_tokens_details
    told = details.reasoning_tokens if details is not None else None
    return told if told is not None else usage.reasoning_tokens


def _unseen(reasoning: int, counted: int, apart: bool, shown: Streamed) -> int:
    """Reasoning tokens that no event showed: all, unless reasoning came under a name of its own, or must be in the answer's text.

    It must where fewer tokens than events are left without it: an event has a token at least.
    """
    if shown.reasoning or (not apart and counted - reasoning < shown.events <= counted):
        return 0
    return reasoning
