"""The guardrails that hold unless a scenario says otherwise, and how a scenario's own ones replace them.

Nothing is judged here: what a guardrail makes of a comparison is in `findings.py`.
"""

from collections.abc import Sequence
from dataclasses import replace

from specbench.model.asked import Guardrail, Length, Role

OUTPUT_LENGTH_MARGIN = 0.03
ALPHA_WARNS_BELOW = 0.7
RUN_WIDE = ("error_rate", "oom", "restarts")  # counted over the whole run, not cell by cell


def _rule(metric: str, role: Role, margin: float | None = None, floor: float = 0.0, slo: float | None = None) -> Guardrail:
    required = role in ("guardrail", "safety")
    return Guardrail(metric=metric, role=role, margin=margin, floor=floor, slo=slo, required=required, cells=None, bins=None)


# Margins are fractions (error_rate: of all requests), floors and `slo` in the metric's own unit.
DEFAULTS: tuple[Guardrail, ...] = (
    _rule("tpot_p95", "guardrail", margin=0.10, floor=0.5),
    _rule("pace_p95", "guardrail", margin=0.10, floor=0.5),
    _rule("ttft_p95", "guardrail", margin=0.15, floor=20.0),
    _rule("e2e_p95", "guardrail", margin=0.10),
    _rule("output_tps", "guardrail", margin=0.05),
    _rule("completed_rps", "guardrail", margin=0.05),
    _rule("error_rate", "safety", margin=0.005),
    _rule("oom", "safety"),
    _rule("restarts", "safety"),
    _rule("output_length", "safety", margin=OUTPUT_LENGTH_MARGIN),
    # After a rejection one token carries a whole, longer, speculative step: up to + 30 % is the method, not a fault.
    _rule("itl_p95", "advisory", margin=0.30, floor=0.5),
    # A chunk of several tokens takes a longer step by design, so only a doubled gap is worth a word.
    _rule("chunk_gap_p95", "advisory", margin=1.0, floor=0.5),
    _rule("chunk_gap_p99", "advisory", margin=1.0, floor=0.5),
    _rule("kv_peak", "advisory", slo=0.95),
    _rule("queue_time", "advisory", margin=0.15, floor=20.0),
    _rule("preemptions", "advisory", margin=0.10),
    _rule("alpha", "advisory", slo=ALPHA_WARNS_BELOW),
)


def effective_guardrails(listed: Sequence[Guardrail], defaults_on: bool, length: Length) -> tuple[Guardrail, ...]:
    """The guardrails of a run: each listed one in the place of the default of its metric, the other defaults as they are.

    Args:
        listed: What the scenario lists; one metric may stand there more than once, for different cells.
        defaults_on: False where the scenario says `defaults: off`.
        length: With `natural`, the length of answers is shown and decides nothing; with `forced` it is a matter of safety.
    """
    named = {guardrail.metric for guardrail in listed}
    rules: list[Guardrail] = []
    for default in DEFAULTS if defaults_on else ():
        if default.metric in named:
            rules.extend(guardrail for guardrail in listed if guardrail.metric == default.metric)
        elif default.metric == "output_length" and length == "natural":
            rules.append(replace(default, role="advisory", required=False))
        else:
            rules.append(default)
    placed = {guardrail.metric for guardrail in rules}
    rules.extend(guardrail for guardrail in listed if guardrail.metric not in placed)
    return tuple(rules)
