"""Run-wide safety: does speculation make requests fail, memory run out, or engines restart?

Judged over all required cells at once, since failures are rare and a cell alone sees too few. Latency is `findings.py`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from specbench.analysis.arrays.samples import Totals
from specbench.analysis.stats.rates import RateDifference, rate_difference, share_upper_bound
from specbench.analysis.verdict.findings import draft_of
from specbench.explain import safety
from specbench.explain.safety import Failures, NeverAnswered, ReportedCount
from specbench.model.guardrails import DEFAULT_EXCESS
from specbench.model.records import Block
from specbench.model.result import Finding, FindingState, PerArm
from specbench.model.scenario import ARMS, ArmName, Guardrail

IN_BURSTS = "in_bursts"  # a finding's note: its surplus would be proof, had it not come all at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess(Failures):
    """Failed requests of both arms, and how their shares differ; `rates` is None where an arm had no request."""

    rates: RateDifference | None


def excess_of(baseline: Sequence[Totals], speculative: Sequence[Totals], alpha: float, scope: str = "Over the run") -> Excess:
    """The failures of all cells together, block by block: each `Totals` is the share of one cell's arm.

    `scope` says in words which cells these are.
    """
    arms = [
        (np.concatenate([np.zeros(0), *(t.numerator for t in arm)]), np.concatenate([np.zeros(0), *(t.denominator for t in arm)]))
        for arm in (baseline, speculative)
    ]
    return Excess(
        failed=PerArm(int(arms[0][0].sum()), int(arms[1][0].sum())),
        requests=PerArm(int(arms[0][1].sum()), int(arms[1][1].sum())),
        rates=rate_difference(arms[0], arms[1], alpha),
        scope=scope,
        most_in_a_block=int(arms[1][0].max(initial=0.0)),
    )


def error_finding(guardrail: Guardrail, excess: Excess, alpha: float, *, may_fail: bool = True) -> Finding:
    """The share of failed requests, or of stalled answers, against the baseline's, or against the guardrail's absolute limit.

    PASS: no larger share than the baseline, or the excess's upper bound below the margin (0.5 points unless said otherwise).
    FAIL: a significant excess. Else INCONCLUSIVE. A baseline that fails more than speculation says nothing against it.
    Of stalls as many more are let pass as the baseline has: equal arms that stall at 1 % would else pass by a coin's toss.
    `may_fail`: False where these requests alone prove nothing.
    """
    rates = excess.rates
    if guardrail.slo is not None and rates is not None:
        return _error_slo(guardrail, guardrail.slo, excess, rates, alpha, may_fail)
    margin = DEFAULT_EXCESS if guardrail.margin is None else guardrail.margin
    if rates is None:
        return _finding(guardrail, "NODATA", margin, rates, safety.no_requests(guardrail, excess))
    if guardrail.metric == "stalled_answers":
        margin = max(margin, excess.failed.baseline / excess.requests.baseline)
    state: FindingState = "FAIL" if rates.p_excess < alpha and may_fail else "INCONCLUSIVE"
    if rates.difference <= 0 or rates.high < margin:
        state = "PASS"
    in_bursts = state == "INCONCLUSIVE" and rates.p_if_apart < alpha
    surplus = rates.difference, rates.high, rates.p_excess
    sentence = safety.share_against_baseline(guardrail, excess, state, surplus, margin, alpha, in_bursts)
    return replace(_finding(guardrail, state, margin, rates, sentence), notes=(IN_BURSTS,) if in_bursts else ())


def _error_slo(guardrail: Guardrail, slo: float, excess: Excess, rates: RateDifference, alpha: float, may_fail: bool) -> Finding:
    """The speculative arm's own share against its limit: exact bounds on counts shrunk to what bursts leave them worth."""
    failed, requests = excess.failed.speculative / rates.design_effect, excess.requests.speculative / rates.design_effect
    high, kept = share_upper_bound(failed, requests, alpha), share_upper_bound(requests - failed, requests, alpha)
    state: FindingState = "INCONCLUSIVE"
    if high is not None and high <= slo:
        state = "PASS"
    elif kept is not None and 1 - kept > slo and may_fail:
        state = "FAIL"
    end = None if kept is None or high is None else 1 - kept if state == "FAIL" else high
    sentence = safety.share_within(guardrail, excess, slo, state, end or 0.0, alpha)
    return replace(_finding(guardrail, state, None, None, sentence), slo=slo, bound=slo, upper=end)


def with_never_answered(found: Finding, hanging: PerArm[NeverAnswered], alpha: float) -> Finding:
    """The finding on failures, with how many requests were never answered; it is no pass where these may be too many.

    A baseline that leaves as many hanging does not make it harmless: what an answer takes that never came, no figure says. Nor
    is it a pass where an older version did not follow what it had sent.
    """
    after = hanging.speculative
    if not after.unknown and not hanging.baseline.unknown:
        return found
    margin = DEFAULT_EXCESS if found.margin is None else found.margin
    high = share_upper_bound(after.hung, after.sent, alpha) if after.hung and found.slo is None else None
    unknown = bool(after.lost or hanging.baseline.lost)
    open_share = found.state == "PASS" and high is not None and high >= margin
    state: FindingState = "INCONCLUSIVE" if found.state == "PASS" and (unknown or open_share) else found.state
    sentence = safety.never_answered(hanging, high if open_share else None, alpha)
    return replace(found, state=state, reason=found.reason + sentence)


def count_finding(guardrail: Guardrail, reported: PerArm[ReportedCount]) -> Finding:
    """How often something went wrong in the engines (memory ran out, a restart): no more than in the baseline, or than `slo`.

    Not known of an arm: NODATA. No block of either arm tells: NODATA, and not required, as no engine is obliged to tell; one that
    tells at times is, as its silence may hide what happened.
    """
    before, after = reported.baseline.count, reported.speculative.count
    state: FindingState
    allowed = before if guardrail.slo is None else guardrail.slo
    if allowed is None or after is None or (reported.speculative.silent and after <= allowed):
        state, reason = "NODATA", safety.count_unknown(guardrail, reported)
    else:
        state, reason = "FAIL" if after > allowed else "PASS", safety.count_known(guardrail, reported)
    asked = guardrail.required and (reported.baseline.ever or reported.speculative.ever)
    return _finding(guardrail, state, None, None, reason, required=asked)


def reported_counts(cells: Sequence[PerArm[tuple[Block, ...]]], metric: str) -> PerArm[ReportedCount]:
    """How often each arm's engine says that memory ran out ('oom') or that it started anew ('restarts'), over all blocks.

    No count for an arm of which a single block does not tell: what happened in it may be the one thing that mattered. Where the
    speculative arm's blocks that do tell are already past the baseline's number, or past none where the baseline does not tell,
    their number stands: it is at least that.
    """
    before, after = (_counts(cells, arm, metric) for arm in ARMS)
    whole = PerArm(_reported(before), _reported(after))
    least = sum(count for count in after if count is not None)
    if whole.speculative.count is None and least > (whole.baseline.count or 0):
        return PerArm(whole.baseline, replace(whole.speculative, count=least))
    return whole


def _reported(counts: Sequence[int | None]) -> ReportedCount:
    known = [count for count in counts if count is not None]
    whole = bool(known) and len(known) == len(counts)
    return ReportedCount(count=sum(known) if whole else None, silent=len(counts) - len(known), blocks=len(counts))


def _counts(cells: Sequence[PerArm[tuple[Block, ...]]], arm: ArmName, metric: str) -> list[int | None]:
    """The count of each block of the arm, None where a block does not report it; an engine that died started anew in any case."""
    counts: list[int | None] = []
    for block in (block for blocks in cells for block in blocks.of(arm)):
        telemetry = block.telemetry
        count = None if telemetry is None else telemetry.oom_events if metric == "oom" else telemetry.restarts
        died = metric == "restarts" and block.engine_exit is not None
        counts.append((count or 0) + died if count is not None or died else None)
    return counts


def _finding(
    guardrail: Guardrail,
    state: FindingState,
    margin: float | None,
    rates: RateDifference | None,
    reason: str,
    *,
    required: bool | None = None,
) -> Finding:
    return replace(
        draft_of(guardrail),
        required=guardrail.required if required is None else required,
        state=state,
        margin=margin,
        floor=0.0,
        slo=None,
        bound=margin,
        upper=None if rates is None else rates.high,
        p_harm=None if rates is None else rates.p_excess,
        supported_margin=None if rates is None else max(rates.high, 0.0),
        reason=reason,
    )
