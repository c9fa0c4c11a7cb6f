"""From the capacity of one machine to the machines that traffic needs, and what they cost; arrivals split at random."""

from math import ceil

from specbench.model.capacity.capacity_values import ArmCapacity, Band, Comparison, Machines
from specbench.model.result import PerArm

HOURS_A_MONTH = 730
SECONDS_A_MONTH = HOURS_A_MONTH * 3600
MILLION = 1e6
ROUNDING = 1e-9


def machines_for(
    capacity: ArmCapacity, traffic: float, headroom: float, price_per_hour: float | None, gpus: float | None
) -> Machines | None:
    """How many machines keep the limits at this traffic, by both ends of the interval; None without a capacity.

    N = traffic ÷ (capacity · (1 - headroom)), rounded up. Month = 730 h; per million output tokens = cost of a month ÷ the
    output tokens of that traffic in a month.

    Args:
        traffic: Requests per second.
        headroom: The share of the capacity that stays free.
        price_per_hour: Of one machine.
        gpus: Of one machine.
    """
    if capacity.low is None or capacity.high is None:
        return None
    fewest, most = (_needed(traffic, rate, headroom) for rate in (capacity.high, capacity.low))
    month = None if price_per_hour is None else Band(*(count * HOURS_A_MONTH * price_per_hour for count in (fewest, most)))
    tokens = capacity.output_tokens_mean
    millions = None if not tokens else traffic * SECONDS_A_MONTH * tokens / MILLION
    return Machines(
        fewest=fewest,
        most=most,
        gpus=None if gpus is None else Band(fewest * gpus, most * gpus),
        cost_month=month,
        cost_per_million_tokens=None if month is None or not millions else Band(month.low / millions, month.high / millions),
    )


def compared(arms: PerArm[ArmCapacity], machines: PerArm[Machines | None], ratio: tuple[float, float] | None) -> Comparison:
    """Which arm needs fewer machines: by traffic where the ranges do not meet, without traffic by the interval of the ratio."""
    base, spec = arms.baseline, arms.speculative
    if base.end == "no_rate" or spec.end == "no_rate":
        if base.end == spec.end:
            return "neither"
        other = spec if base.end == "no_rate" else base
        if other.end not in ("found", "not_reached"):
            return "not_known"
        return "only_speculative" if base.end == "no_rate" else "only_baseline"
    before, after = machines.baseline, machines.speculative
    if before is not None and after is not None:
        if after.most < before.fewest:
            return "fewer"
        return "more" if after.fewest > before.most else "no_difference"
    if ratio is None:
        return "not_known"
    return "fewer" if ratio[0] > 1 else "more" if ratio[1] < 1 else "no_difference"


def _needed(traffic: float, rate: float, headroom: float) -> int:
    return max(1, ceil(traffic / (rate * (1 - headroom)) - ROUNDING))
