"""What was concluded: estimates, findings, the verdict and the whole result as `result.json` holds it (strict JSON)."""

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from specbench.model.answers.shown_answers import ShownAnswers
from specbench.model.run_info import Config, EndpointInfo, RunInfo
from specbench.model.scenario import DECIDING, ArmName, Role, StartSd
from specbench.model.shown import AnswerTexts, BlockSample, Distribution, RampCourse, Timeline

T = TypeVar("T")
VerdictWord = Literal["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"]
FindingState = Literal["PASS", "FAIL", "INCONCLUSIVE", "NODATA"]
CellState = Literal["PASS", "FAIL", "INCONCLUSIVE", "NODATA", "INVALID", "ADVISORY"]
Direction = Literal["lower", "higher", "equal"]
OPEN: tuple[FindingState, FindingState] = ("INCONCLUSIVE", "NODATA")  # neither passed nor failed


@dataclass(frozen=True, slots=True)
class PerArm(Generic[T]):
    """The same quantity for both arms."""

    baseline: T
    speculative: T

    def of(self, arm: ArmName) -> T:
        """The value of that arm."""
        return self.baseline if arm == "baseline" else self.speculative


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmEstimate:
    """The speculative arm's own figure over all of its blocks that tell it, whatever the baseline tells: for absolute limits.

    `value`, `bound`, `unbounded` and `p_unbounded` are what a `Comparison` has of the pairs with a figure in both arms.
    """

    value: float | None = None
    bound: float | None = None
    blocks: int = 0
    unbounded: bool = False
    p_unbounded: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One metric in one cell: both arms' values and their ratio (speculative ÷ baseline) with its interval.

    The whole inference is log ratio ± t(df) · `se_log`; a value that cannot be had is None, and `reason` says why.
    """

    metric: str  # its id
    unit: str  # of `value` and `bound`
    definition: str
    direction: Direction  # which way is better
    value: PerArm[float | None]
    n: PerArm[int]  # samples behind each value: times, requests or steps; blocks of a rate
    ratio: float | None
    ci_low: float | None  # of the ratio, two-sided
    ci_high: float | None
    ci_level: float  # a probability, such as 0.95
    method: str  # how the interval was made
    n_blocks: int  # pairs of blocks behind the interval
    design_effect: float | None  # how far clustering in blocks inflates the variance of a percentile
    se_log: float | None  # standard error of the log ratio, downward
    df: float | None  # degrees of freedom of t
    unbounded: PerArm[bool]  # the value lies beyond every finite number, as failed and timed-out requests count as +∞
    constant: bool  # the pairs have no spread at all
    low_n: bool  # a percentile p rests on fewer samples than 1 ÷ (1 - p)
    reason: str | None  # why there is no value, ratio or interval
    bound: PerArm[float | None] = PerArm(None, None)  # of `value`, one-sided, in the harmful direction
    p_sign_flip: float | None = None  # of harm, exact and one-sided, by sign flips of the pairs
    se_log_above: float | None = None  # upward, where a percentile may lie farther off on that side
    # How probable as many failed requests as leave the speculative arm unbounded would be if it failed no more often than the
    # baseline; None also where only a minority of its blocks is.
    p_unbounded: float | None = None
    alone: ArmEstimate = ArmEstimate()
    start: StartSd | None = None  # how far starts differ, where that is in the errors: sqrt(2) times it beside the pairs' own


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One guardrail judged in one cell, with its reason in a sentence. Ratios are speculative ÷ baseline."""

    metric: str  # its id
    cell: str | None  # None for a run-wide one
    role: Role
    required: bool
    state: FindingState
    direction: Direction  # which way is better
    margin: float | None  # the loss that is allowed, a fraction; for the benefit the gain asked for
    floor: float  # a loss that is always allowed, in the metric's unit
    slo: float | None  # an absolute limit, in the metric's unit
    bound: float | None  # the last ratio that is allowed, or value where the limit is absolute
    ratio: float | None
    upper: float | None  # the end of the interval that must stay on the right side of `bound`
    p_harm: float | None  # the probability of a harm this clear if there were none
    p_harm_adjusted: float | None  # the same over all required tests of the run (Holm)
    supported_margin: float | None  # the smallest margin, a fraction, that these data would pass
    pairs_needed: int | None  # in all, to settle it; None where no affordable number would
    detectable: float | None  # the smallest true loss, a fraction, found in four of five such runs
    notes: tuple[str, ...]  # stable codes
    reason: str
    lower: float | None = None  # the other end, which harm must have past `bound`; of tests against the baseline

    @property
    def decides(self) -> bool:
        """Whether the verdict rests on it: it is required, and neither advice nor the gain."""
        return self.required and self.role in DECIDING

    @property
    def is_open(self) -> bool:
        """Whether it neither passed nor failed."""
        return self.state in OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityCheck:
    """Whether a cell (or the run) may be judged at all: `ok` None where there was too little to tell."""

    id: str
    cell: str | None
    ok: bool | None
    value: float | None
    limit: float | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceSummary:
    """Acceptance of one cell or bin with where it came from; `alpha` is for chains only.

    `length` weighs every verification round alike; `length_by_request`, where requests tell their own counts, every request.
    """

    length: float | None
    length_low: float | None
    length_high: float | None
    rate: float | None
    alpha: float | None
    per_position: tuple[float, ...] | None
    conditional: tuple[float, ...] | None
    rejection_frequency: float | None
    rounds: int | None
    source: str
    reason: str | None
    length_by_request: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """Why TPOT moved: TPOT ratio ≈ step-time ratio ÷ tokens per step, both measured; `residual` is what is left."""

    step_ms: PerArm[float | None]
    step_ratio: float | None
    tokens_per_step: PerArm[float | None]
    tpot_ratio: float | None
    residual: float | None
    break_even: float | None


@dataclass(frozen=True, slots=True)
class OtherDepth:
    """What another depth is predicted to bring in a cell; `tpot_ratio` is None where the run does not tell what a step costs."""

    depth: int
    tokens_per_step: float
    tpot_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BinResult:
    """The same metrics for the requests of one bin and sampling inside a mixed cell; of its findings only a FAIL decides."""

    bin: str
    sampling: str
    requests: PerArm[int]
    metrics: tuple[Comparison, ...]
    acceptance: AcceptanceSummary | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCounts:
    """How the requests of one arm in one cell ended, and what they carried."""

    requests: int
    ok: int
    failed: int
    cut: int
    tokens: int
    chunks: int
    censored_chunks: int
    by_outcome: dict[str, int]
    finish_reasons: dict[str, int]
    stamp_sources: dict[str, int]
    token_sources: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCoordinates:
    """Where a cell lies in the matrix."""

    concurrency: int | None
    rate: float | None
    bin: str | None
    sampling: str | None
    running_mean: PerArm[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """Everything about one cell: counts, metrics, acceptance, factors, findings and integrity."""

    id: str
    axes: CellCoordinates
    required: bool
    primary: bool
    state: CellState
    pairs_planned: int
    pairs_used: int
    counts: PerArm[ArmCounts]
    metrics: tuple[Comparison, ...]
    bins: tuple[BinResult, ...]
    acceptance: AcceptanceSummary
    factors: Factors
    findings: tuple[Finding, ...]
    integrity: tuple[IntegrityCheck, ...]
    distributions: tuple[Distribution, ...]
    theory: dict[str, float | None] = field(default_factory=dict)
    engine_truth: PerArm[dict[str, float]] | None = None
    timelines: tuple[Timeline, ...] = ()
    block_series: tuple[BlockSample, ...] = ()
    answers: AnswerTexts | None = None
    turns: tuple[BinResult, ...] = ()
    other_depths: tuple[OtherDepth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One sentence of the verdict; `code` is stable for scripts."""

    code: str
    cell: str | None
    metric: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRange:
    """For which load speculation may be on: from the lowest to the highest cell of the unbroken run that passed.

    With `by` rate the bounds are requests per second, under the same field names.
    """

    low: float | None
    high: float | None
    running_at_cap: float | None
    by: Literal["concurrency", "rate"]
    beyond: Literal["harm_beyond", "not_shown_beyond"] | None
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceResult:
    """The verdict of one slice (a bin and sampling with cells of its own)."""

    bin: str
    sampling: str | None
    verdict: VerdictWord
    enable_range: LoadRange | None
    reasons: tuple[Reason, ...]
    rate_range: LoadRange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`result.json`, schema version 1: the verdict, why, and every number behind it.

    `facts_sha256` is of the files that the result was made of. `digest` (sha256) is of its own fields that `digest_of` names, and
    stands in the file alone. `answers` is None in results of older versions, and where none were compared.
    """

    schema_version: int
    tool_name: str
    tool_version: str
    run: RunInfo
    config: Config
    endpoints: PerArm[EndpointInfo]
    verdict: VerdictWord
    promote: bool
    rollback: bool
    exit_code: int
    reasons: tuple[Reason, ...]
    enable_range: LoadRange | None
    rate_range: LoadRange | None = None
    cells: tuple[CellResult, ...]
    slices: tuple[SliceResult, ...]
    run_findings: tuple[Finding, ...]
    integrity: tuple[IntegrityCheck, ...]
    notes: tuple[str, ...]
    ramp: tuple[RampCourse, ...] = ()
    answers: ShownAnswers | None = None
    facts_sha256: str | None = None
    digest: str | None = None
    digest_of: tuple[str, ...] = ()
