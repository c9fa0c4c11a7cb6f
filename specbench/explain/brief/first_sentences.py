"""The sentences of a page's first screen: what speculation gains, what it costs, what is open, each with both arms' figures.

Values in, text out. Which rows get one is decided by `report/view/first_screen.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from specbench.explain.numbers import count, listed, one_of
from specbench.model.metrics import METRICS
from specbench.model.result import FindingState

# What happens to a user, by the quantity that is measured: before the two figures, and behind them.
_HAPPENS = {
    "tpot": "each token takes",
    "itl": "the time between tokens is",
    "ttft": "the first token takes",
    "ttft_paired": "the first token takes",
    "pace": "over 8 tokens in a row each takes",
    "e2e": "a whole answer takes",
    "output_tps": "throughput is",
    "completed_rps": "the server completes",
}
_UNITS = {"output_tps": "tok/s", "completed_rps": "requests/s"}
PANELS = {
    "tpot": "Time per token",
    "itl": "Between tokens",
    "ttft": "First token",
    "ttft_paired": "First token",
    "pace": "Pace of reading",
    "e2e": "Whole answer",
    "output_tps": "Throughput",
    "completed_rps": "Requests done",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTexts:
    """One row of a table as a sentence tells it: texts of the row's fields."""

    metric: str
    label: str
    before: str
    after: str
    changed: str
    assured: str  # the end of its interval on which a pass rests, as a change
    limit: str
    state: FindingState | None


class RequestCounts(NamedTuple):
    """How many requests came to an end of their own, how many of them failed, and how many were cut with their block."""

    ended: int
    failed: int
    cut: int


def quantity_of(metric: str) -> str:
    """What the metric measures, without its percentile."""
    known = METRICS.get(metric)
    return metric if known is None else known.quantity


def panel_title(metric: str, label: str) -> str:
    """The heading of a chart, in everyday words."""
    return PANELS.get(quantity_of(metric), label)


def better_when(metric: str) -> str:
    """Which way is better."""
    known = METRICS.get(metric)
    return "higher is better" if known is not None and known.direction == "higher" else "lower is better"


def gain(load: str, row: RowTexts) -> str:
    """The benefit at the load that must show it, whether shown, ruled out or open."""
    if row.state == "PASS":
        return f"At {load} {_figures(row, sure=True)}."
    how = "that gain is ruled out" if row.state == "FAIL" else "that gain is not shown"
    return f"At {load} {_figures(row, aim='goal')}: {how}."


def also(load: str, row: RowTexts) -> str:
    """A change at another load, which nobody had to show."""
    return f"At {load} {_figures(row)}."


def failed(load: str, row: Sequence[RowTexts], more: Sequence[str]) -> str:
    """What got worse than its limit at this load: some with their figures, more of them by name."""
    said = [f"{figures[0].upper()}{figures[1:]}." for figures in (_figures(one, aim="limit") for one in row[1:])]
    said += [f"Also past {'its limit' if len(more) == 1 else 'their limits'}: {_few(more)}."] if more else []
    return " ".join([f"At {load} {_figures(row[0], aim='limit')}.", *said])


def open_checks(load: str, row: RowTexts, more: Sequence[str]) -> str:
    """What is neither passed nor failed at this load."""
    figures = f"{row.before} → {row.after}{unit_of(row.metric)} ({row.changed}{_limit(row)})"
    return f"At {load} {row.label} is open: {figures}{_also_open(more)}."


def without_figure(load: str, label: str, more: Sequence[str]) -> str:
    """What could not be judged at this load, as it has no figure."""
    return f"At {load} {label} has no figure{_also_open(more)}."


def _also_open(names: Sequence[str]) -> str:
    return f"; also open: {_few(names)}" if names else ""


def _few(names: Sequence[str], most: int = 4) -> str:
    return listed([*names[:most], f"{len(names) - most} more"] if len(names) > most else names)


def worse(load: str, row: RowTexts, judged: bool) -> str:
    """What got worse though nothing failed: inside its limit, or only reported."""
    how = "within its limit" if judged else "reported, not judged"
    figures = f"{row.before} → {row.after}{unit_of(row.metric)} ({row.changed}{_limit(row)})"
    return f"Worse, {how}: {row.label} at {load}, {figures}."


NOTHING_WORSE = "No judged metric is measurably worse."


def first_look(pairs: int, profile: str) -> str:
    """How many pairs the run has, and what that is enough for."""
    count = f"{one_of(pairs, 'pair')} a load"
    return f"{count}: a first look; the standard profile runs 10." if pairs < 10 else f"{count} ({profile})."


def trust(checks: int, broken: int, requests: RequestCounts) -> str:
    """How many of the checks of the measurement itself failed, and how many requests, where any were sent."""
    checked = f"{count(broken)} of {count(checks)} integrity checks"
    return f"{checked} and {answered(requests)}" if requests.ended or requests.cut else f"{checked} failed"


def answered(requests: RequestCounts) -> str:
    """How many requests failed of those that ended; what is cut with its block neither failed nor succeeded."""
    cut = f" ({count(requests.cut)} cut at block ends)" if requests.cut else ""
    return f"{count(requests.failed)} of {count(requests.ended)} requests failed{cut}"


def _figures(row: RowTexts, aim: str = "", sure: bool = False) -> str:
    happens = _HAPPENS.get(quantity_of(row.metric))
    unit = unit_of(row.metric)
    name = f"{row.label}, " if happens is not None and row.metric not in _UNITS else ""
    assured = f"; at least {row.assured} with 95 % confidence" if sure and row.assured else ""
    change = f"({name}{row.changed}{_limit(row, aim) if aim else ''}{assured})"
    return f"{happens or f'{row.label} is'} {row.after}{unit} instead of {row.before}{unit} {change}"


def bare_limit(row: RowTexts) -> str:
    """The limit as it was asked for, without the sign that says which side of it is allowed."""
    return row.limit.removeprefix("≤ ").removeprefix("≥ ")


def _limit(row: RowTexts, aim: str = "limit") -> str:
    return f"; {aim} {bare_limit(row)}" if row.limit else ""


def unit_of(metric: str) -> str:
    """The unit behind a figure of the metric, with a space before it; '' where it has none or the figure holds it."""
    known = METRICS.get(metric)
    unit = _UNITS.get(metric, "ms" if metric == "ttft_paired" else "" if known is None else known.unit)
    return "" if unit in ("", "share", "tokens", "bytes", "events", "requests") else f" {unit}"
