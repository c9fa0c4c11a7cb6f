"""Tokens per step that a chain of another depth would bring, from the steps of the answers at hand: each answer is walked again.

A round that kept k of its drafts says of each place of the answer whether the draft was right there: k times it was, then it was
not. Only after a whole round is the next place unknown; the share of the last drafted place stands there. This takes a draft as
right or wrong by the text before it, wherever its round began: exact for a draft model but for the unknown places, nearly so for
lookup, untested for heads that are fed their own features. What decides a verdict never rests on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from specbench.analysis.step_cost import StepCost, fitted, points_of, ratio_at
from specbench.explain import absences
from specbench.model.records import RequestRecord
from specbench.model.result import CellResult, OtherDepth

DEPTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
DEEPER = 2  # times the depth that was run: beyond it nothing is known of most places
MOST_TOKENS = 20_000  # of one cell, about: more would move tokens per step by less than half a percent
LONGER_SHARE = 0.01  # of the steps may bring more than a whole round, where a client read two at once
_NOT_COUNTED = ("events", "final_usage_spread")  # tokens of a step by assumption, not by count

Answer = Sequence[int]
"""The tokens of each step of one answer, but for its first, which belongs to the prompt."""


def chain_depth(speculative: Mapping[str, Any] | None) -> int | None:
    """The depth of every draft of this speculation; None where it is no chain, or one of varying depth, or is not declared."""
    declared = speculative or {}
    depth = declared.get("num_speculative_tokens")
    widths = [value for key, value in declared.items() if key.endswith("topk") and isinstance(value, int)]
    if declared.get("tree") or declared.get("num_speculative_tokens_per_batch_size") or max(widths, default=1) > 1:
        return None
    return depth if isinstance(depth, int) and not isinstance(depth, bool) and depth > 0 else None


def answers_of(records: Iterable[RequestRecord]) -> tuple[Answer, ...]:
    """The steps of whole answers whose events tell their tokens: of all, or of a long run evenly of some."""
    told = [
        record
        for record in records
        if record.outcome == "ok" and (record.token_source not in _NOT_COUNTED or record.step_events is not None)
    ]
    each = 1 + sum(sum(record.event_tokens) for record in told) // MOST_TOKENS
    return tuple(_steps(record)[1:] for record in told[::each])


def tokens_at(answers: Sequence[Answer], drafted: int, depth: int) -> float | None:
    """Tokens per step that rounds of `depth` would bring on the same answers.

    Args:
        answers: From rounds of `drafted` tokens each.

    Returns:
        None where there is no step, or where more than a few brought more tokens than such a round can: no chain of that depth.
    """
    places = _places(answers, drafted)
    return None if places is None else _tokens_per_step(places, depth)


def with_other_depths(
    cells: Sequence[CellResult], records: Mapping[str, Sequence[RequestRecord]], speculative: Mapping[str, Any] | None
) -> tuple[CellResult, ...]:
    """The cells, each with what other depths are predicted to bring there; as they were where no chain of known depth ran.

    Args:
        records: Of the speculative arm, by cell.
        speculative: What the scenario declares of it.
    """
    depth = chain_depth(speculative)
    if depth is None:
        return tuple(cells)
    cost = fitted(points_of(cells, depth))
    return tuple(replace(cell, other_depths=_of_cell(cell, answers_of(records[cell.id]), depth, cost)) for cell in cells)


def _of_cell(cell: CellResult, answers: Sequence[Answer], drafted: int, cost: StepCost | None) -> tuple[OtherDepth, ...]:
    places = None if cell.acceptance.reason == absences.ALPHA_OF_TREES else _places(answers, drafted)
    if places is None:
        return ()
    here = _tokens_per_step(places, drafted)
    found = []
    for depth in DEPTHS:
        if depth == drafted or depth > DEEPER * drafted:
            continue
        tokens = _tokens_per_step(places, depth)
        ratio = None if cost is None else ratio_at(cost, cell, (drafted, here), (depth, tokens))
        found.append(OtherDepth(depth, tokens, ratio))
    return tuple(found)


def _steps(record: RequestRecord) -> tuple[int, ...]:
    if record.step_events is None:
        return tuple(tokens for tokens in record.event_tokens if tokens)
    sizes, place = [], 0
    for count in record.step_events:
        sizes.append(sum(record.event_tokens[place : place + count]))
        place += count
    return tuple(size for size in sizes if size)


def _last_place(steps: Sequence[int], drafted: int) -> float:
    """The share of rounds that kept the last draft, among those that came to it; without one, of all drafts that were tried."""
    whole = sum(step >= drafted + 1 for step in steps)
    came = sum(step >= drafted for step in steps)
    if came:
        return whole / came
    kept = sum(steps) - len(steps)
    return kept / sum(steps)


def _places(answers: Sequence[Answer], drafted: int) -> list[list[float]] | None:
    """How probable it is that the draft is right at each place of each answer; None as `tokens_at` says."""
    steps = [step for answer in answers for step in answer]
    if not steps or sum(step > drafted + 1 for step in steps) > LONGER_SHARE * len(steps):
        return None
    unknown = _last_place(steps, drafted)
    whole = drafted + 1
    found = []
    for answer in answers:
        places: list[float] = []
        for step in answer:
            places += [1.0] * (step - 1)
            places.append(unknown if step == whole else 0.0)
        found.append(places)
    return found


def _tokens_per_step(answers: Sequence[Sequence[float]], depth: int) -> float:
    """Tokens per round of that depth over these answers, each given by its places; there is at least one place."""
    return sum(map(len, answers)) / sum(_rounds(places, depth) for places in answers)


def _rounds(places: Sequence[float], depth: int) -> float:
    """How many rounds of that depth the answer takes, on average over what is unknown."""
    begins = [0.0] * (len(places) + depth + 2)  # how probable it is that a round begins at this place
    begins[0] = 1.0
    rounds = 0.0
    for start in range(len(places)):
        here = begins[start]
        if not here:
            continue
        rounds += here
        for place in range(start, min(start + depth, len(places))):
            right = places[place]
            if right == 1.0:
                continue
            begins[place + 1] += here * (1 - right)
            if not right:
                break
            here *= right
        else:
            begins[start + depth + 1] += here
    return rounds
