"""Counts of speculative decoding in the forms that several engines share: vLLM-like counters and per-request histograms.

Counts only: what they mean for a verdict (lengths, rates, alpha) is computed in `analysis/`.
"""

from collections.abc import Mapping, Sequence

from specbench.model.records import SpeculationCounts
from specbench.telemetry.counters import Reported, ScrapeWindow, increase, increase_by_label, whole
from specbench.telemetry.engine import Quantities


def counted(span: ScrapeWindow, prefix: str) -> Quantities:
    """`acceptance` from the four counters that vLLM named first and llama.cpp, LMDeploy and others took over.

    A family that exists at 0 gives counts of 0 (nothing drafted); one that does not exist gives None.

    Args:
        span: The block.
        prefix: What comes before `num_drafts`, as in "vllm:spec_decode_".
    """
    rounds = whole(increase(span, f"{prefix}num_drafts"))
    drafted = whole(increase(span, f"{prefix}num_draft_tokens"))
    accepted = whole(increase(span, f"{prefix}num_accepted_tokens"))
    positions = increase_by_label(span, f"{prefix}num_accepted_tokens_per_pos", "position")
    if drafted.value is None and accepted.value is None:
        return {"acceptance": Reported(None, drafted.reason)}
    per_position = None if positions.value is None else per_position_of(positions.value)
    counts = SpeculationCounts(rounds=rounds.value, drafted=drafted.value, accepted=accepted.value, per_position=per_position)
    parts: Quantities = {"rounds": rounds, "drafted": drafted, "accepted": accepted, "per_position": positions}
    return checked(counts) | {
        f"acceptance.{name}": Reported(None, part.reason) for name, part in parts.items() if part.value is None
    }


def checked(counts: SpeculationCounts) -> Quantities:
    """`acceptance`, refused where it cannot be true: more tokens accepted than drafted, or more rounds than drafted tokens."""
    drafted, accepted, rounds = counts.drafted, counts.accepted, counts.rounds
    if drafted is not None and accepted is not None and accepted > drafted:
        return {"acceptance": Reported(None, f"inconsistent: {accepted} tokens accepted of {drafted} drafted")}
    if drafted is not None and rounds is not None and rounds > drafted:
        return {"acceptance": Reported(None, f"inconsistent: {rounds} rounds drafted {drafted} tokens")}
    return {"acceptance": Reported(counts)}


def per_position_of(by_position: Mapping[str, float]) -> tuple[int, ...] | None:
    """Rounds that accepted position 0, 1, ... from counts by the label `position`; None where a label is no position."""
    if not all(position.isdecimal() for position in by_position):
        return None
    counts = {int(position): round(value) for position, value in by_position.items()}
    # Children appear when their position is first reached: one that is missing below another was never reached.
    return tuple(counts.get(position, 0) for position in range(max(counts, default=-1) + 1))


def of_histogram(histogram: Sequence[int]) -> tuple[int, int, tuple[int, ...]]:
    """Rounds, accepted tokens and rounds by position, where entry j of `histogram` counts rounds that accepted exactly j.

    rounds = Σ h[j], accepted = Σ j·h[j], position i = Σ h[j] over j > i
    """
    rounds = sum(histogram)
    accepted = sum(length * count for length, count in enumerate(histogram))
    return rounds, accepted, tuple(sum(histogram[position + 1 :]) for position in range(len(histogram) - 1))
