"""What is tried to find a speculation setting, what came out, and what a later run confirms: values of `tune.json`."""

from dataclasses import dataclass, field
from typing import Any, Literal

FORMAT_VERSION = 1
BASELINE = "off"  # the name of the baseline among the candidates
DEPTH = "num_speculative_tokens"
CandidateState = Literal["tried", "dropped", "failed"]
SettingKind = Literal["off", "static", "table", "capped"]
EnforcedBy = Literal["engine", "router"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunePlan:
    """What a scenario says is to be tried: values of one key of `speculative:`, or whole blocks of it."""

    vary: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    candidates: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One setting that is tried; `name` is its folder's too. `depth` is 0 where its method names none."""

    name: str
    depth: int
    speculative: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCandidate:
    """A candidate, in how many series it was started, and why no more: `dropped` as surely not the best, or `failed`."""

    candidate: Candidate
    state: CandidateState
    series: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigure:
    """One candidate at one load: its figure ÷ the baseline's. `ruled_out` says why it may not be picked there.

    `predicted`: the same by a run at another depth of its method.
    """

    candidate: str
    ratio: float | None
    ruled_out: str | None = None
    predicted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPick:
    """The pick at one load, and how sure it is that none is better by more than `within`. None: nothing may be picked.

    The figure of a pick was chosen for being the best: not for quoting. `better_untried`: depths that are predicted to beat it.
    """

    streams: int
    pick: str | None
    sure: float | None
    next_best: str | None
    figures: tuple[LoadFigure, ...]
    better_untried: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The picks in the engine's own words.

    `rows`: [lowest, highest, tokens] by batch size, where it is a table. `cap`: the most streams that a router may send to it,
    where the engine has no table. `speculative`: what the arm's block becomes; `file`: name and text of a file in the words.
    """

    engine: str
    kind: SettingKind
    speculative: dict[str, Any] | None
    rows: tuple[tuple[int, int, int], ...] = ()
    cap: int | None = None
    words: str = ""
    file: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRules:
    """How a tune picks: the metric, and the options of its command."""

    metric: str
    within: float
    sure: float
    series: int
    blocks: int
    primary: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tune:
    """A whole tune, as `tune.json` holds it. `finished` is None while it runs, and in one that was cut off: then no setting.

    `start_sd`: how far starts differ, on the log scale, pooled over loads with its degrees of freedom. `settled`: whether every
    pick is as sure as asked. `schedule` is the scenario's own, in which a run confirms the setting.
    """

    format_version: int
    id: str
    name: str
    tool_version: str
    started: str
    finished: str | None
    engine: str
    schedule: Literal["alternate", "simultaneous", "restart"]
    rules: TuneRules
    candidates: tuple[TriedCandidate, ...]
    series: int
    starts: int
    loads: tuple[LoadPick, ...]
    start_sd: float | None
    start_df: int
    settled: bool
    setting: Setting | None
    problems: tuple[str, ...] = ()

    @property
    def picked(self) -> bool:
        """Whether it ended with a pick at every load."""
        return self.finished is not None and bool(self.loads) and all(load.pick is not None for load in self.loads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a run confirms: a setting, or a cap, proposed by the run or tune of that id; `try_number` counts from 1.

    `source`: the folder as it was given.

    `cap`: the most streams, where a router enforces it. `thresholds`: batch sizes after which the setting changes.
    `off_above`: the batch size above which the engine's table drafts nothing, None where it drafts at every one.
    """

    of: str
    try_number: int
    setting: str
    enforced_by: EnforcedBy
    source: str = ""
    cap: int | None = None
    thresholds: tuple[int, ...] = ()
    off_above: int | None = None
