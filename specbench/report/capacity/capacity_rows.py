"""The rows that the text and the page of a search for capacity share: both arms side by side, each limit, other limits."""

from dataclasses import dataclass

from specbench.explain import labels, numbers
from specbench.explain.capacity_sentences import band_words, interval_words, limit_words, machine_words, rate_words
from specbench.model.capacity.capacity_values import Bracket, CapacityResult, Crossing
from specbench.model.metrics import METRICS
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS

NONE = "–"


@dataclass(frozen=True, slots=True)
class ArmsRow:
    """One figure of both arms."""

    label: str
    baseline: str
    speculative: str


def capacity_rows(result: CapacityResult) -> tuple[ArmsRow, ...]:
    """The capacity of both arms, what binds, and the machines for the traffic; rows without a figure are left out."""
    arms, machines = result.arms, result.machines
    binding = {
        arm: next((limit_words(one.limit) for one in arms.of(arm).crossings if one.limit.metric == arms.of(arm).binding), NONE)
        for arm in ARMS
    }
    rows = [
        ArmsRow("Capacity, requests/s", rate_words(arms.baseline), rate_words(arms.speculative)),
        ArmsRow("90 % interval", *(interval_words(arms.of(arm).low, arms.of(arm).high) for arm in ARMS)),
        ArmsRow("Binding limit", binding["baseline"], binding["speculative"]),
        ArmsRow("Machines", machine_words(machines.baseline), machine_words(machines.speculative)),
        _bands("GPUs", result, "gpus", ""),
        _bands("Cost a month (730 h)", result, "cost_month", result.currency),
        _bands("Cost per million output tokens", result, "cost_per_million_tokens", result.currency),
        ArmsRow("Blocks and requests", *(f"{arms.of(arm).blocks}, {numbers.count(arms.of(arm).requests)}" for arm in ARMS)),
    ]
    return tuple(
        ArmsRow(row.label, row.baseline or NONE, row.speculative or NONE) for row in rows if row.baseline or row.speculative
    )


def limit_rows(result: CapacityResult) -> tuple[ArmsRow, ...]:
    """For each limit, up to which rate it holds."""
    pairs = zip(result.arms.baseline.crossings, result.arms.speculative.crossings, strict=True)
    return tuple(ArmsRow(limit_words(base.limit), _crossing(base), _crossing(spec)) for base, spec in pairs)


def other_limit_rows(result: CapacityResult) -> tuple[ArmsRow, ...]:
    """For other limits of the same metrics, between which probed rates they would be missed."""
    pairs = zip(result.arms.baseline.brackets, result.arms.speculative.brackets, strict=True)
    return tuple(
        ArmsRow(
            f"{labels.metric(base.metric)} ≤ {numbers.quantity(base.limit, METRICS[base.metric].unit)}", _held(base), _held(spec)
        )
        for base, spec in pairs
    )


def _bands(label: str, result: CapacityResult, field: str, currency: str) -> ArmsRow:
    both = PerArm(*(getattr(result.machines.of(arm), field, None) for arm in ARMS))
    return ArmsRow(label, band_words(both.baseline, currency), band_words(both.speculative, currency))


def _crossing(found: Crossing) -> str:
    if found.rate is not None:
        return f"{numbers.short(found.rate)} ({interval_words(found.low, found.high)})"
    if found.end == "not_reached":
        return f"above {numbers.short(found.tested[1])}"
    return f"missed at {numbers.short(found.tested[0])}" if found.end == "no_rate" else "not known"


def _held(found: Bracket) -> str:
    if found.held is None:
        return NONE if found.missed is None else f"below {numbers.short(found.missed)}"
    if found.missed is None:
        return f"above {numbers.short(found.held)}"
    return f"{numbers.short(found.held)} to {numbers.short(found.missed)}"
