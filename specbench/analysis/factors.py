"""Why TPOT moved: from the cost of a step, or from how many tokens a step brings.

Theory (what acceptance and draft cost predict) is in `theory.py`; here both factors are measured.
"""

from collections.abc import Iterable

from specbench.model.judged import Comparison, Factors, PerArm


def factors_of(comparisons: Iterable[Comparison]) -> Factors:
    """The two factors of one cell's TPOT ratio, read from its comparisons.

    TPOT ratio ≈ r ÷ tokens per step, with r = mean step time of the speculative arm ÷ of the baseline, and tokens per step
    relative to the baseline's (1 without speculation). `residual` is what is left: TPOT ratio · tokens per step ÷ r - 1, so 0
    where the two factors explain all. `break_even` is the tokens per step that the speculative arm must exceed to be faster: r
    times the baseline's.
    """
    by_id = {comparison.metric: comparison for comparison in comparisons}
    steps, tokens, tpot = by_id.get("step_time"), by_id.get("tokens_per_step"), by_id.get("tpot_p50")
    step_ratio = None if steps is None else steps.ratio
    gain = None if tokens is None else tokens.ratio
    tpot_ratio = None if tpot is None else tpot.ratio
    base_tokens = None if tokens is None else tokens.value.baseline
    return Factors(
        step_ms=PerArm(None, None) if steps is None else steps.value,
        step_ratio=step_ratio,
        tokens_per_step=PerArm(None, None) if tokens is None else tokens.value,
        tpot_ratio=tpot_ratio,
        residual=None if step_ratio is None or gain is None or tpot_ratio is None else tpot_ratio * gain / step_ratio - 1,
        break_even=None if step_ratio is None or base_tokens is None else step_ratio * base_tokens,
    )
