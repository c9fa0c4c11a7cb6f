"""How many tokens each content event brought: the best source that a stream really carries. Pure; knows no engine by name.

token_ids           the ids in the event are its tokens; where one output was split into several events and the ids came with the
                    last (LMDeploy), its tokens count for the first, provided that all ids together are the server's total;
                    ids that do not add up to it give way to running usage that does
running_usage       the rise of `usage.completion_tokens` since the event before
engine_counts       the rise of the engine's own count (llama.cpp's `tokens_predicted` and `timings.predicted_n`); or, where an
                    event is one token by the engine's rule, the engine's total confirms it
logprobs            one token for each entry of an event's log probabilities
final_usage_spread  one token for each event at the first stamp, as an engine's first step yields one, and the rest of the
                    final count spread evenly over the later events
events              one token per event: a guess, unless the engine's rule says so

Tokens that were counted and not streamed (usage.py) are no event's. Where it is not known which were, no event has any, and the
answer is flagged `usage_ambiguous`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.model.records import StreamFormat, TokenSource
from specbench.stream.parse_stream import ParsedStream

NATURAL_END = "stop"


@dataclass(frozen=True, slots=True)
class Attribution:
    """Tokens per content event, their source (None where they are not known), and what a reader of the record should know."""

    tokens: tuple[int, ...]
    source: TokenSource | None
    flags: tuple[str, ...]


def attribute(answer: ParsedStream, rule: StreamFormat, at_first_stamp: int) -> Attribution:
    """Tokens per content event by the first of the rule's sources that the stream carries.

    Args:
        answer: at least one content event.
        at_first_stamp: how many content events came under the first stamp.
    """
    if answer.reading.doubt is not None:
        return Attribution((0,) * len(answer.ends), None, ("usage_ambiguous",))
    for source in rule.token_sources:
        tokens = _by(source, answer, rule, at_first_stamp)
        if tokens is not None:
            if source == "engine_counts" and answer.by_logprobs and None not in answer.counts:
                source = "logprobs"
            spread_flag = ("tokens_spread",) if source == "final_usage_spread" else ()
            return Attribution(tokens, source, (*spread_flag, *_reconciled(answer, sum(tokens))))
    events = len(answer.ends)
    guessed = ("tokens_guessed",) if rule.event_is_step else ()
    return Attribution((1,) * events, "events", (*guessed, *_reconciled(answer, events)))


def spread(total: int, places: int) -> tuple[int, ...]:
    """`total` as `places` whole numbers that differ by at most one, larger ones evenly among the smaller."""
    return tuple((place + 1) * total // places - place * total // places for place in range(places))


def _by(source: TokenSource, answer: ParsedStream, rule: StreamFormat, at_first_stamp: int) -> tuple[int, ...] | None:
    match source:
        case "token_ids":
            return _by_ids(answer, rule)
        case "running_usage":
            return _rises_of_usage(answer)
        case "engine_counts":
            rises = _rises(answer.counts)
            return rises if rises is not None else _confirmed(answer, rule)
        case "final_usage_spread":
            return _spread_after_first(answer.output_tokens, len(answer.ends), at_first_stamp)
        case _:
            return None  # a tokenizer is not at hand here; events are what is left


def _by_ids(answer: ParsedStream, rule: StreamFormat) -> tuple[int, ...] | None:
    """The number of ids of each event; None where events without ids leave tokens uncounted, or running usage knows better."""
    told = sum(ids for ids in answer.ids if ids is not None)
    unreconciled = bool(_reconciled(answer, told))
    if None in answer.ids and (not told or answer.output_tokens is None or unreconciled):
        return None
    if unreconciled and "running_usage" in rule.token_sources:
        rises = _rises_of_usage(answer)
        if rises is not None and not _reconciled(answer, sum(rises)):
            return None
    tokens = [0] * len(answer.ids)
    first = 0
    for place, ids in enumerate(answer.ids):
        if ids is not None:
            tokens[first] = ids
            first = place + 1
    return tuple(tokens)


def _rises_of_usage(answer: ParsedStream) -> tuple[int, ...] | None:
    """The rises of running usage by streamed tokens alone, None where they cannot be told from the hidden ones."""
    reading, usage = answer.reading, answer.usage
    if not reading.apart and not reading.hidden:
        return _rises(usage)
    if reading.apart and reading.hidden:
        shown = usage  # what is hidden is not in it
    elif None not in answer.reasoning:
        sign = 1 if reading.apart else -1
        shown = [None if told is None else told + sign * (part or 0) for told, part in zip(usage, answer.reasoning, strict=True)]
    else:  # reasoning comes before the answer
        shown = [None if told is None else told - (reading.hidden or 0) for told in usage]
    rises = _rises(shown)
    return rises if rises is not None and rises[0] > 0 and not _reconciled(answer, sum(rises)) else None


def _rises(counts: Sequence[int | None]) -> tuple[int, ...] | None:
    """Differences of a running count; a fall counts as no rise. None where an event does not tell, or nothing ever rose."""
    rises, before = [], 0
    for count in counts:
        if count is None:
            return None
        rises.append(max(0, count - before))
        before = max(before, count)
    return tuple(rises) if before else None


def _confirmed(answer: ParsedStream, rule: StreamFormat) -> tuple[int, ...] | None:
    events = len(answer.ends)
    if rule.event_is_step or answer.output_tokens is None:
        return None
    return (1,) * events if answer.output_tokens == events or _uncounted_end(answer, events) else None


def _reconciled(answer: ParsedStream, tokens: int) -> tuple[str, ...]:
    """A flag where the events' tokens do not add up to what the server counted."""
    agrees = answer.output_tokens is None or answer.output_tokens == tokens or _uncounted_end(answer, tokens)
    return () if agrees else ("tokens_unreconciled",)


def _uncounted_end(answer: ParsedStream, tokens: int) -> bool:
    """Whether the one token missing is the end token: engines count it, and most show no event for it."""
    return answer.finish_reason == NATURAL_END and answer.output_tokens == tokens + 1


def _spread_after_first(total: int | None, events: int, at_first_stamp: int) -> tuple[int, ...] | None:
    if total is None:
        return None
    later = events - at_first_stamp
    if later == 0 or total < events:
        return spread(total, events)
    return (1,) * at_first_stamp + spread(total - at_first_stamp, later)
