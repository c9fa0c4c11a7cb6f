"""What speculation costs: what gets worse inside the range, memory, money per output token. Prices are labels of the run.

`price_per_hour` is the price of one arm's machine, or of one of its GPUs where `gpus` says how many it has;
`price_per_hour_baseline` and `price_per_hour_speculative` tell the arms apart, `currency` names the unit. No verdict depends on
anything here.
"""

import math
from dataclasses import dataclass

from specbench.explain import labels, numbers
from specbench.model import queries
from specbench.model.result import CellResult, Finding, Result
from specbench.model.scenario import ArmName

SECONDS_PER_HOUR = 3600
TOKENS_PRICED = 1_000_000
SIDE_EFFECTS = 4  # named; the others are counted


@dataclass(frozen=True, slots=True)
class CellCost:
    """Cost of an output token in one cell: the ratio of the arms, and per million tokens where a price is known."""

    load: str
    ratio: float | None
    baseline: float | None
    speculative: float | None


def prices(labels: dict[str, str]) -> dict[ArmName, float | None]:
    """The hourly price of each arm's machine, all its GPUs together; None where no label holds a positive number."""
    return {"baseline": _price(labels, "baseline"), "speculative": _price(labels, "speculative")}


def _price(labels: dict[str, str], arm: ArmName) -> float | None:
    price = positive_number(labels.get(f"price_per_hour_{arm}", labels.get("price_per_hour", "")))
    return None if price is None else price * (positive_number(labels.get("gpus", "")) or 1.0)


def positive_number(text: str) -> float | None:
    """The label as a number; None where it is no positive one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def cell_cost(cell: CellResult, labels: dict[str, str]) -> CellCost:
    """What an output token costs there.

    price per hour ÷ (output tokens per second · 3600) · 1,000,000; without prices the ratio assumes equal machines.
    """
    price = prices(labels)
    found = queries.comparison(cell, "output_tps")
    tps = found.value if found is not None else None
    values = {arm: _per_million(price[arm], tps.of(arm) if tps is not None else None) for arm in price}
    base, spec = price["baseline"], price["speculative"]
    factor = spec / base if base is not None and spec is not None else 1.0
    ratio = factor / found.ratio if found is not None and found.ratio else None
    return CellCost(load=numbers.load(cell.axes), ratio=ratio, baseline=values["baseline"], speculative=values["speculative"])


def _per_million(price: float | None, tokens_per_s: float | None) -> float | None:
    return price / (tokens_per_s * SECONDS_PER_HOUR) * TOKENS_PRICED if price is not None and tokens_per_s else None


def cost(result: Result) -> tuple[str, str]:
    """The cost of switching speculation on, in a few words and in sentences."""
    if result.verdict == "INVALID":
        return "Unknown", "The run is INVALID, so no cost is known."
    enabled = queries.enabled(result)
    cells = enabled or result.cells
    told = [cell_cost(cell, result.run.labels) for cell in cells]
    known = sorted(((found.ratio, found) for found in told if found.ratio is not None), key=lambda pair: pair[0])
    if not known:
        return "Not measured", "Throughput was not measured, so no cost is known."
    (low, cheapest), (high, dearest) = known[0], known[-1]
    priced = all(prices(result.run.labels).values())
    what, equal = ("cost", "") if priced else ("machine time", ", on equal machines")
    span = f"{numbers.change(low)} at {cheapest.load}"
    if len(known) > 1:
        span += f", {numbers.change(high)} at {dearest.load}"
    virtual = " (virtual time)" if queries.virtual(result) else ""
    money = f"{what} per output token: {span}{virtual}{equal}.{_money(result, cheapest, dearest)}"
    worse = _getting_worse(cells)
    effects = _side_effects(worse) + _memory(cells)
    if not enabled:
        return "Nothing while it is off", f"With speculation on: {money} {effects}"
    first = worse[0] if worse else "No required metric gets worse"
    return f"{first}; machine time {_short(low, high)}", f"{effects} {money[0].upper()}{money[1:]}"


def _short(low: float, high: float) -> str:
    ends = [numbers.change(low), numbers.change(high)]
    if ends[0] == ends[1]:
        return f"{ends[0]} per token"
    if high < 1:
        return f"{numbers.percent(1 - high)} to {ends[0]} per token"
    return f"{ends[0]} to {ends[1]} per token"


def _money(result: Result, *found: CellCost) -> str:
    currency = result.run.labels.get("currency", "")
    lines = [
        f"{numbers.number(one.baseline)} → {numbers.number(one.speculative)} at {one.load}"
        for one in dict.fromkeys(found)
        if one.baseline is not None and one.speculative is not None
    ]
    return f" Per million output tokens{f' in {currency}' if currency else ''}: {'; '.join(lines)}." if lines else ""


def _getting_worse(cells: tuple[CellResult, ...]) -> list[str]:
    """Each required metric that gets worse, at the load where it is worst, the worst first."""
    worst: dict[str, tuple[float, str]] = {}
    for cell in cells:
        for found in cell.findings:
            harm = _harm(found) if found.required else 0.0
            if harm > max(1.0, worst.get(found.metric, (0.0, ""))[0]):
                worst[found.metric] = harm, f"{labels.metric(found.metric)} {_worse(found)} at {numbers.load(cell.axes)}"
    return [text for _, text in sorted(worst.values(), key=lambda one: -one[0])]


def _side_effects(worse: list[str]) -> str:
    if not worse:
        return "Worse: no required metric."
    more = f"; {len(worse) - SIDE_EFFECTS} more" if len(worse) > SIDE_EFFECTS else ""
    return f"Worse: {'only ' if len(worse) == 1 else ''}{'; '.join(worse[:SIDE_EFFECTS])}{more}."


def _harm(found: Finding) -> float:
    """How many times worse; infinite beyond any limit, 0 where nothing is known or no direction is the better one."""
    if found.state == "FAIL" and found.ratio is None:
        return math.inf
    if not found.ratio or found.direction == "equal":
        return 0.0
    return 1 / found.ratio if found.direction == "higher" else found.ratio


def _worse(found: Finding) -> str:
    """'+5 %', '×2.96' beyond double, and how that stands to its limit."""
    if found.ratio is None:
        return "beyond any limit"
    change = found.ratio - 1
    size = f"{'+' if change > 0 else '−'}{numbers.percent(abs(change))}" if change < 1 else f"×{numbers.ratio(found.ratio)}"
    allowed = {"PASS": "within its limit", "FAIL": "past its limit"}.get(found.state, "open")
    return f"{size} ({allowed})"


def _memory(cells: tuple[CellResult, ...]) -> str:
    """The highest use of GPU memory of both arms, the draft's included; that it is not reported, where it is not."""
    for cell in reversed(cells):
        found = queries.comparison(cell, "memory")
        if found is not None and found.value.baseline is not None and found.value.speculative is not None:
            before, after = (numbers.quantity(value, found.unit) for value in (found.value.baseline, found.value.speculative))
            return f" GPU memory: {before} → {after} at {numbers.load(cell.axes)}."
    return " Draft memory: not reported."
