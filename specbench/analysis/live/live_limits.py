"""Absolute limits and plain alarms of one arm: a quantile over its limit, a low alpha, no drafts, a KV cache that is full."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from specbench.analysis.buckets import bracket, neighbours, share_over
from specbench.analysis.live import live_figures as figures
from specbench.explain.live import live_reasons
from specbench.model.guardrails import FULL_KV
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import LiveFinding, LiveLimit
from specbench.model.result import Reason
from specbench.units import MS_PER_S

SILENT_PERIODS = 2  # with answers and without a draft
SHORT_PERIODS, CLEAN_PERIODS = 2, 6  # with a full cache; without, after which it counts as over
SHARED_PERIODS = 12  # within which a baseline that breaks the limit too clears speculation


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitCheck:
    """What one limit came to: the finding, an alarm or a warning, and whether the baseline breaks it too."""

    finding: LiveFinding
    alarm: Reason | None = None
    warning: Reason | None = None
    shared: bool = False


def checked_limit(limit: LiveLimit, speculative: Sequence[LivePeriod], baseline: Sequence[LivePeriod]) -> LimitCheck:
    """The limit over the newest windows of the speculative arm, and whether the baseline's lately broke it too."""
    if limit.metric == "alpha":
        return _alpha(limit, speculative)
    flags = [breaks(limit, window) for window in speculative]
    held = figures.running_last(flags)
    known = [flag for flag in flags if flag is not None]
    finding = LiveFinding(metric=limit.metric, basis="limit", state="PASS", bound=limit.value, windows=len(known))
    if not known:
        return LimitCheck(finding=replace(finding, state="NODATA", code="limit_not_told"))
    if held < limit.periods:
        return LimitCheck(finding=finding)
    name, quantile = _parts(limit.metric)
    counts = speculative[-1].observed[name]
    span = bracket(counts, quantile)
    high = inf if span is None else span[1] * MS_PER_S
    share = share_over(counts, limit.value / MS_PER_S)
    shared = any(breaks(limit, window) for window in baseline[-SHARED_PERIODS:])
    alarm = live_reasons.both_arms(limit.metric) if shared else live_reasons.over_limit(limit, high, share, held)
    return LimitCheck(finding=replace(finding, state="FAIL", code=None), alarm=alarm, shared=shared)


def breaks(limit: LiveLimit, window: LivePeriod) -> bool | None:
    """Whether the quantile surely lies over the limit: exact at an edge, between edges decided by the neighbours, else None."""
    name, quantile = _parts(limit.metric)
    counts, at = window.observed.get(name), limit.value / MS_PER_S
    if counts is None or counts.count <= 0:
        return None
    below, above = neighbours(counts.edges, at)
    over = None if above is None else share_over(counts, above)
    under = None if below is None else share_over(counts, below)
    if over is not None and over > 1 - quantile:
        return True
    if under is not None and under <= 1 - quantile:
        return False
    return None


def not_drafting(speculative: Sequence[LivePeriod]) -> Reason | None:
    """Answers were made and nothing was drafted in the newest windows."""
    flags = [
        None
        if window.told.acceptance is None or window.told.acceptance.drafted is None or not window.finished
        else window.told.acceptance.drafted == 0
        for window in speculative
    ]
    silent = figures.running_last(flags)
    return live_reasons.not_drafting(silent) if silent >= SILENT_PERIODS else None


def memory_short(speculative: Sequence[LivePeriod]) -> Reason | None:
    """The KV cache was full and requests were preempted in two windows running, and not for six since neither was."""
    short, kv = False, 0.0
    full = clean = 0
    for window in speculative:
        usage, preempted = window.told.kv_usage_peak, window.told.preemptions
        if usage is None or preempted is None:
            continue
        full, clean = (full + 1, 0) if usage >= FULL_KV and preempted > 0 else (0, clean + 1)
        if full >= SHORT_PERIODS:
            short, kv = True, usage
        elif clean >= CLEAN_PERIODS:
            short = False
    return live_reasons.memory_short(kv) if short else None


def _alpha(limit: LiveLimit, speculative: Sequence[LivePeriod]) -> LimitCheck:
    values = [figures.alpha(window) for window in speculative]
    known = [value for value in values if value is not None]
    finding = LiveFinding(metric="alpha", basis="limit", state="PASS", bound=limit.value, windows=len(known))
    if not known:
        drafts = any(window.told.acceptance and window.told.acceptance.rounds for window in speculative)
        return LimitCheck(
            finding=replace(finding, state="NODATA", code="alpha_unknown"),
            warning=live_reasons.alpha_unknown() if drafts else None,
        )
    held = figures.running_last([None if value is None else value < limit.value for value in values])
    if held < limit.periods:
        return LimitCheck(finding=finding)
    return LimitCheck(
        finding=replace(finding, state="FAIL", code=None), warning=live_reasons.low_alpha(known[-1], limit.value, held)
    )


def _parts(metric: str) -> tuple[str, float]:
    name, _, percentile = metric.partition("_p")
    return name, int(percentile) / 100
