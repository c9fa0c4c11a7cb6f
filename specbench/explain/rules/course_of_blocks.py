"""The sentences about the order and the course of blocks: carry-over, a gain that fades, an arm that slows within its blocks.

Values in, text out; whether one of them holds may not be decided here.
"""

from specbench.explain.numbers import figure, percentage, ratio
from specbench.explain.phrases import metric_words, sure
from specbench.model.result import Reason
from specbench.model.scenario import ArmName

_REMEDY = (
    "let blocks warm up longer (matrix.block.ramp_s), keep leftovers of one arm away from the other (heat, caches, requests still"
    " running), or start the engines anew for each pair (matrix.schedule: restart)"
)


def carry_over(place: str | None, metric: str, bias: float, ok: bool | None) -> str:
    """How far what one arm leaves to the other moves the ratio; `bias` is a fraction."""
    where = "Over all cells" if place is None else place
    seen = f"{where} {metric_words(metric)} of a pair's two blocks together depends on which arm ran before"
    if ok:
        return f"{where} {metric_words(metric)} of a pair's two blocks together does not depend on which arm ran before."
    moved = f"one arm's block changes the other's after it, and that alone moves the ratio by about {percentage(abs(bias))}"
    return f"{seen}: {moved}; {_REMEDY}."


def order_not_tested(why: str) -> str:
    """That it is not known whether the order of the blocks of a pair moves its ratio."""
    return f"The order of blocks was not tested (order not tested): {why}."


FEW_PAIRS = "there are too few pairs to tell what the first block of a pair does to the second"
ONE_LEADS = "the same arm led every pair"
NO_FIGURES = "too few pairs have a figure of both arms"


def order_matters(change: float, most: float, alpha: float) -> str:
    """That ratios depend on which arm led, alike for both arms, which the balanced order takes out."""
    return (
        f"Over all cells the ratio is {percentage(abs(change))} apart between pairs led by one arm and by the other: a second"
        " block is slower or faster than a first one. The order is balanced, and what is left of it in the mean ratio is at most"
        f" {percentage(most)} ({sure(alpha)})."
    )


def order_not_excluded(change: float, most: float, alpha: float) -> Reason:
    """That ratios depend on which arm led, and that it is not known whether that cancels out."""
    apart = f"the ratio is {percentage(abs(change))} apart between pairs led by one arm and by the other"
    message = (
        f"Hold: over all cells {apart}, and the order of blocks may still move the mean ratio by {percentage(most)}"
        f" ({sure(alpha)}). More pairs would tell; to be rid of it, {_REMEDY}."
    )
    return Reason(code="order_not_excluded", cell=None, metric=None, message=message)


def gain_by_order(place: str, cell: str, metric: str, ratios: tuple[float, float], alpha: float) -> Reason:
    """That a gain is not shown apart from the order of blocks; `ratios`: as seen, and at the worst without what order may do."""
    message = (
        f"Hold: the gain is not shown apart from the order of blocks. {place} {metric_words(metric)} is {ratio(ratios[0])} times"
        f" the baseline's; without what a block may leave to the next one it may be {ratio(ratios[1])} times ({sure(alpha)})."
        f" More pairs, or more loads, would tell; to be rid of it, {_REMEDY}."
    )
    return Reason(code="order_not_excluded", cell=cell, metric=metric, message=message)


def fading(place: str, cell: str, metric: str, ends: tuple[float, float], asked: float) -> Reason:
    """That the gain falls in the course of the run below what was asked for; `ends` are fitted at the first and the last pair."""
    message = (
        f"Hold: the gain goes away during the run. {place} {metric_words(metric)} went from {ratio(ends[0])} to {ratio(ends[1])}"
        f" times the baseline's between first pair and last (asked for: {ratio(asked)}), so what a longer run would show is"
        " not known. See what changes meanwhile (acceptance, memory, heat, the prompts), and run again for longer."
    )
    return Reason(code="fading", cell=cell, metric=metric, message=message)


def slows_within_blocks(place: str, arm: ArmName, change: float, limit: float) -> str:
    """That one arm alone gets slower under load, which longer warm-up does not cure."""
    return (
        f"{place} the {arm} arm alone slows within its blocks: its time per token grows by {figure(100 * change)} % from the"
        f" first half of a block to the second (allowed: {figure(100 * limit)} %), and the other arm's does not. How the arms"
        " compare then depends on how long load lasts; run longer blocks (matrix.block.min_s), until it stays."
    )
