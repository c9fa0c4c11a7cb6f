"""What a search for capacity found, in sentences: each arm's rate, the limit that binds, machines, what the figures rest on."""

from collections.abc import Sequence

from specbench.explain import labels, numbers
from specbench.model.capacity.capacity_values import ArmCapacity, Band, BlockShare, CapacityResult, Machines, ServiceLimit
from specbench.model.metrics import METRICS
from specbench.model.scenario import ARMS, ArmName

_ENDS = {
    "not_reached": "holds its limits at every rate that was tried, up to {highest} requests/s",
    "client": "no rate: the load generator could not keep up, or had too many requests under way at once",
    "too_little": "no rate: the blocks are too few or too uneven; give more --minutes",
}
OTHERS = "Other limits, from the same blocks: the highest probed rate that held, and the next one, which did not."
PEAK = "Traffic is taken as the peak, split at random over the machines. A good balancer needs no more machines."
ON_LIMITS = "The answer depends on the limits: looser or tighter ones can reverse it. See the other limits."
VIRTUAL = "Times are virtual: the embedded engine takes each step's time from a model of an accelerator."


def limit_words(limit: ServiceLimit) -> str:
    """A limit as people write it: 'TTFT p95 ≤ 400 ms', 'failed requests ≤ 1 %'."""
    if limit.metric == "error_rate":
        return f"{labels.metric(limit.metric)} ≤ {numbers.percent(limit.limit)}"
    return f"{labels.metric(limit.metric)} ≤ {numbers.quantity(limit.limit, METRICS[limit.metric].unit)}"


def rate_words(arm: ArmCapacity) -> str:
    """The capacity of one arm for a table: '4.1 requests/s', or why there is none."""
    if arm.rate is not None:
        return f"{numbers.short(arm.rate)}"
    return {"no_rate": "none", "not_reached": f"above {numbers.short(arm.highest_rate or 0.0)}"}.get(arm.end, "not known")


def interval_words(low: float | None, high: float | None) -> str:
    """An interval for a table; nothing where there is none."""
    return "" if low is None or high is None else f"{numbers.short(low)} to {numbers.short(high)}"


def machine_words(machines: Machines | None) -> str:
    """A range of machines: '5', '5 to 6'."""
    if machines is None:
        return ""
    return str(machines.fewest) if machines.fewest == machines.most else f"{machines.fewest} to {machines.most}"


def band_words(band: Band | None, currency: str) -> str:
    """A band of money or of GPUs: '12 to 14 EUR', '40 to 56'."""
    if band is None:
        return ""
    ends = [numbers.short(value) for value in (band.low, band.high)]
    return f"{ends[0] if ends[0] == ends[1] else ' to '.join(ends)}{f' {currency}' if currency else ''}"


def capacity_sentences(result: CapacityResult) -> tuple[str, ...]:
    """What was found, the answer first."""
    said = [_answer(result), *(_arm(result, arm) for arm in ARMS)]
    if result.ratio is not None:
        said.append(
            f"The speculative arm's capacity is {numbers.ratio(result.ratio)} times the baseline's"
            f" (90 %: {numbers.ratio(result.ratio_low)} to {numbers.ratio(result.ratio_high)})."
        )
    said.append(ON_LIMITS)
    if result.plan.traffic is not None:
        said.append(PEAK)
    if result.virtual:
        said.append(VIRTUAL)
    if result.finished is None:
        said.append("Partial search: it ended early, and only what was measured counts.")
    return (*said, *result.problems)


def _answer(result: CapacityResult) -> str:
    match result.comparison:
        case "only_speculative":
            return f"The baseline cannot at any rate hold {_missed(result, 'baseline')}; the speculative arm can."
        case "only_baseline":
            return f"The speculative arm cannot at any rate hold {_missed(result, 'speculative')}; the baseline can."
        case "neither":
            return "Neither arm can hold its limits at any rate."
        case "not_known":
            return "Not known: the search did not find the capacity of both arms."
        case "no_difference":
            return _alike(result)
        case "fewer" | "more":
            return _apart(result)


def _apart(result: CapacityResult) -> str:
    before, after = result.machines.baseline, result.machines.speculative
    more = result.comparison == "more"
    if before is None or after is None:
        return f"One machine serves {'less' if more else 'more'} traffic with speculation."
    words = f"{machine_words(before)} become {machine_words(after)}"
    return f"Speculation needs {'more' if more else 'fewer'} machines: {words}, for {_traffic(result)}."


def _alike(result: CapacityResult) -> str:
    before, after = result.machines.baseline, result.machines.speculative
    if before is None or after is None:
        return "No difference in capacity is shown."
    fewest, most = min(before.fewest, after.fewest), max(before.most, after.most)
    words = str(fewest) if fewest == most else f"{fewest} to {most}"
    return f"{words} machine{'' if most == 1 else 's'} either way for {_traffic(result)}: no difference shown."


def _traffic(result: CapacityResult) -> str:
    return f"{numbers.short(result.plan.traffic or 0.0)} requests/s with {numbers.percent(result.plan.headroom)} headroom"


def _missed(result: CapacityResult, arm: ArmName) -> str:
    missed = [one.limit for one in result.arms.of(arm).crossings if one.end == "no_rate"]
    return " and ".join(limit_words(limit) for limit in missed)


def _arm(result: CapacityResult, arm: ArmName) -> str:
    found = result.arms.of(arm)
    name = {"baseline": "Baseline", "speculative": "Speculative arm"}[arm]
    if found.rate is not None:
        limit = next(one.limit for one in found.crossings if one.limit.metric == found.binding)
        return (
            f"{name}: {numbers.short(found.rate)} requests/s (90 %: {interval_words(found.low, found.high)});"
            f" {limit_words(limit)} binds."
        )
    if found.end == "no_rate":
        return f"{name}: misses {_missed(result, arm)} even at {numbers.short(found.lowest_rate or 0.0)} requests/s."
    return f"{name}: {_ENDS[found.end].format(highest=numbers.short(found.highest_rate or 0.0))}."


def block_line(arm: ArmName, number: int, shares: Sequence[BlockShare], limits: Sequence[ServiceLimit]) -> str:
    """How one block of a search ended, for those who wait."""
    rate = numbers.short(shares[0].rate) if shares else ""
    parts = [f"{numbers.percent(one.share)} within {limit_words(limit)}" for one, limit in zip(shares, limits, strict=True)]
    late = "" if all(one.fit for one in shares) else "; the load generator did not keep up"
    return f"{arm}, block {number}, {rate} requests/s, {numbers.one_of(shares[0].requests, 'request')}: {', '.join(parts)}{late}"


def share_title(limit: ServiceLimit, blocks: int) -> str:
    """What the chart of one limit shows, for those who hear it."""
    return f"Share of the requests within {limit_words(limit)} by rate, {blocks} blocks of both arms."
