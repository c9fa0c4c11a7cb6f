"""What a comparison of two files or runs says: of other tools' results, which never decide, and of two runs of our own."""

from dataclasses import dataclass
from typing import Literal

from specbench.model.data.imported import ImportedFile, NotCompared
from specbench.model.result import Direction, PerArm

ImportedWord = Literal["INVALID", "ROLLBACK", "HOLD"]  # there is no other: no import can promote
Indication = Literal["faster", "slower", "alike", "mixed", "unclear"]
RunDifference = Literal["better", "worse", "alike", "unclear"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMetric:
    """One metric at one load: our name and theirs, both values, and their ratio with its 95 % interval.

    `indication` is None where one run tells nothing (tails), or nothing is to be indicated; `reason` is a code.
    """

    ours: str
    theirs: str
    difference: str | None
    unit: str
    direction: Direction
    baseline: float | None
    speculative: float | None
    ratio: float | None
    low: float | None
    high: float | None
    n: PerArm[int | None]
    same_prompts: bool
    indication: Indication | None
    reason: str | None = None
    p_harm: float | None = None  # over runs, of harm past the default limit; None with fewer than four runs an arm


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCell:
    """All metrics at one load of the tool's own."""

    load: str
    runs: PerArm[int]
    attempted: PerArm[int | None]
    failed: PerArm[int | None]
    indication: Indication
    metrics: tuple[ImportedMetric, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedReason:
    """Why the verdict is what it is; `code` is stable for scripts."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedComparison:
    """Two arms as another tool measured them. `integrity` is a single word: nothing of it can be known from such files."""

    kind: Literal["imported"] = "imported"
    tool: str
    tool_version: PerArm[str | None]
    files: PerArm[tuple[ImportedFile, ...]]
    verdict: ImportedWord
    exit_code: int
    indication: Indication
    reasons: tuple[ComparedReason, ...]
    between_runs: float
    between_measured: bool
    cells: tuple[ImportedCell, ...]
    not_compared: tuple[NotCompared, ...]
    notes: tuple[str, ...]
    integrity: str = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetric:
    """One metric in one cell of two runs of ours: each run's ratio, and the ratio of the two with its interval."""

    metric: str
    cell: str
    direction: Direction
    before: float | None
    after: float | None
    ratio: float | None
    low: float | None
    high: float | None
    p_adjusted: float | None
    required: bool
    word: RunDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs of ours: what differs in how they were made, and what differs in what speculation did."""

    kind: Literal["runs"] = "runs"
    before: str
    after: str
    word: RunDifference
    exit_code: int
    differences: tuple[str, ...]
    metrics: tuple[RunMetric, ...]
    reasons: tuple[ComparedReason, ...]
