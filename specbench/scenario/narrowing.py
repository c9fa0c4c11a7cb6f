"""The same scenario up to a load: what `--up-to` and `--rate-up-to` ask for. Pure.

A run that confirms a cap tests the loads below it alone. It is the frozen scenario that is narrowed, since whatever else names a
level (`optional`, `traffic_share`, `cells` of guardrails) would have to be changed with `matrix` by hand.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from specbench.errors import ScenarioError
from specbench.model.asked import Guardrail, Scenario
from specbench.model.guardrails import RUN_WIDE

Level = TypeVar("Level", int, float)


def narrowed(scenario: Scenario, up_to: float | None, rate_up_to: float | None) -> Scenario:
    """The scenario with the levels of concurrency, and the rates, that lie no higher; None leaves them as they are.

    Guardrails stay as they were asked, so that runs cited for the places still match. But a run-wide one that is asked of no
    level any more has nothing to count, and goes.

    Raises:
        ScenarioError: No level is left, or the primary one lies above.
    """
    if up_to is None and rate_up_to is None:
        return scenario
    matrix = scenario.matrix
    concurrency = _kept(matrix.concurrency, up_to, f"{scenario.path}: --up-to", "matrix.concurrency")
    rate = _kept(matrix.rate, rate_up_to, f"{scenario.path}: --rate-up-to", "matrix.rate")
    levels = {*map(float, concurrency), *rate}
    if matrix.primary not in levels:
        flag = (
            f"--up-to {up_to:g}" if matrix.primary in matrix.concurrency and up_to is not None else f"--rate-up-to {rate_up_to:g}"
        )
        raise ScenarioError(
            f"{scenario.path}: {flag}: the primary level {matrix.primary:g}, which must show the gain, lies above"
        )
    return replace(
        scenario,
        matrix=replace(
            matrix,
            concurrency=concurrency,
            rate=rate,
            optional=tuple(level for level in matrix.optional if level in levels),
            traffic_share={level: share for level, share in matrix.traffic_share.items() if level in levels},
        ),
        guardrails=tuple(rule for rule in scenario.guardrails if rule.metric not in RUN_WIDE or _asked(rule, levels)),
    )


def _kept(levels: Sequence[Level], most: float | None, flag: str, key: str) -> tuple[Level, ...]:
    kept = tuple(level for level in levels if most is None or level <= most)
    if most is not None and not kept:
        named = ", ".join(f"{level:g}" for level in levels) or "none"
        raise ScenarioError(f"{flag} {most:g}: no level of {key} is that low; there are: {named}")
    return kept


def _asked(rule: Guardrail, levels: set[float]) -> bool:
    return rule.cells is None or any(level in levels for level in rule.cells)
