"""The benefit: whether the success metric improved by as much as the scenario asks, in the primary cell.

Harm is judged in `findings.py`; here the burden of proof lies on speculation.
"""

import math
from dataclasses import replace

from specbench.analysis.comparison.harm_scale import AT_THE_BOUND, Inference
from specbench.analysis.stats.percentile_ratio import SharesTest
from specbench.analysis.verdict.findings import Case, draft_of, stopped
from specbench.explain.findings import FindingContext, benefit_reason
from specbench.model.result import Comparison, Finding
from specbench.model.scenario import Guardrail, Success


def benefit(
    success: Success, comparison: Comparison, setting: FindingContext, withheld: str | None, test: SharesTest | None = None
) -> Finding:
    """PASS: the gain is significant and reaches `improve_by`; FAIL: a gain that large is excluded; else INCONCLUSIVE or NODATA.

    γ is the log ratio with gain positive. PASS: its lower bound is above 0 and γ at least the gain asked for, and enough of
    the cell's pairs have a figure in both arms. FAIL: its upper bound is below that gain.
    `upper` holds the end of the interval on which the state rests, `bound` the ratio asked for.
    """
    higher = comparison.direction == "higher"
    bound = 1 + success.improve_by if higher else 1 - success.improve_by
    rule = Guardrail(
        metric=success.metric,
        role="success",
        margin=success.improve_by,
        floor=0.0,
        slo=None,
        required=True,
        cells=None,
        bins=None,
    )
    draft = replace(draft_of(rule, setting.cell, comparison), bound=bound)
    case = Case(guardrail=rule, comparison=comparison, setting=setting, in_family=False, withheld=withheld, test=test)
    inference = case.inference
    stop = stopped(case)
    judged = draft
    if stop is not None:
        judged = replace(draft, state=stop[0], notes=(stop[1],))
    elif inference is not None:
        judged = _decided(draft, case, inference, -math.log(bound) if not higher else math.log(bound))
    return replace(judged, reason=benefit_reason(judged, comparison, setting, withheld))


def _decided(draft: Finding, case: Case, inference: Inference, asked: float) -> Finding:
    alpha = case.setting.alpha
    gain = -inference.theta
    least, most = inference.ratio_at(inference.most(alpha)), inference.ratio_at(inference.least(alpha, -asked))
    reached, better = gain >= asked - AT_THE_BOUND, inference.is_below(0.0, alpha)
    if better and reached and case.pairs_missing:
        # The pairs without a figure may be those without a gain.
        return replace(draft, state="INCONCLUSIVE", upper=least, notes=("pairs_missing",))
    if better and reached:
        return replace(draft, state="PASS", upper=least, supported_margin=None if least is None else abs(least - 1))
    if inference.is_past(-asked, alpha):
        return replace(draft, state="FAIL", upper=most, notes=("no_benefit",))
    # A point that reaches the gain needs only its significance; one short of it can only be settled by excluding the gain.
    needed = inference.pairs_needed(gain if reached else asked - gain, alpha)
    code = "unresolvable_at_this_margin" if needed is None else "more_pairs"
    return replace(draft, state="INCONCLUSIVE", upper=least, pairs_needed=needed, notes=(code,))
