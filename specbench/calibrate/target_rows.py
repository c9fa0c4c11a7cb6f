"""Rows of the table: a share with its exact interval, held against what was asked.

What is asked of which campaign is in `targets.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from specbench.analysis.stats.rates import share_upper_bound
from specbench.calibrate.whole_runs import Outcome
from specbench.explain.numbers import tenths

State = Literal["met", "missed", "not built", "not run", "shown"]
Event = Callable[[Outcome], bool]


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target: what was asked, of how many runs, what came out, and whether that meets it."""

    id: str
    claim: str
    asked: str
    runs: int
    found: str
    state: State


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """`hits` of `runs`, with the exact interval of 95 % (Clopper and Pearson 1934)."""

    hits: int
    runs: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.hits / self.runs

    @property
    def low(self) -> float:
        """The lower end."""
        return 1.0 - ErrorRate(self.runs - self.hits, self.runs).high

    @property
    def high(self) -> float:
        """The upper end."""
        bound = share_upper_bound(self.hits, self.runs, 0.025)
        assert bound is not None
        return bound

    def __str__(self) -> str:
        return f"{self.hits} of {self.runs}: {percent(self.value)} ({percent(self.low)} to {percent(self.high)})"


def percent(share: float) -> str:
    """The share in percent, one decimal where it is not whole."""
    return tenths(share).replace(".0 %", " %")


def share_of(outcomes: Sequence[Outcome], event: Event) -> ErrorRate | None:
    """How often the event was seen; None where nothing was run."""
    return ErrorRate(sum(1 for outcome in outcomes if event(outcome)), len(outcomes)) if outcomes else None


def at_most(id: str, claim: str, share: ErrorRate | None, limit: float, upper: float | None = None) -> TargetRow:
    """A row that is met where the share is at most `limit`, and the upper end of its interval at most `upper` if one is asked."""
    asked = f"at most {percent(limit)}" + (f", upper end at most {percent(upper)}" if upper is not None else "")
    if share is None:
        return TargetRow(id, claim, asked, 0, "", "not run")
    met = share.value <= limit and (upper is None or share.high <= upper)
    return TargetRow(id, claim, asked, share.runs, str(share), "met" if met else "missed")


def at_least(id: str, claim: str, share: ErrorRate | None, limit: float) -> TargetRow:
    """A row that is met where the share is at least `limit`."""
    asked = f"at least {percent(limit)}"
    if share is None:
        return TargetRow(id, claim, asked, 0, "", "not run")
    return TargetRow(id, claim, asked, share.runs, str(share), "met" if share.value >= limit else "missed")


def shown(id: str, claim: str, share: ErrorRate | None) -> TargetRow:
    """A row without a target."""
    if share is None:
        return TargetRow(id, claim, "shown", 0, "", "not run")
    return TargetRow(id, claim, "shown", share.runs, str(share), "shown")
