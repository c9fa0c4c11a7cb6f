"""What a workload of short answers can never show, said before it runs. Values in, text out."""

from collections.abc import Sequence

from specbench.explain.numbers import listed
from specbench.model.metrics import PACE_TOKENS, TPOT_TOKENS


def too_short(bins: Sequence[str], most: int, success: str | None, guardrails: Sequence[str]) -> str:
    """That answers of these bins are too short for some metrics, and what to ask for in their place.

    Args:
        bins: Their names; none where it is so of the whole workload.
        most: The most tokens that an answer there has.
        success: The metric of the gain, where it can never be shown.
        guardrails: The metrics that can never pass.
    """
    whose = f"Answers of {listed(list(bins))}" if bins else "Answers"
    never = [f"the gain in {success} cannot be shown"] if success else []
    never += [f"{listed(list(guardrails))} cannot pass"] if guardrails else []
    remedy = ["require the gain in e2e_p50 or output_tps"] if success else []
    remedy += ["list those guardrails with role: advisory"] if guardrails else []
    return (
        f"{whose} have at most {most} tokens. TPOT needs {TPOT_TOKENS} or more, pace {PACE_TOKENS + 1} or more."
        f" No PROMOTE is possible: {', and '.join(never)}. {' and '.join(remedy).capitalize()}."
    )
