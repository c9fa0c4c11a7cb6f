"""The sentences about the order and the course of blocks: carry-over, a gain that fades, an arm that slows within its blocks.

Values in, text out; whether one of them holds may not be decided here.
"""

from specbench.explain.brief.changes import signed
from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import metric_words, sure
from specbench.model.result import Reason
from specbench.model.scenario import ArmName

_REMEDY = "Lengthen the ramp (matrix.block.ramp_s), or restart the engines for each pair (matrix.schedule: restart)"
_CAUSES = "Heat, caches or requests still running pass from one block to the next"


def carry_over(place: str | None, metric: str, bias: float, ok: bool | None) -> str:
    """How far what one arm leaves to the other moves the ratio; `bias` is a fraction."""
    where = "Over all cells" if place is None else place
    seen = f"{where}, {metric_words(metric)} of a pair"
    if ok:
        return f"{seen} does not depend on which arm ran before."
    moved = f"This alone moves the ratio by {percentage(abs(bias))}"
    return f"{seen} depends on which arm ran before. {moved}. {_CAUSES}. {_REMEDY}."


def order_not_tested(why: str) -> str:
    """That it is not known whether the order of the blocks of a pair moves its ratio."""
    return f"Block order not tested: {why}."


FEW_PAIRS = "too few pairs"
ONE_LEADS = "the same arm ran first in every pair"
NO_FIGURES = "too few pairs have values of both arms"


def order_matters(change: float, most: float, alpha: float) -> str:
    """That ratios depend on which arm led, alike for both arms, which the balanced order takes out."""
    return (
        f"Over all cells, the ratio differs by {percentage(abs(change))} with the arm that ran first."
        f" The order is balanced: with {sure(alpha)} it moves the mean ratio by at most {percentage(most)}."
    )


def order_not_excluded(change: float, most: float, alpha: float, metric: str) -> Reason:
    """That ratios depend on which arm led, and that what may be left of it is more than the room to the limit of `metric`."""
    message = (
        f"Hold: over all cells, the ratio differs by {percentage(abs(change))} with the arm that ran first."
        f" With {sure(alpha)} the order moves the mean ratio by up to {percentage(most)}, and {metric_words(metric)} keeps its"
        f" limit by less. Run more pairs. {_REMEDY}."
    )
    return Reason(code="order_not_excluded", cell=None, metric=None, message=message)


def gain_by_order(place: str, cell: str, metric: str, ratios: tuple[float, float], alpha: float) -> Reason:
    """That a gain is not shown apart from the order of blocks; `ratios`: as seen, and at the worst without what order may do."""
    seen, least = (signed(ratio - 1) for ratio in ratios)
    message = (
        f"Hold: the gain is not shown apart from the order of blocks. {place}, {metric_words(metric)} changes by {seen}."
        f" Without carry-over between blocks it may be {least} ({sure(alpha)})."
        f" Run more pairs or more loads. {_REMEDY}."
    )
    return Reason(code="order_not_excluded", cell=cell, metric=metric, message=message)


def fading(place: str, cell: str, metric: str, ends: tuple[float, float], asked: float) -> Reason:
    """That the gain falls in the course of the run below what was asked for; `ends` are fitted at the first and the last pair."""
    message = (
        f"Hold: the gain fades during the run. {place}, {metric_words(metric)} went from {signed(ends[0] - 1)} in the first pair"
        f" to {signed(ends[1] - 1)} in the last (target {signed(asked - 1)}). Check acceptance, memory, heat and prompts over"
        " time, then run longer."
    )
    return Reason(code="fading", cell=cell, metric=metric, message=message)


def slows_within_blocks(place: str, arm: ArmName, change: float, limit: float) -> str:
    """That one arm alone gets slower under load, which longer warm-up does not cure."""
    return (
        f"{place}, the {arm} arm slows down within its blocks, and the other does not."
        f" Its time per token grows by {figure(100 * change)} % from first half to second (limit {figure(100 * limit)} %)."
        " The ratio depends on the block length. Lengthen blocks (matrix.block.min_s) until it is stable."
    )
