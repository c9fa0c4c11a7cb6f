"""What is concluded of live traffic: the state, its reasons, and the figures behind them."""

from dataclasses import dataclass, field
from typing import Literal

from specbench.model.result import FindingState, PerArm, Reason

WatchState = Literal["KEEP", "HOLD", "RERUN", "ALARM", "ROLLBACK", "INVALID"]
WATCH_CODES: dict[WatchState, int] = {"KEEP": 0, "HOLD": 10, "RERUN": 12, "ALARM": 13, "ROLLBACK": 20, "INVALID": 30}
Assignment = Literal["random", "slices", "before-after"]
Basis = Literal["mean", "tail", "share", "limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLimit:
    """An absolute limit of one quantity of the speculative arm, such as the p99 of TPOT, in ms; of alpha, the least it may be."""

    metric: str
    value: float
    periods: int


DEFAULT_LIMITS = (LiveLimit(metric="tpot_p99", value=50.0, periods=2), LiveLimit(metric="alpha", value=0.7, periods=3))


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRules:
    """What was decided before the watching: who gets which arm, limits, tolerances, and whether errors are known.

    `errors`: a gateway tells them ("told"), or the user takes responsibility ("none"), or nobody knows (None).
    """

    assignment: Assignment = "slices"
    limits: tuple[LiveLimit, ...] = DEFAULT_LIMITS
    tolerance: float = 0.03
    alpha: float = 0.05
    errors: Literal["told", "none"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFinding:
    """One guardrail judged on live traffic by one of its bases; ratios are speculative ÷ baseline. `code`: why it is open."""

    metric: str
    basis: Basis
    state: FindingState
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    windows: int = 0
    code: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFigures:
    """The newest figures of the speculative arm, None where unknown.

    `speed_up` is measured where the arms share traffic at random, else modelled: tokens per step ÷ what breaks even.
    `drift`: the log evidence of a drift ÷ that of an alarm, so that 1 alarms.
    """

    alpha: float | None = None
    acceptance_length: float | None = None
    tokens_per_step: float | None = None
    batch_size: float | None = None
    break_even: float | None = None
    speed_up: float | None = None
    speed_up_source: Literal["measured", "modelled"] | None = None
    drift: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchResult:
    """The state of the watch at `at_s` (the end of the newest period), with every reason for it.

    `policy_empty`: why no traffic may go to the speculative arm now, whatever the run says; None where the run's policy stands.
    `not_watched`: facts that neither the run nor the endpoint tells.
    """

    state: WatchState
    exit_code: int
    promote: bool
    rollback: bool
    at_s: float
    run: str | None
    assignment: Assignment
    periods: PerArm[int]
    reasons: tuple[Reason, ...]
    warnings: tuple[Reason, ...]
    findings: tuple[LiveFinding, ...]
    figures: LiveFigures
    policy_empty: str | None = None
    not_watched: tuple[str, ...] = ()
