"""Runs in their order: each quantity of each load as a series, where its level changed, and which facts changed there."""

from dataclasses import dataclass
from typing import Literal

WhyNotUsed = Literal["partial", "invalid_run", "invalid_load", "copy", "no_value", "unreadable"]
WhyNotTested = Literal["too_few_runs"]
FEWEST_RUNS = 8  # of a series that is tested
MOST_P = 0.01  # of a change
LEAST_CHANGE = 0.03  # of a level, as a share


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRun:
    """One run: its folder's name, and the facts on record; `why_not` where no series uses it, with what is wrong in `problem`."""

    run: str
    started: str
    scenario: str = ""
    verdict: str = ""
    facts: dict[str, str] | None = None
    why_not: WhyNotUsed | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """One run in one series: the value that is tested with its 95 % bounds, and both arms' own.

    `value` is the ratio, speculative ÷ baseline, or what is told of the speculative arm alone.
    """

    run: str
    started: str
    verdict: str
    value: float | None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    speculative: float | None = None
    alpha: float | None = None
    se_log: float | None = None
    why_not: WhyNotUsed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """A fact that is another one on either side of a change; `runs_away` 0 at the change itself, else how many runs later.

    `held`: it has one value from the change before to this one, and one from here to the next.
    """

    fact: str
    before: str | None
    after: str | None
    runs_away: int
    held: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChange:
    """From this run on the series has another level. `within_error`: the runs' own errors explain as much."""

    run: str
    started: str
    number: int  # of the run among those that the series uses, from 1
    before: float
    after: float
    p: float
    within_error: bool
    facts: tuple[FactChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySeries:
    """One quantity at one load of one scenario. Demonstrations, A/A runs and exchanged arms are series of their own."""

    scenario: str
    demonstration: bool
    design: str
    cell: str
    load: str
    metric: str
    unit: str
    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...]
    why_not_tested: WhyNotTested | None = None

    @property
    def used(self) -> tuple[HistoryPoint, ...]:
        """The points that are tested."""
        return tuple(one for one in self.points if one.why_not is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHistory:
    """All runs of a folder, oldest first, and their series."""

    folder: str
    runs: tuple[HistoryRun, ...]
    series: tuple[HistorySeries, ...]

    @property
    def tested(self) -> int:
        """How many series were searched for changes."""
        return sum(one.why_not_tested is None for one in self.series)
