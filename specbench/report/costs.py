"""What speculation costs: money per output token, and its worst side effect inside the range. Prices come as labels of the run.

`price_per_hour` is the price of one arm's machines; `price_per_hour_baseline` and `price_per_hour_speculative` tell the arms
apart, `currency` names the unit. No verdict depends on anything here.
"""

from dataclasses import dataclass

from specbench.model.asked import ArmName
from specbench.model.judged import CellResult, Result
from specbench.report import names, parts, wording

SECONDS_PER_HOUR = 3600
TOKENS_PRICED = 1_000_000
WORSE_IN_PERCENT = 2.0  # beyond it percent read badly


@dataclass(frozen=True, slots=True)
class CellCost:
    """Cost of an output token in one cell: the ratio of the arms, and per million tokens where a price is known."""

    load: str
    ratio: float | None
    baseline: float | None
    speculative: float | None


def prices(labels: dict[str, str]) -> dict[ArmName, float | None]:
    """The hourly price of each arm; None where no label holds a positive number."""
    return {"baseline": _price(labels, "baseline"), "speculative": _price(labels, "speculative")}


def _price(labels: dict[str, str], arm: ArmName) -> float | None:
    text = labels.get(f"price_per_hour_{arm}", labels.get("price_per_hour", ""))
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
    found = parts.comparison(cell, "output_tps")
    tps = found.value if found is not None else None
    values = {arm: _per_million(price[arm], tps.of(arm) if tps is not None else None) for arm in price}
    base, spec = price["baseline"], price["speculative"]
    factor = spec / base if base is not None and spec is not None else 1.0
    ratio = factor / found.ratio if found is not None and found.ratio else None
    return CellCost(load=wording.load(cell.axes), ratio=ratio, baseline=values["baseline"], speculative=values["speculative"])


def _per_million(price: float | None, tokens_per_s: float | None) -> float | None:
    return price / (tokens_per_s * SECONDS_PER_HOUR) * TOKENS_PRICED if price is not None and tokens_per_s else None


def cost(result: Result) -> tuple[str, str]:
    """The cost of switching speculation on, in a few words and in sentences."""
    if result.verdict == "INVALID":
        return "Cannot be said", "The measurement carries no judgement of any cost."
    enabled = parts.enabled(result)
    cells = enabled or result.cells
    told = [cell_cost(cell, result.run.labels) for cell in cells]
    known = sorted(((found.ratio, found) for found in told if found.ratio is not None), key=lambda pair: pair[0])
    if not known:
        return "Not measured", "No throughput was measured, so no cost can be told."
    (low, cheapest), (high, dearest) = known[0], known[-1]
    equal = "" if all(prices(result.run.labels).values()) else ", on equal machines"
    span = f"{wording.change(low)} at {cheapest.load}"
    if len(known) > 1:
        span += f", {wording.change(high)} at {dearest.load}"
    virtual = " (by the virtual times of the embedded engine)" if parts.virtual(result) else ""
    details = f" in machine time{equal}: {span}{virtual}.{_money(result, cheapest, dearest)}{_side_effect(cells)}"
    if not enabled:
        return "Nothing while it is off", f"Money: if it were on, an output token would cost{details}"
    return _short(low, high), f"Money: an output token costs{details}"


def _short(low: float, high: float) -> str:
    ends = [wording.change(low), wording.change(high)]
    if ends[0] == ends[1]:
        return f"{ends[0]} a token"
    if high < 1:
        return f"{wording.percent(1 - high)} to {ends[0]} a token"
    return f"{ends[0]} to {ends[1]} a token"


def _money(result: Result, *found: CellCost) -> str:
    currency = result.run.labels.get("currency", "")
    lines = [
        f"{wording.number(one.baseline)} before and {wording.number(one.speculative)} with it at {one.load}"
        for one in dict.fromkeys(found)
        if one.baseline is not None and one.speculative is not None
    ]
    return f" Per million output tokens{f' in {currency}' if currency else ''}: {'; '.join(lines)}." if lines else ""


def _side_effect(cells: tuple[CellResult, ...]) -> str:
    """The side effect: the required metric that got worse the most, as a sentence; that nothing did, where nothing did."""
    judged = [(found, wording.load(cell.axes)) for cell in cells for found in cell.findings if found.required]
    beyond = [(found.metric, load) for found, load in judged if found.state == "FAIL" and found.ratio is None]
    if beyond:
        return f" What gets worse: {names.metric(beyond[0][0])}, beyond any limit at {beyond[0][1]}."
    harms = [
        (1 / found.ratio if found.direction == "higher" else found.ratio, found.metric, load, found.state)
        for found, load in judged
        if found.ratio and found.direction != "equal"
    ]
    if not harms:
        return ""
    harm, metric, load, state = max(harms)
    if harm <= 1:
        return " What gets worse: no required metric."
    worse = f"{wording.percent(harm - 1)} worse" if harm < WORSE_IN_PERCENT else f"worse by a factor of {wording.ratio(harm)}"
    allowed = {"PASS": ", which its limit allows", "FAIL": ", past its limit"}.get(state, ", not settled against its limit")
    return f" What gets worse: most of all {names.metric(metric)}, {worse} at {load}{allowed}."
