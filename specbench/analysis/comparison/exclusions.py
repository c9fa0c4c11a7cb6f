"""What must not be judged although it has numbers: metrics that compare unlike things in a cell, and why.

A withheld metric is INCONCLUSIVE with its reason: neither a pass nor a harm rests on it.
"""

import math
from collections.abc import Sequence

from specbench.analysis.comparison.harm_scale import against_baseline
from specbench.explain import absences
from specbench.model.guardrails import OUTPUT_LENGTH_MARGIN
from specbench.model.records import RequestRecord
from specbench.model.result import Comparison, PerArm
from specbench.model.scenario import ARMS

LENGTH_ALPHA = 0.01  # two-sided; a wrong alarm here only withholds two metrics
COUNTED = frozenset({"token_ids", "running_usage", "engine_counts", "logprobs", "final_usage_spread"})
COUNTED_SHARE = 0.99
_PER_TOKEN = ("tpot", "itl", "pace", "output_tps", "tokens_per_step", "output_length", "acceptance_length")
_PER_ANSWER = ("e2e", "completed_rps", "output_tps")  # shorter answers spend a larger share of their time on prefill


def exclusion(metric: str, lengths: str | None, tokens: str | None) -> str | None:
    """Why this metric cannot be judged in a cell, given what is wrong there with the lengths of answers and with token counts."""
    if tokens is not None and metric.startswith(_PER_TOKEN):
        return tokens
    return lengths if metric.startswith(_PER_ANSWER) else None


def unlike_lengths(output_length: Comparison | None) -> str | None:
    """Why whole answers do not compare: one arm's are shorter. None where lengths agree within 3 %, or differ by chance."""
    inference = None if output_length is None else against_baseline(output_length)
    if output_length is None or inference is None or output_length.ratio is None:
        return None
    significant = 2 * inference.p_above_zero() < LENGTH_ALPHA
    if not significant or abs(math.log(output_length.ratio)) <= math.log(1 + OUTPUT_LENGTH_MARGIN):
        return None
    return absences.unlike_lengths(output_length.ratio)


def unlike_tokens(records: PerArm[tuple[RequestRecord, ...]], *, speculates: bool) -> str | None:
    """Why figures per token do not compare: tokens are known in one arm only, guessed in an arm that speculates, or counted in
    sums that fit no reading.

    Args:
        speculates: False only where the speculative endpoint is known not to speculate.
    """
    for arm in ARMS:
        if _ambiguous_share(records.of(arm)) > 1 - COUNTED_SHARE:
            return absences.tokens_unknown(arm)
    shares = PerArm(_counted_share(records.baseline), _counted_share(records.speculative))
    if shares.baseline is None or shares.speculative is None:
        return None
    known = PerArm(shares.baseline >= COUNTED_SHARE, shares.speculative >= COUNTED_SHARE)
    if known.baseline != known.speculative:
        return absences.UNLIKE_COUNTS
    guessed = any(r.token_source == "events" and r.step_events is None for r in records.speculative if r.outcome == "ok")
    if speculates and not known.speculative and guessed:
        return absences.GUESSED_TOKENS
    return None


def _ambiguous_share(records: Sequence[RequestRecord]) -> float:
    good = [record for record in records if record.outcome == "ok"]
    return sum("usage_ambiguous" in record.flags for record in good) / len(good) if good else 0.0


def _counted_share(records: Sequence[RequestRecord]) -> float | None:
    """The share of good answers whose tokens were counted by whoever made them; where an event is one token, events count."""
    good = [record for record in records if record.outcome == "ok"]
    if not good:
        return None
    counted = sum(1 for r in good if r.token_source in COUNTED or (r.token_source == "events" and r.step_events is not None))
    return counted / len(good)
