"""What a plan can see before it runs: the regression it detects in four of five runs, and how long a sharper plan would take.

Arithmetic on spreads of pairs. Nothing is measured or judged here; where the spreads come from is said with every number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from specbench.analysis.hosts.equivalence import start_effect
from specbench.analysis.stats.paired import detectable_effect, pairs_needed, t_quantile, with_starts
from specbench.errors import ScenarioError
from specbench.explain.numbers import columns, tenths
from specbench.model.guardrails import BUDGET_PAIRS, applies_to
from specbench.model.metrics import METRICS
from specbench.model.records import Cell
from specbench.model.scenario import Guardrail, Scenario
from specbench.plan.trials import cells_of, duration_s, trials_of
from specbench.plan.variance import Key, PairVariance, prior
from specbench.units import MS_PER_S

SHARP = 0.05
# Coverage in the calibration's worst scenario (speculation beside a plain arm, 3 % of the steps stalled) by steps a block.
LEAST_STEPS = 500
USUAL_STEP_MS = 20.0  # where no run tells it


@dataclass(frozen=True, slots=True)
class Power:
    """What the plan sees of one metric in one cell.

    `detects`: harm that one test finds in four of five runs. `proves`: harm that fails the guardrail in as many, being shown past
    its limit too, with all tests of the run sharing its error (Holm's strictest). `floor`: the smallest limit that a harmless arm
    passes in half of the runs, a known offset of equal arms included. `allowed`: the guardrail's own limit, its floor in the
    metric's unit included where the value is known; None for the success
    metric. `pairs_for_5`: pairs for finding 5 %, None beyond 100.
    """

    cell: str
    metric: str
    detects: float
    proves: float
    floor: float
    allowed: float | None
    pairs_for_5: int | None

    @property
    def is_lost(self) -> bool:
        """Whether the guardrail's limit lies within the noise."""
        return self.allowed is not None and self.allowed < self.floor


def stated_prior(scenario: Scenario) -> PairVariance:
    """The spreads that hold for this scenario where no run of its endpoints tells them."""
    return prior(cells_of(scenario), _metrics(scenario), scenario.matrix.block.min_s)


def power_of(scenario: Scenario, spreads: PairVariance) -> tuple[Power, ...]:
    """What the plan sees of its success metric and deciding guardrails, in each required cell whose spread is known."""
    cells = _required(scenario)
    rules = {(cell.id, rule.metric): rule for rule in _deciding(scenario) for cell in cells if applies_to(rule, cell)}
    tests = max(1, len(rules))
    return tuple(
        _power(scenario, key, spreads, rules.get(key), tests)
        for key in ((cell.id, metric) for cell in cells for metric in _metrics(scenario))
        if key in spreads.of
    )


def check_margins(scenario: Scenario, spreads: PairVariance) -> None:
    """Nothing, where every margin lies above the noise that was found.

    Raises:
        ScenarioError: A guardrail allows less than these endpoints scatter by: a harmless arm would fail to pass it as often as
            not, however right the verdict. Names the margin that the plan supports.
    """
    for power in power_of(scenario, spreads):
        if power.is_lost:
            raise ScenarioError(
                f"guardrails: {power.metric} allows {tenths(power.allowed or 0)}, but at {power.cell} equal arms differ by up to"
                f" {tenths(power.floor)} over {scenario.matrix.pairs} pairs ({spreads.source}); widen the limit, or run longer"
            )


def describe_power(scenario: Scenario, spreads: PairVariance) -> str:
    """What the plan can see, per cell, and what a plan for 5 % would take, in lines for `specbench plan`."""
    found = power_of(scenario, spreads)
    first = [power for power in found if power.cell == found[0].cell]
    alike = {(power.metric, power.detects) for power in found} == {(power.metric, power.detects) for power in first}
    lines = [
        "  regressions detected with 80 % power; variance:",
        f"  {spreads.source}:",
    ]
    if (start := start_effect(scenario)) is not None:
        lines[-1:] = [
            lines[-1].removesuffix(":") + ",",
            f"  and one start of each engine, of which two differ by {tenths(start.sd)}:",
        ]
    rows: list[tuple[str, ...]] = [("cell", "metric", "one test", "past limit")]
    for power in first if alike else found:
        where = "every one" if alike else power.cell
        unfit = (" its margin is within the noise",) if power.is_lost else ()
        rows.append((where, power.metric, tenths(power.detects), tenths(power.proves), *unfit))
    lines += columns(rows, (24, 14, -8, -10, 0))
    missing = [cell.id for cell in _required(scenario) if cell.id not in {power.cell for power in found}]
    if missing and found:
        lines.append(f"  unknown: {', '.join(missing)}, as that run had no such cells")
    return "\n".join([*lines, *plan_advice(scenario, spreads)])


def plan_advice(scenario: Scenario, spreads: PairVariance) -> list[str]:
    """How long a plan for 5 % takes, and a warning where blocks are short, in lines for `specbench plan`."""
    return [_sharper(scenario, power_of(scenario, spreads)), *_short_blocks(scenario, spreads)]


def _power(scenario: Scenario, key: Key, spreads: PairVariance, rule: Guardrail | None, tests: int) -> Power:
    cell, metric = key
    pairs, alpha, spread = scenario.matrix.pairs, scenario.alpha, spreads.of[key]
    start = start_effect(scenario) if METRICS[metric].is_measured else None
    se, df = with_starts(spread**2 / pairs, pairs - 1, start)
    allowed = None if rule is None or rule.margin is None else max(rule.margin, _floor_of(rule, spreads.values.get(key)))
    limit = 0.0 if allowed is None or allowed >= 1 else _log_of(metric, allowed)
    proven = max(detectable_effect(se, df, alpha / tests), limit + detectable_effect(se, df, alpha))
    return Power(
        cell=cell,
        metric=metric,
        detects=_change(metric, detectable_effect(se, df, alpha)),
        proves=_change(metric, proven if allowed is not None else detectable_effect(se, df, alpha / tests)),
        floor=_change(metric, spreads.offsets.get(key, 0.0) + t_quantile(1 - alpha, df) * se),
        allowed=allowed,
        pairs_for_5=pairs_needed(_log_of(metric, SHARP), spread, 1, alpha, start),
    )


def _floor_of(rule: Guardrail, value: float | None) -> float:
    return rule.floor / value if value else 0.0


def _change(metric: str, harm: float) -> float:
    """The change, as a fraction, that is this much harm on the log scale."""
    return 1 - exp(-harm) if METRICS[metric].direction == "higher" else exp(harm) - 1


def _log_of(metric: str, change: float) -> float:
    return -log(1 - change) if METRICS[metric].direction == "higher" else log(1 + change)


def _sharper(scenario: Scenario, found: Sequence[Power]) -> str:
    """How long a plan takes that finds 5 % everywhere."""
    if not found:
        return "  the variance of these cells is unknown: run a pilot"
    worst = max(found, key=lambda power: power.pairs_for_5 or BUDGET_PAIRS + 1)
    if worst.pairs_for_5 is None:
        longer = "Lengthen blocks" if start_effect(scenario) is None else "Lengthen blocks, or use schedule: restart"
        return f"  5 % everywhere needs more than {BUDGET_PAIRS} pairs ({worst.metric}, {worst.cell}). {longer}"
    least, _ = duration_s(scenario, trials_of(scenario, cells_of(scenario)))
    hours = least * worst.pairs_for_5 / scenario.matrix.pairs / 3600
    return f"  5 % everywhere needs {worst.pairs_for_5} pairs, {hours:.1f} h or more ({worst.metric}, {worst.cell})"


def _short_blocks(scenario: Scenario, spreads: PairVariance) -> list[str]:
    """A warning where blocks hold fewer engine steps than intervals of token-level percentiles need."""
    told = [value for (_, metric), value in spreads.values.items() if metric == "step_time"]
    step_ms = max(told, default=USUAL_STEP_MS)
    steps = scenario.matrix.block.min_s * MS_PER_S / step_ms
    if steps >= LEAST_STEPS:
        return []
    source = "measured" if told else "assumed"
    return [
        f"  blocks hold about {steps:.0f} engine steps ({step_ms:.0f} ms each, {source}): near stalls the",
        f"  intervals of ITL's p95 hold from about {LEAST_STEPS} on (docs/calibration.md)",
    ]


def _deciding(scenario: Scenario) -> list[Guardrail]:
    return [
        rule
        for rule in scenario.guardrails
        if rule.required and rule.role == "guardrail" and rule.margin is not None and rule.slo is None and _is_paired(rule.metric)
    ]


def _metrics(scenario: Scenario) -> list[str]:
    wanted = dict.fromkeys([scenario.success.metric, *(rule.metric for rule in _deciding(scenario))])
    return [metric for metric in wanted if _is_paired(metric)]


def _is_paired(metric: str) -> bool:
    """Whether log ratios of pairs judge it; shares and counts are judged by their values, whose margins are no ratios."""
    return metric in METRICS and METRICS[metric].method in ("pairs", "prompts", "pooled")


def _required(scenario: Scenario) -> list[Cell]:
    """The cells that take part in the verdict; the primary one always does."""
    return [cell for cell in cells_of(scenario) if cell.required or scenario.matrix.primary in (cell.concurrency, cell.rate)]
