"""What a design of paired blocks can see: the detectable effect, and the pairs that a decision needs.

Planning arithmetic only; nothing here looks at a metric or a guardrail.
"""

import math

from specbench.analysis.stats.paired import t_quantile
from specbench.model.guardrails import BUDGET_PAIRS

POWER = 0.8


def detectable_effect(se_log: float, df: int, alpha: float) -> float:
    """The smallest true log ratio that a harm test of this precision finds in four of five runs.

    (t(1 − alpha; df) + t(.8; df)) · se

    Source: the usual minimal detectable effect, with t in the place of z as blocks are few.
    """
    return (t_quantile(1 - alpha, df) + t_quantile(POWER, df)) * se_log


def pairs_needed(gap: float, se_log: float, pairs: int, alpha: float) -> int | None:
    """The fewest pairs that settle the question in four of five runs, given the spread seen so far; None beyond the budget.

    The smallest n with (t(1 − alpha; n − 1) + t(.8; n − 1)) · s ÷ √n ≤ gap, where s = se · √pairs is the spread of one pair.

    Args:
        gap: Distance on the log scale between the point and what it must clear.
        se_log: Standard error of the log ratio, from `pairs` pairs.
        pairs: Pairs behind `se_log`.
        alpha: One-sided level of the test.
    """
    if gap <= 0:
        return None
    spread = se_log * math.sqrt(pairs)
    for n in range(max(2, pairs + 1), BUDGET_PAIRS + 1):
        if (t_quantile(1 - alpha, n - 1) + t_quantile(POWER, n - 1)) * spread <= gap * math.sqrt(n):
            return n
    return None
