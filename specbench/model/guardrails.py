"""The guardrails that hold unless a scenario says otherwise, how a scenario's own ones replace them, and where each decides.

Every number that a rule and a sentence share stands here too. Nothing is judged: what a guardrail makes of a comparison is in
`analysis/`, and what is said of it is in the sentences.
"""

from collections.abc import Sequence
from dataclasses import replace

from specbench.model.records import Cell
from specbench.model.scenario import DECIDING, Guardrail, Length, Matrix, Role

OUTPUT_LENGTH_MARGIN = 0.03
DEFAULT_EXCESS = 0.005  # of all requests may fail with speculation that do not fail without it
LOW_ALPHA = 0.7  # below it the usual alarm sounds
FULL_KV = 0.95  # of the KV cache in use: requests will soon have to wait, or be put back
BUDGET_PAIRS = 100  # five times the largest profile: what nobody will run, a report should not propose
MIN_LAUNCHES = 4  # of each engine, where the launch is the unit: one start differs from the next
PAIRS_KEPT = 0.8  # of a cell's pairs must have a figure for a pass: in both arms, or with speculation for an absolute limit
SHARES = ("error_rate", "stalled_answers")  # of requests: a surplus above a range that passes without it caps that range
SLOWS = "slows_within_blocks"  # a check: one arm alone gets slower under load, so that its cell does not pass
IN_A_BIN = "harm_in_a_bin"  # a finding's note: it is of a part of a mixed cell
RUN_WIDE = (*SHARES, "oom", "restarts")  # counted over the whole run, not cell by cell
# With both kinds of cells, what a faster arm does to itself in a closed loop is judged at equal arrivals, and capacity where
# arrivals do not bound it.
_OPEN_LOOP_ONLY = ("ttft", "e2e", "pace")
_CLOSED_LOOP_ONLY = ("output_tps", "completed_rps")


def _rule(metric: str, role: Role, margin: float | None = None, floor: float = 0.0, slo: float | None = None) -> Guardrail:
    required = role in DECIDING
    return Guardrail(metric=metric, role=role, margin=margin, floor=floor, slo=slo, required=required, cells=None, bins=None)


_SAFETY_ONCE, _SAFETY_SINCE = ("error_rate", "oom", "restarts"), ("stalled_answers",)
# Margins are fractions (error_rate: of all requests), floors and `slo` in the metric's own unit.
DEFAULTS: tuple[Guardrail, ...] = (
    _rule("tpot_p95", "guardrail", margin=0.10, floor=0.5),
    _rule("pace_p95", "guardrail", margin=0.10, floor=0.5),
    _rule("ttft_paired", "guardrail", margin=0.15, floor=20.0),
    # A p95 of a few hundred scattered times is known to a quarter at best, so it guards against a changed tail alone.
    _rule("ttft_p95", "guardrail", margin=0.40, floor=50.0),
    _rule("e2e_p95", "guardrail", margin=0.10),
    _rule("output_tps", "guardrail", margin=0.05),
    _rule("completed_rps", "guardrail", margin=0.05),
    _rule("error_rate", "safety", margin=DEFAULT_EXCESS),
    _rule("stalled_answers", "safety", margin=DEFAULT_EXCESS),
    _rule("oom", "safety"),
    _rule("restarts", "safety"),
    _rule("output_length", "safety", margin=OUTPUT_LENGTH_MARGIN),
    # After a rejection one token carries a whole, longer, speculative step: up to + 30 % is the method, not a fault.
    _rule("itl_p95", "advisory", margin=0.30, floor=0.5),
    # A chunk of several tokens takes a longer step by design, so only a doubled gap is worth a word.
    _rule("chunk_gap_p95", "advisory", margin=1.0, floor=0.5),
    _rule("chunk_gap_p99", "advisory", margin=1.0, floor=0.5),
    _rule("kv_peak", "advisory", slo=FULL_KV),
    _rule("queue_time", "advisory", margin=0.15, floor=20.0),
    _rule("preemptions", "advisory", margin=0.10),
    _rule("alpha", "advisory", slo=LOW_ALPHA),
)


def effective_guardrails(
    listed: Sequence[Guardrail], defaults_on: bool, length: Length, matrix: Matrix | None = None, bins: Sequence[str] = ()
) -> tuple[Guardrail, ...]:
    """The guardrails of a run: each listed one in the place of the default of its metric, the other defaults as they are.

    A listed one for some loads or bins takes the default's place there; for the others the default follows it.

    Args:
        listed: What the scenario lists; one metric may stand there more than once, for different cells.
        defaults_on: False where the scenario says `defaults: off`.
        length: With `natural`, the length of answers is shown and decides nothing; with `forced` it is a matter of safety.
        matrix: The loads there are. Without them a listed guardrail takes the place of its default everywhere.
        bins: The names of the bins there are.
    """
    rules: list[Guardrail] = []
    for default in DEFAULTS if defaults_on else ():
        mine = [guardrail for guardrail in listed if guardrail.metric == default.metric]
        if default.metric == "output_length" and length == "natural":
            default = replace(default, role="advisory", required=False)
        rules.extend(mine)
        if not mine:
            rules.append(default)
        elif matrix is not None:
            rules.extend(_for_the_rest(default, mine, matrix, tuple(bins)))
    placed = {guardrail.metric for guardrail in rules}
    rules.extend(guardrail for guardrail in listed if guardrail.metric not in placed)
    return tuple(rules)


def with_later_defaults(guardrails: Sequence[Guardrail]) -> tuple[Guardrail, ...]:
    """The guardrails of a run of any version: where it was asked for the safety defaults of its time, those of later ones too.

    What they judge is in the facts of every version. With `defaults: off` a run lacks the others as well.
    """
    asked = {guardrail.metric for guardrail in guardrails}
    if not asked.issuperset(_SAFETY_ONCE):
        return tuple(guardrails)
    return (*guardrails, *(rule for rule in DEFAULTS if rule.metric in _SAFETY_SINCE and rule.metric not in asked))


def _for_the_rest(default: Guardrail, listed: Sequence[Guardrail], matrix: Matrix, bins: tuple[str, ...]) -> list[Guardrail]:
    """The default for the loads and bins of which none of the listed guardrails is asked; one for each set of bins left."""
    optional = set(matrix.optional) if default.metric in RUN_WIDE else set()  # these count required cells alone
    levels = [level for level in dict.fromkeys((*map(float, matrix.concurrency), *matrix.rate)) if level not in optional]
    left: dict[tuple[str, ...], list[float]] = {}
    for level in levels:
        if free := tuple(name for name in bins if not any(_names(rule, level, name) for rule in listed)):
            left.setdefault(free, []).append(level)
    return [
        _as_before(replace(default, cells=tuple(at), bins=None if free == bins else free), matrix) for free, at in left.items()
    ]


def _names(guardrail: Guardrail, level: float, name: str) -> bool:
    """Whether the guardrail is asked of this load and bin."""
    return (guardrail.cells is None or level in guardrail.cells) and (guardrail.bins is None or name in guardrail.bins)


def _as_before(rest: Guardrail, matrix: Matrix) -> Guardrail:
    """What is left of a default, as advice where the whole of it would only have advised: it decides no more than before."""
    kinds = ((_OPEN_LOOP_ONLY, matrix.rate), (_CLOSED_LOOP_ONLY, matrix.concurrency))
    judging = {float(level) for metrics, levels in kinds if rest.metric.startswith(metrics) for level in levels}
    judging -= set(matrix.optional)
    if not judging or judging & set(rest.cells or ()):
        return rest
    return replace(rest, role="advisory", required=False)


def applies_to(guardrail: Guardrail, cell: Cell) -> bool:
    """Whether the guardrail is asked of this cell: of its load, and of its bin where the cell has only one."""
    at_level = guardrail.cells is None or cell.level in guardrail.cells
    return at_level and (guardrail.bins is None or cell.bin is None or cell.bin in guardrail.bins)


def advises(guardrail: Guardrail, cell: Cell, cells: Sequence[Cell]) -> bool:
    """Whether the guardrail only advises in this cell, as it decides in required cells of the other loop.

    Asked of none of those, it decides where it is asked: else nothing would.
    """
    by_rate = cell.rate is not None
    if not guardrail.metric.startswith(_CLOSED_LOOP_ONLY if by_rate else _OPEN_LOOP_ONLY):
        return False
    return any((other.rate is not None) != by_rate and other.required and applies_to(guardrail, other) for other in cells)
